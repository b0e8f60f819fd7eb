/**
 * An answered call is over, and its `analysis.completed` is owed: the row that says so, in the transaction that ends
 * the call. Called by `src/lifecycle/transition.ts` alone; `analysis-jobs.ts` works the rows off.
 */
import type { CallRow } from '../calls/call-row.ts';
import type { Queryable } from '../store/database.ts';

/**
 * From here on, after the end, the job is anybody's, whatever is claimed. The event has to be
 * out within 120 s (contract §6).
 */
export const GIVE_UP_MS = 95_000;
/** Without media's last word some turns may still be on their way. */
const LATE_TURNS_MS = 3_000;

export async function oweAnalysis(tx: Queryable, call: CallRow, nowEpochMs: number): Promise<void> {
  const dueEpochMs = nowEpochMs + (call.mediaStoppedAt === null ? LATE_TURNS_MS : 0);
  await tx.query(
    `INSERT INTO analysis_jobs (call_uuid, workspace_id, due_at, give_up_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
    [call.callUuid, call.workspaceId, new Date(dueEpochMs), new Date(nowEpochMs + GIVE_UP_MS)],
  );
}
