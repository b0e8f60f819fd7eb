/**
 * Takes a call from a media process that nobody hears: its carrier is told to leave the stream and to ask again, and
 * whoever answers gives the call to a process that lives. Not every carrier can; then, and for web sessions, the call
 * comes back by itself or not at all. Used by the reaper, and for processes that stay silent.
 */
import { ACTIVE } from '../calls/active-statuses.ts';
import { type CallRow, SELECT_CALL } from '../calls/call-row.ts';
import { callbackBaseOf, nextAddressOf } from '../carriers/callback-address.ts';
import type { Database } from '../store/database.ts';
import type { LineCarriers } from './line-carriers.ts';

export interface RedirectDeps {
  lineCarriers: LineCarriers;
  publicUrl: string;
}

/** False: it cannot be, or the carrier was not reached. */
export async function redirectCall({ lineCarriers, publicUrl }: RedirectDeps, call: CallRow): Promise<boolean> {
  const { carrierCallId, carrier: name, callUuid } = call;
  const carrier = await lineCarriers.of(call);
  if (carrierCallId === null || carrier.redirect === undefined) return false;
  return carrier.redirect(carrierCallId, nextAddressOf(callbackBaseOf(publicUrl, name, callUuid)));
}

/**
 * The calls of a run, one after the other; how many the carrier has taken away. Those that fail stay where they are.
 */
export async function redirectCallsOf(deps: RedirectDeps & { database: Database }, runId: string): Promise<number> {
  const calls = await deps.database.query<CallRow>(
    `${SELECT_CALL} WHERE c.status IN ${ACTIVE} AND c.owner_run = $1 AND c.channel = 'phone' AND c.status = 'in_progress'
        AND c.lease_until IS NULL AND c.media_stopped_at IS NULL AND c.ending IS NULL AND c.carrier_ended_at IS NULL`,
    [runId],
  );
  let redirected = 0;
  for (const call of calls) if (await redirectCall(deps, call).catch(() => false)) redirected++;
  return redirected;
}
