/**
 * Makes partitions by day ahead of the day: each hour it is asked which of the coming ones are missing, and any node
 * makes them, one at a time among all. An insert needs none of it: a row whose day was not made lies in the rest, and
 * then that day stays there. Started and closed by `src/control/ground.ts`. `docs/decisions/partitions.md` says why.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Database, Queryable } from './database.ts';
import { createSweeper, type Sweeper } from './sweeper.ts';

/** By the id of the call that a row is of. */
export const DAY_TABLES = ['call_turns', 'call_events'] as const;
/** Beyond today, whose partition was made before. */
const DAYS_AHEAD = 7;
const EVERY_MS = 3_600_000;
/** Who works with the rest of a table is not held up for longer; the next hour tries again. */
const LOCK_LIMIT_MS = 500;
/** One of these at a time among all nodes: making days, taking them out, dropping them. */
const DAYS_LOCK = 'parley.days';

/** A lock was not had in time; a deadlock; a row of the day came into the rest meanwhile. */
const GIVES_WAY: readonly unknown[] = ['55P03', '40P01', '23514'];

export interface DaysMade {
  /** Names of tables and days, like `call_turns 2026-11-27`. */
  made: string[];
  /** Rows of these came before them: the rest has the day. */
  late: string[];
  /** These have to be tried again. */
  left: string[];
}

/** Whoever starts it closes it before the database. */
export function startDayMaker(deps: {
  database: Database;
  clock: Clock;
  log: Logger;
}): Pick<Sweeper, 'idle' | 'close'> {
  const { database, clock, log } = deps;
  const told = new Set<string>();
  const hourly = createSweeper({
    clock,
    everyMs: EVERY_MS,
    async sweep() {
      const { made, late, left } = await makeDays(database, clock.epochMs());
      if (made.length > 0) log.info({ made }, 'partitions of coming days were made');
      if (left.length > 0) log.info({ left }, 'partitions of coming days wait: their table is in use');
      const news = late.filter((day) => !told.has(day));
      if (news.length > 0) log.warn({ late: news }, 'calls of these days came before their partitions, and have none');
      for (const day of news) told.add(day);
    },
    failed: (err) => log.warn({ err }, 'partitions of coming days could not be made; the next hour tries again'),
  });
  hourly.start();
  return hourly;
}

/** Today's, if it is missing, and those of the days ahead. */
export async function makeDays(database: Database, nowEpochMs: number): Promise<DaysMade> {
  const done: DaysMade = { made: [], late: [], left: [] };
  const missing = await database.query<{ parent: string; day: string }>(MISSING, [
    DAY_TABLES,
    new Date(nowEpochMs),
    DAYS_AHEAD,
  ]);
  const busy = new Set<string>();
  for (const { parent, day } of missing) {
    const name = `${parent} ${day}`;
    if (busy.has(parent)) {
      done.left.push(name);
      continue;
    }
    const outcome = await alone(database, LOCK_LIMIT_MS, async (tx) => {
      const [row] = await tx.query<{ made: string }>('SELECT make_day($1, $2::date) AS made', [parent, day]);
      return row!.made;
    });
    if (outcome === 'made') done.made.push(name);
    if (outcome === 'late') done.late.push(name);
    if (outcome === 'gave_way') {
      done.left.push(name);
      busy.add(parent);
    }
  }
  return done;
}

const MISSING = `
  SELECT asked.parent, to_char(day, 'YYYY-MM-DD') AS day
    FROM generate_series($2::timestamptz AT TIME ZONE 'UTC', $2::timestamptz AT TIME ZONE 'UTC' + make_interval(days => $3), '1 day') AS day
   CROSS JOIN unnest($1::text[]) AS asked (parent)
   WHERE NOT EXISTS (SELECT 1 FROM day_partitions d WHERE d.parent = asked.parent AND d.to_id > first_id_of_day(day::date)
                        AND (d.from_id IS NULL OR d.from_id <= first_id_of_day(day::date)))
   ORDER BY day, asked.parent`;

/**
 * A change of partitions, in a transaction of its own: `gave_way` when another node is at one, or when a table is in
 * use. Nothing was changed then.
 */
export async function alone<Result>(
  database: Database,
  lockLimitMs: number,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result | 'gave_way'> {
  try {
    return await database.transaction(async (tx) => {
      const [row] = await tx.query<{ isMine: boolean }>(
        `SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS "isMine", set_config('lock_timeout', $2, true)`,
        [DAYS_LOCK, `${lockLimitMs}ms`],
      );
      return row!.isMine ? await work(tx) : 'gave_way';
    });
  } catch (error) {
    if (GIVES_WAY.includes((error as { code?: unknown }).code)) return 'gave_way';
    throw error;
  }
}
