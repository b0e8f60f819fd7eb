/**
 * Limits in PostgreSQL: one round trip an admission (the function of migration 0006), on the database's clock. Its
 * tables are unlogged, so an admission waits for no disk. It also counts the active rows of `calls` for the names of
 * call slots: a call holds its slot by being there, and its lease here is only the promise of a row
 * (`docs/decisions/limits.md`).
 */
import { inBatches } from '../store/batches.ts';
import type { Queryable } from '../store/database.ts';
import type { RateAsk } from './gcra.ts';
import type { Admission, AdmissionAnswer, LimitStore } from './limit-store.ts';

interface AdmitRow {
  refused: 'rate' | 'slot' | null;
  refused_index: number | null;
  /** bigint comes as text. */
  tats_us: string[];
  in_use: number[];
}

/**
 * One rate alone, the most frequent ask: a single statement on a single row. It does not wait for the function's locks,
 * so who asks for a name alone that others ask for together with further ones has to say so (`sharesRate`). Where the
 * first half was refused, the second half reads the row that refused it: without the lock it would see the row as it
 * stood when the statement began, before those that took meanwhile, and advise too little. Both halves are empty where
 * the row that refused it was inserted after the statement began: it conflicts, yet is not to be seen; the next
 * statement sees it.
 */
const TAKE_ONE = `
  WITH taken AS (
    INSERT INTO rate_limits AS r (name, tat)
    VALUES ($1, clock_timestamp() + $2::bigint * interval '1 microsecond')
    ON CONFLICT (name) DO UPDATE
      SET tat = greatest(r.tat, clock_timestamp()) + $2::bigint * interval '1 microsecond'
      WHERE r.tat <= clock_timestamp() + $3::bigint * interval '1 microsecond'
    RETURNING r.tat
  )
  SELECT true AS taken, (extract(epoch FROM tat - clock_timestamp()) * 1000000)::bigint::text AS tat_us FROM taken
  UNION ALL
  SELECT false, (extract(epoch FROM tat - clock_timestamp()) * 1000000)::bigint::text FROM (
    SELECT tat FROM rate_limits WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM taken) FOR NO KEY UPDATE) AS refusing`;

const ADMIT = 'SELECT * FROM limits_admit($1, $2, $3, $4, $5, $6, $7)';

export function createPostgresStore(database: Queryable): LimitStore {
  return {
    kind: 'postgres',
    async admit({ rates, slots, holder, ttlMs, sharesRate = false }: Admission): Promise<AdmissionAnswer> {
      const [alone] = rates;
      const isAlone = rates.length === 1 && slots.length === 0 && !sharesRate;
      if (alone !== undefined && isAlone) return takeOne(database, alone);
      const [row] = await database.query<AdmitRow>(ADMIT, [
        rates.map((rate) => rate.name),
        rates.map((rate) => rate.periodUs),
        rates.map((rate) => rate.toleranceUs),
        slots.map((slot) => slot.name),
        slots.map((slot) => slot.limit),
        holder,
        Math.ceil(ttlMs * 1000),
      ]);
      const { refused, refused_index, tats_us, in_use } = row!;
      const seen = { tatsUs: tats_us.map(Number), inUse: in_use };
      if (refused === null || refused_index === null) return { ok: true, ...seen };
      return { ok: false, refused, index: refused_index - 1, ...seen };
    },
    async renew(holds, ttlMs) {
      const pairs = holds.flatMap(({ holder, names }) => names.map((name) => [holder, name] as const));
      if (pairs.length === 0) return;
      await database.query(
        `INSERT INTO limit_leases (holder, name, until)
         SELECT holder, name, clock_timestamp() + $3::bigint * interval '1 microsecond'
         FROM unnest($1::text[], $2::text[]) AS h (holder, name) ORDER BY 1, 2
         ON CONFLICT (holder, name) DO UPDATE SET until = excluded.until`,
        [pairs.map(([holder]) => holder), pairs.map(([, name]) => name), Math.ceil(ttlMs * 1000)],
      );
    },
    async release({ holder, names }) {
      await database.query('DELETE FROM limit_leases WHERE holder = $1 AND name = ANY ($2)', [holder, [...names]]);
    },
    async giveBack({ name, periodUs }) {
      await database.query(`UPDATE rate_limits SET tat = tat - $2::bigint * interval '1 microsecond' WHERE name = $1`, [
        name,
        periodUs,
      ]);
    },
    async inUse(names) {
      const rows = await database.query<{ held: number }>(
        `SELECT limits_in_use(name, '', clock_timestamp()) AS held
         FROM unnest($1::text[]) WITH ORDINALITY AS n (name, place) ORDER BY place`,
        [[...names]],
      );
      return rows.map((row) => row.held);
    },
  };
}

async function takeOne(database: Queryable, { name, periodUs, toleranceUs }: RateAsk): Promise<AdmissionAnswer> {
  if (toleranceUs < 0) return { ok: false, refused: 'rate', index: 0, tatsUs: [0], inUse: [] };
  const take = () => database.query<{ taken: boolean; tat_us: string }>(TAKE_ONE, [name, periodUs, toleranceUs]);
  const row = (await take())[0] ?? (await take())[0];
  const tatUs = Number(row?.tat_us ?? 0);
  if (row?.taken === true) return { ok: true, tatsUs: [Math.max(0, tatUs - periodUs)], inUse: [] };
  return { ok: false, refused: 'rate', index: 0, tatsUs: [Math.max(tatUs, toleranceUs + 1)], inUse: [] };
}

const PURGE_BATCH = 5_000;

/** Removes what has ended and nobody will ask for again: a flood of addresses must not stay for ever. */
export async function purgeLimits(database: Queryable, isOver?: () => boolean): Promise<void> {
  const remove = (sql: string) => async (limit: number) => (await database.query(sql, [limit])).length;
  // What is taken anew meanwhile is judged again by the outer condition.
  // By a time that stands while the statement runs: an index is not asked for one that does not.
  const rates = `DELETE FROM rate_limits WHERE tat < now() - interval '1 minute' AND name IN (
    SELECT name FROM rate_limits WHERE tat < now() - interval '1 minute' ORDER BY tat LIMIT $1) RETURNING 1 AS one`;
  const leases = `DELETE FROM limit_leases WHERE until < now() AND (holder, name) IN (
    SELECT holder, name FROM limit_leases WHERE until < now() ORDER BY until LIMIT $1) RETURNING 1 AS one`;
  await inBatches(PURGE_BATCH, remove(rates), isOver);
  await inBatches(PURGE_BATCH, remove(leases), isOver);
}
