/**
 * The limits of embed sessions (contract §11), on the same stores as all others. A token costs rates alone: 10 a minute
 * per address, 60 a minute per public key. A session takes its place when its socket is claimed: 5 at once per address,
 * and of the workspace's web sessions and calls, never those that are kept for the phone. `control.ts` makes it;
 * `src/embed/` asks it.
 *
 *   POST    const asked = await embedLimits.ask(request)            request = { address, publicKey, workspaceId }
 *   socket  const taken = await embedLimits.take(session)           session = request with the callUuid
 *   row     if (!(await keepPromise(tx, callUuid))) …no row: it came too late; `slot-admission.ts`, in the
 *           row's transaction
 *   open    await embedLimits.renew(session), at once, and each 20 s while the socket lives
 *   end     await embedLimits.release(session)
 *
 * From the row on, the workspace's slots are held by the row and end with it; the address's slot is held by renewing.
 * What nobody renews ends by itself within 90 s.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { Queryable } from '../store/database.ts';
import { perMinute, type RateAsk, rateAsk, retryAfterUs } from './gcra.ts';
import { rateNames, slotNames } from './limit-names.ts';
import type { Hold, SlotAsk } from './limit-store.ts';
import { KEPT_FOR_PHONE } from './phone-share.ts';
import { wholeSeconds } from './rate-limit.ts';
import { createRemainingTimes } from './remaining-time.ts';
import { admitToSlots, type LimitStores, PROMISE_MS } from './slot-admission.ts';

export interface EmbedRequest {
  /** The client's, as the last trusted proxy saw it. */
  address: string;
  publicKey: string;
  workspaceId: string;
}

export interface EmbedSession extends EmbedRequest {
  /** Of the session's call; a UUID that is new for each. */
  callUuid: string;
}

export type EmbedAnswer =
  | { ok: true }
  | {
      ok: false;
      code: 'embed_rate_limit' | 'concurrency_limit';
      retryAfterSeconds: number;
      /** RateLimit-Policy and RateLimit. */
      headers: Record<string, string>;
    };

export interface EmbedLimits {
  /** For a token. Takes of the rates; whether there is a place for a session is only looked at. */
  ask(request: EmbedRequest): Promise<EmbedAnswer>;
  /** For a socket. The slots are promised for 15 s: the row must have come by then. */
  take(session: EmbedSession): Promise<EmbedAnswer>;
  renew(session: EmbedSession): Promise<void>;
  release(session: EmbedSession): Promise<void>;
}

const PER_ADDRESS = 10;
const PER_KEY = 60;
const AT_ONCE_PER_ADDRESS = 5;
/** Its socket says that it lives each 20 s. */
const EMBED_SLOT_MS = 90_000;

export function createEmbedLimits(
  deps: LimitStores & { database: Queryable; clock: Pick<Clock, 'nowMs'> },
): EmbedLimits {
  const remainingTimes = createRemainingTimes(deps);
  const addressHold = ({ address, callUuid }: EmbedSession): Hold => ({
    holder: callUuid,
    names: [slotNames.embedAddress(address)],
  });
  return {
    async ask(request) {
      const { address, publicKey } = request;
      const rates = [
        rateAsk(rateNames.embedAddress(address), perMinute(PER_ADDRESS)),
        rateAsk(rateNames.embedKey(publicKey), perMinute(PER_KEY)),
      ];
      const answer = await deps.store.admit({ rates, slots: [], holder: '', ttlMs: 0 });
      if (!answer.ok) return tooFast(rates[answer.index]!, answer.tatsUs[answer.index] ?? 0);
      const slots = await slotsOf(request);
      const inUse = await deps.store.inUse(slots.map(({ name }) => name));
      const full = slots.find(({ limit }, index) => inUse[index]! >= limit);
      return full === undefined ? { ok: true } : tooMany(request.workspaceId, full.limit);
    },
    async take(session) {
      const slots = await slotsOf(session);
      const answer = await admitToSlots(deps, { rates: [], slots, holder: session.callUuid }, PROMISE_MS);
      return answer.ok ? { ok: true } : tooMany(session.workspaceId, slots[answer.index]!.limit);
    },
    renew: (session) => deps.store.renew([addressHold(session)], EMBED_SLOT_MS),
    // The workspace's slots ended with the row.
    release: (session) => deps.store.release(addressHold(session)),
  };

  async function slotsOf({ address, workspaceId }: EmbedRequest): Promise<SlotAsk[]> {
    const { webSessions, calls } = await readShares(deps.database, workspaceId);
    return [
      { name: slotNames.embedAddress(address), limit: AT_ONCE_PER_ADDRESS },
      { name: slotNames.webSessions(workspaceId), limit: webSessions },
      { name: slotNames.workspaceCalls(workspaceId), limit: calls },
    ];
  }

  async function tooMany(workspaceId: string, limit: number): Promise<EmbedAnswer> {
    const retryAfterSeconds = await remainingTimes.medianSeconds(workspaceId);
    const headers = {
      'ratelimit-policy': `"concurrent";q=${limit}`,
      ratelimit: `"concurrent";r=0;t=${retryAfterSeconds}`,
    };
    return { ok: false, code: 'concurrency_limit', retryAfterSeconds, headers };
  }
}

function tooFast(ask: RateAsk, tatUs: number): EmbedAnswer {
  const retryAfterSeconds = wholeSeconds(retryAfterUs(ask, tatUs));
  const quota = Math.floor(ask.toleranceUs / ask.periodUs) + 1;
  return {
    ok: false,
    code: 'embed_rate_limit',
    retryAfterSeconds,
    headers: { 'ratelimit-policy': `"embed";q=${quota};w=60`, ratelimit: `"embed";r=0;t=${retryAfterSeconds}` },
  };
}

async function readShares(database: Queryable, workspaceId: string): Promise<{ webSessions: number; calls: number }> {
  const [row] = await database.query<{ webSessions: number; calls: number }>(
    `SELECT least(max_web_sessions, greatest(0, max_concurrent_calls - ${KEPT_FOR_PHONE})) AS "webSessions",
            max_concurrent_calls AS calls
     FROM workspaces WHERE id = $1`,
    [workspaceId],
  );
  if (row === undefined) throw new Error(`There is no workspace ${workspaceId}.`);
  return row;
}
