/**
 * What calls used of their providers, line by line, and what that cost. Lines are written by whoever hears media's word
 * of them; the cost is made of them and of the price table whenever it is read, at the prices that held when it was
 * used. Read for the call log.
 */
import {
  type CostKind,
  USAGE_UNIT_NAMES,
  USAGE_UNITS,
  type UsageLine,
  type UsageUnit,
} from '../../media/contract/usage.ts';
import type { Queryable } from '../store/database.ts';

export interface CallCost {
  /** Null: nothing that was used has a price. */
  currency: string | null;
  /** Of what has a price, in units of the currency, to a millionth. */
  total: number | null;
  /** False: some of what was used has no price, and is not in `total`. */
  isComplete: boolean;
  items: { kind: CostKind; amount: number }[];
  usage: UsedOf[];
}

export interface UsedOf {
  connection: string;
  version: number;
  provider: string;
  model: string;
  unit: UsageUnit;
  quantity: number;
  /** Of `quantity`, what was thrown away because the caller went on; it is paid for too. */
  speculative: number;
  /** Some of it was estimated: of what was taken back no provider says what it counted. */
  isEstimate: boolean;
  /** Null: it has no price. */
  amount: number | null;
}

/**
 * Of many calls in one statement. A line that was written before counts once. Returns how many were new: a line of an
 * unknown call, or that is told again, is none.
 */
export async function writeUsage(
  tx: Queryable,
  used: readonly { callUuid: string; lines: readonly UsageLine[] }[],
): Promise<number> {
  const sound = used.flatMap(({ callUuid, lines }) => lines.filter(isSound).map((line) => ({ ...line, callUuid })));
  if (sound.length === 0) return 0;
  const column = <Name extends keyof (typeof sound)[number]>(name: Name) => sound.map((line) => line[name]);
  const rows = await tx.query(
    `INSERT INTO call_usage (call_uuid, workspace_id, usage_id, turn_id, connection, version, provider, model, unit, quantity, speculative)
     SELECT c.call_uuid, c.workspace_id, u.usage_id, u.turn_id, u.connection, u.version, u.provider, u.model, u.unit, u.quantity, u.speculative
       FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::text[], $9::numeric[], $10::boolean[])
            AS u (call_uuid, usage_id, turn_id, connection, version, provider, model, unit, quantity, speculative)
       JOIN calls c ON c.call_uuid = u.call_uuid
     ON CONFLICT (call_uuid, usage_id) DO NOTHING RETURNING 1 AS one`,
    [
      column('callUuid'),
      column('usageId'),
      column('turnId'),
      column('connection'),
      column('version'),
      column('provider'),
      column('model'),
      column('unit'),
      column('quantity'),
      column('speculative'),
    ],
  );
  return rows.length;
}

const MOST_OF_A_LINE = 1e12;

/** One that cannot be stored must not keep the others from it. */
function isSound({ usageId, unit, quantity }: UsageLine): boolean {
  const isNamed = usageId.length >= 1 && usageId.length <= 64;
  return isNamed && USAGE_UNIT_NAMES.includes(unit) && quantity >= 0 && quantity < MOST_OF_A_LINE;
}

interface Row extends Omit<UsedOf, 'amount' | 'isEstimate'> {
  callUuid: string;
  currency: string | null;
  /** Micros, before they are rounded. */
  micros: number | null;
  usedAt: Date;
}

/** A model's own price outranks that of all the provider's models, also where its own says that it has none. */
const PRICE_OF_LINE = `
  SELECT price_micros, currency FROM provider_prices
   WHERE provider = u.provider AND model IN (u.model, '*') AND unit = u.unit AND effective_at <= u.used_at
   ORDER BY model = u.model DESC, effective_at DESC, version DESC LIMIT 1`;

/** By call; those that used nothing are left out. */
export async function costsOf(
  database: Queryable,
  workspaceId: string,
  callUuids: readonly string[],
): Promise<Map<string, CallCost>> {
  const rows = await database.query<Row>(
    `SELECT u.call_uuid AS "callUuid", u.connection, u.version, u.provider, u.model, u.unit,
            sum(u.quantity)::float AS quantity, coalesce(sum(u.quantity) FILTER (WHERE u.speculative), 0)::float AS speculative,
            p.currency, sum(u.quantity * p.price_micros / per.units)::float AS micros, max(u.used_at) AS "usedAt"
       FROM call_usage u
       JOIN unnest($3::text[], $4::integer[]) AS per (unit, units) ON per.unit = u.unit
       LEFT JOIN LATERAL (${PRICE_OF_LINE}) AS p ON p.price_micros IS NOT NULL
      WHERE u.workspace_id = $1 AND u.call_uuid = ANY ($2::uuid[])
      GROUP BY u.call_uuid, u.connection, u.version, u.provider, u.model, u.unit, p.currency
      ORDER BY u.connection, u.version, u.model, u.unit`,
    [workspaceId, callUuids, USAGE_UNIT_NAMES, USAGE_UNIT_NAMES.map((unit) => USAGE_UNITS[unit].per)],
  );
  const byCall = new Map<string, Row[]>();
  for (const row of rows) byCall.set(row.callUuid, [...(byCall.get(row.callUuid) ?? []), row]);
  return new Map([...byCall].map(([callUuid, lines]) => [callUuid, costOf(lines)]));
}

function costOf(rows: readonly Row[]): CallCost {
  // Where the operator changed the currency in mid-call, the later one is shown, and the rest counts as without a
  // price.
  const last = rows
    .filter(({ micros }) => micros !== null)
    .toSorted((left, right) => right.usedAt.getTime() - left.usedAt.getTime())[0];
  const currency = last?.currency ?? null;
  const kinds = new Map<CostKind, number>();
  const usage = rows.map((row): UsedOf => {
    const micros = row.currency === currency ? row.micros : null;
    const { kind } = USAGE_UNITS[row.unit];
    if (micros !== null) kinds.set(kind, (kinds.get(kind) ?? 0) + micros);
    const { connection, version, provider, model, unit, quantity, speculative } = row;
    const amount = micros === null ? null : inUnits(micros);
    const isEstimate = kind === 'llm' && speculative > 0;
    return { connection, version, provider, model, unit, quantity, speculative, isEstimate, amount };
  });
  const micros = [...kinds.values()].reduce((sum, one) => sum + one, 0);
  return {
    currency,
    total: currency === null ? null : inUnits(micros),
    isComplete: usage.every(({ amount }) => amount !== null),
    items: [...kinds].map(([kind, amount]) => ({ kind, amount: inUnits(amount) })),
    usage,
  };
}

/** To a whole millionth. */
function inUnits(micros: number): number {
  return Math.round(micros) / 1e6;
}
