/**
 * Requests for a call that made none: counted in memory, stored every few seconds by a quarter of an hour and code, so
 * that a rush of them costs one statement. Told by the API's placing operations; read for the overview. What a process
 * that dies had not stored is not counted.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Queryable } from '../store/database.ts';
import { createSweeper } from '../store/sweeper.ts';

export interface RefusalCount {
  code: string;
  count: number;
  since: Date;
  last: Date;
}

export interface CallRefusals {
  note(workspaceId: string, code: string): void;
  start(): void;
  /** Stores what is counted, then stops. */
  close(): Promise<void>;
}

interface Counted {
  workspaceId: string;
  quarterMs: number;
  code: string;
  count: number;
  firstMs: number;
  lastMs: number;
}

const STORE_EVERY_MS = 5_000;
const QUARTER_MS = 900_000;
const KEPT = `interval '40 days'`;

export function createCallRefusals(deps: {
  database: Queryable;
  clock: Pick<Clock, 'after' | 'nowMs' | 'epochMs'>;
  log: Logger;
}): CallRefusals {
  const { database, clock, log } = deps;
  let counted = new Map<string, Counted>();

  async function store(): Promise<void> {
    const rows = [...counted.values()];
    counted = new Map();
    if (rows.length === 0) return;
    await database.query(
      `INSERT INTO call_refusals AS r (workspace_id, quarter, code, count, first_at, last_at)
       SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::int[], $5::timestamptz[], $6::timestamptz[])
       ON CONFLICT (workspace_id, quarter, code) DO UPDATE SET count = r.count + EXCLUDED.count,
         first_at = least(r.first_at, EXCLUDED.first_at), last_at = greatest(r.last_at, EXCLUDED.last_at)`,
      [
        rows.map((row) => row.workspaceId),
        rows.map((row) => new Date(row.quarterMs)),
        rows.map((row) => row.code),
        rows.map((row) => row.count),
        rows.map((row) => new Date(row.firstMs)),
        rows.map((row) => new Date(row.lastMs)),
      ],
    );
  }
  const failed = (err: unknown): void => log.warn({ err }, 'refused calls could not be counted');
  const sweeper = createSweeper({ clock, everyMs: STORE_EVERY_MS, sweep: store, failed });
  return {
    note(workspaceId, code) {
      const nowMs = clock.epochMs();
      const quarterMs = Math.floor(nowMs / QUARTER_MS) * QUARTER_MS;
      const name = `${workspaceId} ${quarterMs} ${code}`;
      const known = counted.get(name);
      if (known === undefined)
        counted.set(name, { workspaceId, quarterMs, code, count: 1, firstMs: nowMs, lastMs: nowMs });
      else Object.assign(known, { count: known.count + 1, lastMs: nowMs });
    },
    start: () => sweeper.start(STORE_EVERY_MS),
    async close() {
      await sweeper.close();
      await store().catch(failed);
    },
  };
}

/** Of the time from `from` on, before `until`; the most frequent first. */
export function readCallRefusals(
  database: Queryable,
  of: { workspaceId: string; from: Date; until: Date },
): Promise<RefusalCount[]> {
  return database.query<RefusalCount>(
    `SELECT code, sum(count)::int AS count, min(first_at) AS since, max(last_at) AS last FROM call_refusals
     WHERE workspace_id = $1 AND quarter >= $2 AND quarter < $3 GROUP BY code ORDER BY sum(count) DESC, code`,
    [of.workspaceId, of.from, of.until],
  );
}

export async function purgeCallRefusals(database: Queryable): Promise<void> {
  await database.query(`DELETE FROM call_refusals WHERE quarter < now() - ${KEPT}`);
}
