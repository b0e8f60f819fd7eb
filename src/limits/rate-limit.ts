/**
 * One rate-limited thing in PostgreSQL: a single statement on a single row, on the database's clock, so that all nodes
 * count together and none needs a right clock. Step 2 of contract §2 uses it; per-second call limits are in `call-limits.ts`.
 */
import type { Queryable } from '../store/database.ts';
import { NEVER_RETRY_US, periodUs, type Rate } from './gcra.ts';

export type RateAnswer =
  | { ok: true; remaining: number /** Seconds until the whole burst is free again. */; resetSeconds: number }
  | { ok: false /** Whole seconds, 1 or more. */; retryAfterSeconds: number };

/**
 * Takes one from `name`'s rate. The second half of the statement reads the old row where the first half was refused;
 * it may be a moment older than what refused it, which only shifts the advice by that moment.
 */
const TAKE = `
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
  SELECT false, (extract(epoch FROM tat - clock_timestamp()) * 1000000)::bigint::text FROM rate_limits
  WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM taken)`;

export async function takeFromRate(database: Queryable, name: string, rate: Rate): Promise<RateAnswer> {
  if (rate.perSecond <= 0 || rate.burst <= 0) return { ok: false, retryAfterSeconds: NEVER_RETRY_US / 1_000_000 };
  const period = periodUs(rate);
  const toleranceUs = (rate.burst - 1) * period;
  const [row] = await database.query<{ taken: boolean; tat_us: string }>(TAKE, [name, period, toleranceUs]);
  const tatUs = Number(row?.tat_us ?? 0);
  if (row === undefined || !row.taken) {
    return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil((tatUs - toleranceUs) / 1_000_000)) };
  }
  const remaining = Math.floor((rate.burst * period - tatUs) / period);
  return {
    ok: true,
    remaining: Math.min(rate.burst - 1, Math.max(0, remaining)),
    resetSeconds: Math.max(1, Math.ceil(tatUs / 1_000_000)),
  };
}
