/**
 * Makes partitions by day ahead of the day: each hour it is asked which of the coming ones are missing, and any node
 * makes them, one at a time among all. An insert needs none of it: a row whose day was not made lies in the rest, and
 * where there are many of a day, that day stays there. Started and closed by `src/control/ground.ts`.
 * `docs/decisions/partitions.md` says why.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Database } from './database.ts';
import { isServerGone } from './database-away.ts';
import { changeDays, GaveWay, holdDays, readBeside } from './day-changes.ts';
import { DAY_TABLES } from './day-tables.ts';
import { createSweeper, type Sweeper } from './sweeper.ts';

/** Beyond today, whose partition was made before. */
const DAYS_AHEAD = 7;
const EVERY_MS = 3_600_000;
/** What a rest refuses is taken back sooner, and so is what may be left of a look that failed. */
const AGAIN_MS = 60_000;
/** Who works with the rest of a table is not held up for longer; the next hour tries again. */
const LOCK_LIMIT_MS = 500;
/**
 * A rest with rows in it is read beside running writes before a day is attached, and refuses the rows of that day for
 * so long; not where the day begins so soon that its calls could come before that is taken back.
 */
const SOON_MS = 172_800_000;
const STEP = 'SELECT rest_without($1, $2::date, $3)';
/** The rest has rows of the day. */
const CHECK_VIOLATION = '23514';

/** Names of tables and days, like `call_turns 2026-11-27`. */
export interface DaysMade {
  made: string[];
  /** Rows of these came before them: the rest has the day. */
  late: string[];
  /** These have to be tried again. */
  left: string[];
  /** The rest takes no row of these, and that could not be taken back. */
  refused: string[];
  /** Of the last two: the causes, each once. */
  why: string[];
  /** Another node changes days, and nothing was looked at. */
  isElsewhere: boolean;
}

/** Whoever starts it closes it before the database. */
export function startDayMaker(deps: {
  database: Database;
  clock: Clock;
  log: Logger;
}): Pick<Sweeper, 'idle' | 'close'> {
  const { database, clock, log } = deps;
  const told = new Set<string>();
  /** A rest refuses rows, or may do so. */
  let hasRefused = false;
  const ending = new AbortController();
  let forget = (): void => {};

  function lookSoon(): void {
    forget();
    forget = clock.after(AGAIN_MS, () => hourly.nudge());
  }

  async function look(): Promise<void> {
    const { made, late, left, refused, why, isElsewhere } = await makeDays(database, clock.epochMs(), ending.signal);
    if (isElsewhere) {
      if (hasRefused) lookSoon();
      return;
    }
    if (made.length > 0) log.info({ made }, 'partitions of coming days were made');
    if (left.length > 0) log.warn({ left, why }, 'partitions of coming days wait; the next hour tries again');
    const news = late.filter((day) => !told.has(day));
    if (news.length > 0) log.warn({ late: news }, 'calls of these days came before their partitions, and have none');
    for (const day of news) told.add(day);
    hasRefused = refused.length > 0;
    if (!hasRefused) return;
    log.error({ refused, why }, 'calls of these days will fail if their tables stay in use; tried again each minute');
    lookSoon();
  }

  const hourly = createSweeper({
    clock,
    everyMs: EVERY_MS,
    sweep: () =>
      look().catch((error: unknown) => {
        hasRefused = true;
        lookSoon();
        throw error;
      }),
    failed: (err) => log.warn({ err }, 'partitions of coming days could not be made; the next minute tries again'),
  });
  hourly.start();
  return {
    idle: () => hourly.idle(),
    async close() {
      ending.abort();
      await hourly.close();
      forget();
    },
  };
}

/**
 * Today's, if it is missing, and those of the days ahead. When `signal` is aborted it ends soon, with nothing half
 * done. Rejects when the database is away; what else fails is left, and says why.
 */
export async function makeDays(database: Database, nowEpochMs: number, signal?: AbortSignal): Promise<DaysMade> {
  const done: DaysMade = { made: [], late: [], left: [], refused: [], why: [], isElsewhere: false };
  const outcome = await holdDays(database, 'change', () => makeMissing(database, nowEpochMs, done, signal));
  done.isElsewhere = outcome instanceof GaveWay;
  done.why = [...new Set(done.why)];
  return done;
}

async function makeMissing(
  database: Database,
  nowEpochMs: number,
  done: DaysMade,
  signal: AbortSignal | undefined,
): Promise<void> {
  // Of a process that ended between two steps: mended first, and before that no more is asked of its table.
  const busy = new Set((await takeBackWords(database, done.why)).map(({ parent }) => parent));
  try {
    for (const one of await database.query<Day>(MISSING, [DAY_TABLES, new Date(nowEpochMs), DAYS_AHEAD])) {
      if (signal?.aborted === true) break;
      const name = `${one.parent} ${one.day}`;
      if (busy.has(one.parent)) {
        done.left.push(name);
        continue;
      }
      const outcome = await orFault(makeDay(database, one, nowEpochMs, signal));
      if (outcome === 'made') done.made.push(name);
      if (outcome === 'late') done.late.push(name);
      if (outcome instanceof Error || outcome instanceof GaveWay) {
        done.left.push(name);
        done.why.push(outcome instanceof Error ? outcome.message : outcome.why);
      }
      // What is in use is not tried again and again; another fault may be of that day alone.
      if (outcome instanceof GaveWay) busy.add(one.parent);
    }
  } finally {
    done.refused = (await takeBackWords(database, done.why)).map(({ parent, day }) => `${parent} ${day}`);
  }
}

