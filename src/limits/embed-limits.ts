/**
 * The limits of embed sessions (contract §11), on the same stores as all others, for `POST /api/embed/session` and the sockets
 * behind it: 10 a minute per address, 60 a minute per public key, 5 at once per address; and web sessions per workspace, which
 * share the workspace's calls but never the share that is reserved for phones. `control.ts` makes it; the routes get it.
 *
 *   POST    const taken = await embedLimits.take(session);          session = { address, publicKey, workspaceId, callUuid }
 *           if (!taken.ok) throw new Refusal(taken.code, { retryAfterSeconds: taken.retryAfterSeconds, headers: taken.headers });
 *   row     if (!(await keepPromise(tx, callUuid))) …no row: the token was not used in time;   `slot-admission.ts`, in the row's transaction
 *   open    await embedLimits.renew(session), each 20 s while the socket lives
 *   end     await embedLimits.release(session)
 *
 * From the row on, the workspace's slots are held by the row and end with it; the address's slot is held by renewing. What
 * nobody renews ends by itself within 90 s.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { Queryable } from '../store/database.ts';
import { perMinute, type RateAsk, rateAsk, retryAfterUs } from './gcra.ts';
import { rateNames, slotNames } from './limit-names.ts';
import type { Hold } from './limit-store.ts';
import { wholeSeconds } from './rate-limit.ts';
import { createRemainingTimes } from './remaining-time.ts';
import { admitToSlots, type LimitStores } from './slot-admission.ts';

export interface EmbedSession {
  /** The client's, as the last trusted proxy saw it. */
  address: string;
  publicKey: string;
  workspaceId: string;
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
  take(session: EmbedSession): Promise<EmbedAnswer>;
  renew(session: EmbedSession): Promise<void>;
  release(session: EmbedSession): Promise<void>;
}

const PER_ADDRESS = 10;
const PER_KEY = 60;
const AT_ONCE_PER_ADDRESS = 5;
/** A token lives 60 s, and its socket says that it lives each 20 s. */
export const EMBED_SLOT_MS = 90_000;

export function createEmbedLimits(
  deps: LimitStores & { database: Queryable; clock: Pick<Clock, 'nowMs'> },
): EmbedLimits {
  const remainingTimes = createRemainingTimes(deps);
  const addressHold = ({ address, callUuid }: EmbedSession): Hold => ({
    holder: callUuid,
    names: [slotNames.embedAddress(address)],
  });
  return {
    async take({ address, publicKey, workspaceId, callUuid }) {
      const workspace = await readShares(deps.database, workspaceId);
      const rates = [
        rateAsk(rateNames.embedAddress(address), perMinute(PER_ADDRESS)),
        rateAsk(rateNames.embedKey(publicKey), perMinute(PER_KEY)),
      ];
      const slots = [
        { name: slotNames.embedAddress(address), limit: AT_ONCE_PER_ADDRESS },
        { name: slotNames.webSessions(workspaceId), limit: workspace.webSessions },
        { name: slotNames.workspaceCalls(workspaceId), limit: workspace.callsForWeb },
      ];
      const answer = await admitToSlots(deps, { rates, slots, holder: callUuid }, EMBED_SLOT_MS);
      if (answer.ok) return { ok: true };
      if (answer.refused === 'rate') return tooFast(rates[answer.index]!, answer.tatsUs[answer.index] ?? 0);
      const retryAfterSeconds = await remainingTimes.medianSeconds(workspaceId);
      const { limit } = slots[answer.index]!;
      const headers = {
        'ratelimit-policy': `"concurrent";q=${limit}`,
        ratelimit: `"concurrent";r=0;t=${retryAfterSeconds}`,
      };
      return { ok: false, code: 'concurrency_limit', retryAfterSeconds, headers };
    },
    renew: (session) => deps.store.renew([addressHold(session)], EMBED_SLOT_MS),
    async release(session) {
      await deps.store.release(addressHold(session));
      const { workspaceId, callUuid } = session;
      // Only a session that never became a row still holds these.
      await deps.store.release({
        holder: callUuid,
        names: [slotNames.webSessions(workspaceId), slotNames.workspaceCalls(workspaceId)],
      });
    },
  };
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

async function readShares(
  database: Queryable,
  workspaceId: string,
): Promise<{ webSessions: number; callsForWeb: number }> {
  const [row] = await database.query<{ webSessions: number; callsForWeb: number }>(
    `SELECT max_web_sessions AS "webSessions", greatest(0, max_concurrent_calls - reserved_phone_calls) AS "callsForWeb"
     FROM workspaces WHERE id = $1`,
    [workspaceId],
  );
  if (row === undefined) throw new Error(`There is no workspace ${workspaceId}.`);
  return row;
}
