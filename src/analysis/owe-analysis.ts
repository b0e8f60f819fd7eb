/**
 * An answered call is over, and its `analysis.completed` is owed: the row that says so, in the transaction that ends
 * the call. Called by `src/lifecycle/transition.ts` alone; `analysis-jobs.ts` works the rows off.
 */
import type { CallRow } from '../calls/call-row.ts';
import type { Write } from '../store/joint-write.ts';

/**
 * From here on, after the end, the job is anybody's, whatever is claimed. The event has to be
 * out within 120 s (contract §6).
 */
export const GIVE_UP_MS = 95_000;
/** Without media's last word some turns may still be on their way. */
const LATE_TURNS_MS = 3_000;

export function owedAnalysis(call: CallRow, nowEpochMs: number): Write {
  const dueEpochMs = nowEpochMs + (call.mediaStoppedAt === null ? LATE_TURNS_MS : 0);
  const values = [call.callUuid, call.workspaceId, new Date(dueEpochMs), new Date(nowEpochMs + GIVE_UP_MS)];
  return {
    sql: (place) =>
      `INSERT INTO analysis_jobs (call_uuid, workspace_id, due_at, give_up_at)
       VALUES (${values.map(place).join(', ')}) ON CONFLICT DO NOTHING`,
  };
}
