/** Days of calls in tests: ids of a given time, rows of a call, and in which partition they lie. */
import type { Queryable } from '../../src/store/database.ts';
import type { DaysMade } from '../../src/store/day-maker.ts';
import { DAY_TABLES } from '../../src/store/day-tables.ts';

export const DAY_MS = 86_400_000;

/** Of UTC. */
export const midnightBefore = (epochMs: number): number => Math.floor(epochMs / DAY_MS) * DAY_MS;
export const dayOf = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);
export const partitionOf = (table: string, epochMs: number): string => `${table}_${dayOf(epochMs).replaceAll('-', '')}`;

/** A UUIDv7 of that millisecond; `number`, from 0, makes several of it. */
export function idAt(epochMs: number, number = 0): string {
  const time = epochMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

/** Of any time: the service makes those of about now alone. Of its day there must be no row yet. */
export async function makeDay(db: Queryable, epochMs: number): Promise<void> {
  const [from, to] = [0, DAY_MS].map((ms) => firstIdOf(midnightBefore(epochMs) + ms));
  for (const table of DAY_TABLES) {
    const name = partitionOf(table, epochMs);
    await db.query(`CREATE TABLE IF NOT EXISTS ${name} PARTITION OF ${table} FOR VALUES FROM ('${from}') TO ('${to}')`);
  }
}

const firstIdOf = (epochMs: number): string => idAt(epochMs).replace('-7000-8000-', '-0000-0000-');

/** A turn and two events. */
export async function talk(db: Queryable, callUuid: string, turnId = 't1'): Promise<void> {
  const turn = { turnId, role: 'user', startMs: 0, endMs: 1, text: 'x', heardText: 'hello', interrupted: false };
  await db.query('INSERT INTO call_turns (call_uuid, turn_id, position, turn) VALUES ($1, $2, 1, $3)', [
    callUuid,
    turnId,
    turn,
  ]);
  await db.query(`INSERT INTO call_events (call_uuid, kind, data) VALUES ($1, 'status', '{}'), ($1, 'turn', $2)`, [
    callUuid,
    { turn },
  ]);
}

/** Where the rows of the call lie: partitions, with how many rows each. */
export async function placesOf(db: Queryable, callUuid: string): Promise<Record<string, number>> {
  const rows = await db.query<{ name: string; count: number }>(
    `SELECT name, count(*)::int AS count FROM (
       SELECT tableoid::regclass::text AS name FROM call_turns WHERE call_uuid = $1
       UNION ALL SELECT tableoid::regclass::text FROM call_events WHERE call_uuid = $1) AS rows GROUP BY name ORDER BY name`,
    [callUuid],
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

export async function isThere(db: Queryable, table: string): Promise<boolean> {
  const [row] = await db.query<{ there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS there', [table]);
  return row!.there;
}

export const NOTHING_MADE: DaysMade = { made: [], late: [], left: [], refused: [], why: [], isElsewhere: false };

/** As `makeDays` names what it has made: of both tables, day by day. */
export const namesOf = (fromMs: number, days: number): string[] =>
  Array.from({ length: days }, (_none, at) => dayOf(fromMs + at * DAY_MS)).flatMap((day) =>
    [...DAY_TABLES].toSorted().map((table) => `${table} ${day}`),
  );

/** Events of a day that nobody made. */
export async function fillRest(db: Queryable, epochMs: number): Promise<void> {
  await db.query(`INSERT INTO call_events (call_uuid, kind) SELECT $1::uuid, 'status' FROM generate_series(1, 2000)`, [
    idAt(epochMs),
  ]);
}

/** The constraints by which the rests take no row of a day. */
export const saidByRests = (db: Queryable): Promise<unknown[]> =>
  db.query(`SELECT conname FROM pg_constraint WHERE conname LIKE 'without%'`);
