/**
 * Makes partitions by day ahead of the day: each hour it is asked which of the coming ones are missing, and any node
 * makes them, one at a time among all. An insert needs none of it: a row whose day was not made lies in the rest, and
 * where there are many of a day, that day stays there. Started and closed by `src/control/ground.ts`.
 * `docs/decisions/partitions.md` says why.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Database, Queryable } from './database.ts';
import { PLAN_EACH_TIME } from './statements.ts';
import { createSweeper, type Sweeper } from './sweeper.ts';

/** By the id of the call that a row is of. */
export const DAY_TABLES = ['call_turns', 'call_events'] as const;
/** Beyond today, whose partition was made before. */
const DAYS_AHEAD = 7;
const EVERY_MS = 3_600_000;
/** Who works with the rest of a table is not held up for longer; the next hour tries again. */
const LOCK_LIMIT_MS = 500;
/** What holds a lock for longer is broken off. */
const STATEMENT_LIMIT_MS = 1_000;
/** So is who stands still between two statements: the whole may be locked until the commit. */
const PAUSE_LIMIT_MS = 2_000;
/** A rest with rows in it is read beside running writes before a day is attached, unless the day begins so soon. */
const SOON_MS = 7_200_000;
/** One of these at a time among all nodes: making days, dropping them. */
const DAYS_LOCK = 'parley.days';

/** A lock was not had in time; a deadlock; a statement was broken off by its limit. */
const GIVES_WAY: readonly unknown[] = ['55P03', '40P01', '57014'];
/** The rest has rows of the day. */
const CHECK_VIOLATION = '23514';

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
  await takeBackWords(database);
  const missing = await database.query<{ parent: string; day: string }>(MISSING, [
    DAY_TABLES,
    new Date(nowEpochMs),
    DAYS_AHEAD,
  ]);
  const busy = new Set<string>();
  for (const one of missing) {
    const name = `${one.parent} ${one.day}`;
    const outcome = busy.has(one.parent) ? 'gave_way' : await makeDay(database, one, nowEpochMs);
    if (outcome === 'made') done.made.push(name);
    if (outcome === 'late') done.late.push(name);
    if (outcome === 'gave_way') {
      done.left.push(name);
      busy.add(one.parent);
    }
  }
  return done;
}

/** `there`: another node was faster. */
type Outcome = 'made' | 'there' | 'late' | 'gave_way';

interface Missing {
  parent: string;
  /** Like `2026-11-27`, of UTC. */
  day: string;
}

async function makeDay(database: Database, missing: Missing, nowEpochMs: number): Promise<Outcome> {
  const { parent, day } = missing;
  const used = await database.query(`${PLAN_EACH_TIME} SELECT 1 AS one FROM ${parent}_rest ORDER BY call_uuid LIMIT 1`);
  const isRead = used.length > 0 && Date.parse(day) - nowEpochMs > SOON_MS;
  if (isRead && (await readRest(database, missing)) === 'gave_way') return 'gave_way';
  const outcome = await alone(database, LOCK_LIMIT_MS, async (tx) => {
    const [row] = await tx.query<{ made: Outcome }>('SELECT make_day($1, $2::date) AS made', [parent, day]);
    return row!.made;
  });
  // With the day it was taken back.
  if (isRead && outcome !== 'made') await takeBackWords(database);
  return outcome;
}

/**
 * Beside running writes, so that it need not be read under a lock that they wait for. Where it has rows of the day
 * nothing is won: then they are few, and moved, or the day is late.
 */
async function readRest(database: Database, { parent, day }: Missing): Promise<'gave_way' | 'read'> {
  const step = 'SELECT rest_without($1, $2::date, $3)';
  const isSaid = await alone(database, LOCK_LIMIT_MS, (tx) => tx.query(step, [parent, day, 'refuse']));
  if (isSaid === 'gave_way') return isSaid;
  try {
    await database.query(step, [parent, day, 'check']);
    return 'read';
  } catch (error) {
    await takeBackWords(database);
    const { code } = error as { code?: unknown };
    if (code === CHECK_VIOLATION) return 'read';
    if (GIVES_WAY.includes(code)) return 'gave_way';
    throw error;
  }
}

/** A process that ended between has left the rest without a day that it may need: the first thing that is mended. */
async function takeBackWords(database: Database): Promise<void> {
  for (const { parent, day } of await database.query<Missing>(SAID, [DAY_TABLES])) {
    const take = (tx: Queryable) => tx.query(`SELECT rest_without($1, $2::date, 'allow')`, [parent, day]);
    await alone(database, LOCK_LIMIT_MS, take);
  }
}

/** What the rests say that they have no rows of. */
const SAID = `
  SELECT parent, substring(c.conname FROM 9) AS day FROM unnest($1::text[]) AS parent
    JOIN pg_constraint c ON c.conrelid = to_regclass(parent || '_rest') AND c.conname ~ '^without_[0-9]{8}$'`;

const MISSING = `
  SELECT asked.parent, to_char(day, 'YYYY-MM-DD') AS day
    FROM generate_series($2::timestamptz AT TIME ZONE 'UTC', $2::timestamptz AT TIME ZONE 'UTC' + make_interval(days => $3), '1 day') AS day
   CROSS JOIN unnest($1::text[]) AS asked (parent)
   WHERE NOT EXISTS (SELECT 1 FROM day_partitions d WHERE d.parent = asked.parent AND d.to_id > first_id_of_day(day::date)
                        AND (d.from_id IS NULL OR d.from_id <= first_id_of_day(day::date)))
   ORDER BY day, asked.parent`;

/**
 * A change of partitions, in a transaction of its own: `gave_way` when another node is at one, when a table is in use,
 * or when it takes so long that others would wait. Nothing was changed then.
 */
export async function alone<Result>(
  database: Database,
  lockLimitMs: number,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result | 'gave_way'> {
  try {
    return await database.transaction(async (tx) => {
      const [row] = await tx.query<{ isMine: boolean }>(
        `SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS "isMine", set_config('lock_timeout', $2, true),
                set_config('statement_timeout', $3, true), set_config('idle_in_transaction_session_timeout', $4, true)`,
        [DAYS_LOCK, `${lockLimitMs}ms`, `${STATEMENT_LIMIT_MS}ms`, `${PAUSE_LIMIT_MS}ms`],
      );
      return row!.isMine ? await work(tx) : 'gave_way';
    });
  } catch (error) {
    if (GIVES_WAY.includes((error as { code?: unknown }).code)) return 'gave_way';
    throw error;
  }
}
