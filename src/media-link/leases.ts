/**
 * Who owns a call, as the database knows it. A media process names its active calls each second and so keeps them; what
 * it does not name runs out, and the reaper asks the carrier. Called for `load` and `hello` messages, where there is
 * something to write (`lease-book.ts`).
 */
import type { Clock } from '../../media/contract/clock.ts';
import { LEASE_MS, MAX_DURATION_GRACE_MS } from '../calls/timers.ts';
import type { Database } from '../store/database.ts';

/** A claim that is younger than this may be missing in what a process says of itself. */
const FRESH_CLAIM_MS = 5_000;

export interface NamedCall {
  callUuid: string;
  epoch: number;
}

/**
 * `nowEpochMs`: from which they last `LEASE_MS`. What another has claimed meanwhile is left alone. Where the lease was
 * the next thing to look at, it still is, or the longest talk: so the reaper need not look at a call that is well.
 */
export async function renewLeases(
  database: Database,
  mediaId: string,
  calls: readonly NamedCall[],
  nowEpochMs: number,
): Promise<void> {
  const until = new Date(nowEpochMs + LEASE_MS);
  await database.query(
    `UPDATE calls c SET lease_until = $4, deadline_at = CASE WHEN c.deadline_at = c.lease_until
         THEN least($4, c.answered_at + make_interval(secs => c.max_duration_seconds + $5)) ELSE c.deadline_at END
       FROM unnest($1::uuid[], $2::int[]) AS named (call_uuid, epoch)
      WHERE c.call_uuid = named.call_uuid AND c.epoch = named.epoch AND c.owner_media_id = $3
        AND c.status = 'in_progress' AND c.lease_until < $4`,
    [calls.map((call) => call.callUuid), calls.map((call) => call.epoch), mediaId, until, MAX_DURATION_GRACE_MS / 1000],
  );
}

/**
 * Ends these leases at once: the process that held them is gone. A call that was claimed again since has another epoch.
 */
export async function releaseLeases(
  database: Database,
  clock: Clock,
  mediaId: string,
  calls: readonly NamedCall[],
): Promise<void> {
  await database.query(
    `UPDATE calls c SET lease_until = $4, deadline_at = $4
       FROM unnest($1::uuid[], $2::int[]) AS named (call_uuid, epoch)
      WHERE c.call_uuid = named.call_uuid AND c.epoch = named.epoch AND c.owner_media_id = $3
        AND c.status = 'in_progress' AND c.media_stopped_at IS NULL AND c.lease_until > $4`,
    [calls.map((call) => call.callUuid), calls.map((call) => call.epoch), mediaId, new Date(clock.epochMs())],
  );
}

/** Ends the leases of a process's calls other than these: the run that carried them is dead. */
export async function orphanOthers(
  database: Database,
  clock: Clock,
  mediaId: string,
  callUuids: readonly string[],
): Promise<void> {
  const nowEpochMs = clock.epochMs();
  await database.query(
    `UPDATE calls SET lease_until = $3, deadline_at = $3
      WHERE owner_media_id = $1 AND status = 'in_progress' AND media_stopped_at IS NULL
        AND NOT (call_uuid = ANY ($2::uuid[])) AND lease_until > $3 AND lease_until < $4`,
    [mediaId, callUuids, new Date(nowEpochMs), new Date(nowEpochMs + LEASE_MS - FRESH_CLAIM_MS)],
  );
}
