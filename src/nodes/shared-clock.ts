/**
 * Control's clock, whose wall time is the database's where the machine's is another: timers in rows (`deadline_at`),
 * tokens and times of the log are made by one node and judged by the next, so that machines 30 s apart would end each
 * other's calls early, or late. Monotonic time is the machine's own. Made by `src/control/control.ts`, told by each
 * beat (`run-keeper.ts`); media processes go by their machine's (`src/media-link/machine-time.ts`).
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { Queryable } from '../store/database.ts';

export interface SharedClock extends Clock {
  /** By how much the cluster's wall time is ahead of this machine's; 0 while they agree within a second. */
  aheadMs(): number;
  /** What the database's clock said to who asked at `askedAtMs` of `nowMs`, and hears it now. */
  heard(databaseEpochMs: number, askedAtMs: number): void;
  /** Asks it once. Rejects as the database does when it is away. */
  ask(database: Queryable): Promise<void>;
}

/** Less is what time services correct all day, and what an answer may take. */
const SAME_MS = 1_000;
export const DATABASE_EPOCH_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::float8';

export function createSharedClock(machine: Clock): SharedClock {
  let aheadMs = 0;

  function heard(databaseEpochMs: number, askedAtMs: number): void {
    const tookMs = machine.nowMs() - askedAtMs;
    const measuredMs = databaseEpochMs - (machine.epochMs() - tookMs / 2);
    if (Math.abs(measuredMs - aheadMs) <= SAME_MS + tookMs) return;
    aheadMs = Math.abs(measuredMs) <= SAME_MS ? 0 : measuredMs;
  }

  return {
    nowMs: () => machine.nowMs(),
    epochMs: () => machine.epochMs() + aheadMs,
    after: (afterMs, run) => machine.after(afterMs, run),
    aheadMs: () => aheadMs,
    heard,
    async ask(database) {
      const askedAtMs = machine.nowMs();
      const [row] = await database.query<{ epochMs: number }>(`SELECT ${DATABASE_EPOCH_MS} AS "epochMs"`);
      if (row !== undefined) heard(row.epochMs, askedAtMs);
    },
  };
}
