/**
 * What attempts say of a receiver, in its endpoint's row: since when it fails, how often, and when that is too much
 * (contract §6). Called by the delivery store inside the transaction that notes an attempt.
 */
import type { Queryable } from '../store/database.ts';
import type { DisabledReason } from './endpoint.ts';

/** Both must be reached: a receiver with little traffic gets its five days, one with much is not cut off by a bad minute. */
const FAILING_FOR_DAYS = 5;
const FAILURES = 100;

/** The endpoint as the attempt was made to it: another URL that was set meanwhile is not judged by it. */
interface Attempted {
  endpointId: string;
  url: string;
}

export async function noteSuccess(tx: Queryable, attempted: Attempted, now: Date): Promise<void> {
  await tx.query(
    `UPDATE webhook_endpoints SET last_success_at = $3, failing_since = NULL, failures_since_success = 0
     WHERE id = $1 AND url = $2`,
    [attempted.endpointId, attempted.url, now],
  );
}

/** `isGone`: it answered 410. Returns why the URL was switched off, when it was by this failure. */
export async function noteFailure(
  tx: Queryable,
  attempted: Attempted,
  { isGone, now }: { isGone: boolean; now: Date },
): Promise<DisabledReason | null> {
  const [row] = await tx.query<{ disabledAt: Date | null; failures: number; failingSince: Date }>(
    `UPDATE webhook_endpoints SET failures_since_success = failures_since_success + 1,
       failing_since = coalesce(failing_since, $3)
     WHERE id = $1 AND url = $2
     RETURNING disabled_at AS "disabledAt", failures_since_success AS failures, failing_since AS "failingSince"`,
    [attempted.endpointId, attempted.url, now],
  );
  if (row === undefined || row.disabledAt !== null) return null;
  const failingForMs = now.getTime() - row.failingSince.getTime();
  const isFailing = row.failures >= FAILURES && failingForMs >= FAILING_FOR_DAYS * 24 * 3_600_000;
  const reason: DisabledReason | null = isGone ? 'gone' : isFailing ? 'failing' : null;
  if (reason === null) return null;
  const sql = 'UPDATE webhook_endpoints SET disabled_at = $2, disabled_reason = $3 WHERE id = $1';
  await tx.query(sql, [attempted.endpointId, now, reason]);
  return reason;
}