interface Day {
  parent: string;
  /** Like `2026-11-27`, of UTC. */
  day: string;
}

/** `there`: another node was faster. */
type Outcome = 'made' | 'there' | 'late';

/** What the rest refuses after it is taken back by who has called. */
async function makeDay(
  database: Database,
  one: Day,
  nowEpochMs: number,
  signal: AbortSignal | undefined,
): Promise<Outcome | GaveWay> {
  const { parent, day } = one;
  if (Date.parse(day) - nowEpochMs > SOON_MS && (await hasOnlyOthers(database, one))) {
    const outcome = await readRest(database, one, signal);
    if (outcome !== null) return outcome;
  }
  return changeDays(database, { parent, lockLimitMs: LOCK_LIMIT_MS }, async (tx) => {
    const [row] = await tx.query<{ made: Outcome }>('SELECT make_day($1, $2::date) AS made', [parent, day]);
    return row!.made;
  });
}

/** The rest has rows, and none of the day: whoever writes some already, with a wrong clock, is not to be refused. */
async function hasOnlyOthers(database: Database, { parent, day }: Day): Promise<boolean> {
  // By the key: of what was there before, much may be dead.
  const [found] = await database.query<{ any: string | null; own: string | null }>(
    `SELECT (SELECT call_uuid FROM ${parent}_rest ORDER BY call_uuid LIMIT 1) AS "any",
            (SELECT call_uuid FROM ${parent}_rest WHERE call_uuid >= first_id_of_day($1::date)
                AND call_uuid < first_id_of_day($1::date + 1) ORDER BY call_uuid LIMIT 1) AS own`,
    [day],
  );
  return found!.any !== null && found!.own === null;
}

/** Beside running writes, so that it need not be read under a lock that they wait for. Null: go on. */
async function readRest(
  database: Database,
  { parent, day }: Day,
  signal: AbortSignal | undefined,
): Promise<GaveWay | null> {
  const change = (step: 'refuse' | 'allow') =>
    changeDays(database, { parent, lockLimitMs: LOCK_LIMIT_MS }, (tx) => tx.query(STEP, [parent, day, step]));
  const refused = await change('refuse');
  if (refused instanceof GaveWay) return refused;
  try {
    return await readBeside(database, { sql: STEP, parameters: [parent, day, 'check'] }, signal);
  } catch (error) {
    if ((error as { code?: unknown }).code !== CHECK_VIOLATION) throw error;
    // They came meanwhile, and who has written them writes more: they are few, and moved, or the day is late.
    const allowed = await change('allow');
    return allowed instanceof GaveWay ? allowed : null;
  }
}

/** What the rests refuse is allowed again. Returns what is still refused, and adds why. */
async function takeBackWords(database: Database, why: string[]): Promise<Day[]> {
  const still: Day[] = [];
  for (const said of await database.query<Day>(SAID, [DAY_TABLES])) {
    const { parent, day } = said;
    const allowed = changeDays(database, { parent, lockLimitMs: LOCK_LIMIT_MS }, (tx) =>
      tx.query(STEP, [parent, day, 'allow']),
    );
    const outcome = await orFault(allowed);
    if (!(outcome instanceof Error || outcome instanceof GaveWay)) continue;
    still.push(said);
    why.push(outcome instanceof Error ? outcome.message : outcome.why);
  }
  return still;
}

/** What fails of one day, and of what its table refuses, keeps no other from being made. */
async function orFault<Result>(work: Promise<Result>): Promise<Result | Error> {
  try {
    return await work;
  } catch (error) {
    if (isServerGone(error)) throw error;
    return error as Error;
  }
}

/** What the rests say that they have no rows of. */
const SAID = `
  SELECT parent, to_char(to_date(substring(c.conname::text FROM 9), 'YYYYMMDD'), 'YYYY-MM-DD') AS day FROM unnest($1::text[]) AS parent
    JOIN pg_constraint c ON c.conrelid = to_regclass(parent || '_rest') AND c.conname ~ '^without_[0-9]{8}$'
   ORDER BY day, parent`;

const MISSING = `
  SELECT asked.parent, to_char(day, 'YYYY-MM-DD') AS day
    FROM generate_series($2::timestamptz AT TIME ZONE 'UTC', $2::timestamptz AT TIME ZONE 'UTC' + make_interval(days => $3), '1 day') AS day
   CROSS JOIN unnest($1::text[]) AS asked (parent)
   WHERE NOT EXISTS (SELECT 1 FROM day_partitions d WHERE d.parent = asked.parent AND d.to_id > first_id_of_day(day::date)
                        AND (d.from_id IS NULL OR d.from_id <= first_id_of_day(day::date)))
   ORDER BY day, asked.parent`;
