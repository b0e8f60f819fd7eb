/**
 * What the operator lets a workspace dial: countries, kinds of numbers, the longest call, and ceilings a day. One row,
 * or none for a new workspace's. Read in the transaction that makes a call; changed by the operator alone, never by a
 * key of the workspace, which narrows by its calling settings what is allowed here.
 */
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';
import { type Read, readTogether } from '../store/joint-read.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { type DailyCeilings, LEAST_CALL_SECONDS, MOST_CALL_SECONDS } from './daily-ceilings.ts';
import { countToday, forgetTold } from './daily-usage.ts';
import { isCountry, NUMBER_KINDS, type NumberKind } from './number-kinds.ts';

export interface DialPolicy extends DailyCeilings {
  /** ISO 3166, beside those of the workspace's lines; null: any. */
  countries: string[] | null;
  /** Never, whatever else allows them. */
  blockedCountries: string[];
  /** Beside ordinary numbers. */
  kinds: NumberKind[];
  /** No call lasts longer, whatever its agent says. Null: as the agent says. */
  maxCallSeconds: number | null;
}

export const NEW_DIAL_POLICY: DialPolicy = {
  countries: [],
  blockedCountries: [],
  kinds: [],
  maxCallSeconds: null,
  callsPerDay: null,
  minutesPerDay: null,
  keyCallsPerDay: null,
  keyMinutesPerDay: null,
};

const CEILINGS = ['callsPerDay', 'minutesPerDay', 'keyCallsPerDay', 'keyMinutesPerDay'] as const;

export function hasCeilings(ceilings: DailyCeilings): boolean {
  return CEILINGS.some((name) => ceilings[name] !== null);
}

/** No row: `NEW_DIAL_POLICY`. */
export function dialPolicyOf(workspaceId: string): Read<DialPolicy> {
  return {
    sql: (place) =>
      `SELECT countries, blocked_countries AS "blockedCountries", kinds, max_call_seconds AS "maxCallSeconds",
            calls_per_day AS "callsPerDay", minutes_per_day AS "minutesPerDay", key_calls_per_day AS "keyCallsPerDay",
            key_minutes_per_day AS "keyMinutesPerDay"
     FROM dial_policies WHERE workspace_id = ${place(workspaceId)}`,
  };
}

export async function readDialPolicy(tx: Queryable, workspaceId: string): Promise<DialPolicy> {
  const [row] = await readTogether(tx, dialPolicyOf(workspaceId));
  return row ?? NEW_DIAL_POLICY;
}

/** Changes what is given; holds for the next dial. Active calls go on. */
export async function changeDialPolicy(
  database: Database,
  args: { slug: string; change: Partial<DialPolicy>; by?: ChangedBy },
): Promise<DialPolicy> {
  const change = checked(args.change);
  const { id: workspaceId } = await findWorkspace(database, args.slug);
  return database.transaction(async (tx) => {
    // Calls that are being placed hold their day and refer to the workspace: a stronger lock would wait for them, and
    // they for us.
    await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR NO KEY UPDATE', [workspaceId]);
    const before = await readDialPolicy(tx, workspaceId);
    const after = { ...before, ...change };
    await tx.query(
      `INSERT INTO dial_policies (workspace_id, countries, blocked_countries, kinds, max_call_seconds,
                                  calls_per_day, minutes_per_day, key_calls_per_day, key_minutes_per_day)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT (workspace_id) DO UPDATE
         SET countries = $2, blocked_countries = $3, kinds = $4, max_call_seconds = $5,
             calls_per_day = $6, minutes_per_day = $7, key_calls_per_day = $8, key_minutes_per_day = $9`,
      [
        workspaceId,
        after.countries,
        after.blockedCountries,
        after.kinds,
        after.maxCallSeconds,
        after.callsPerDay,
        after.minutesPerDay,
        after.keyCallsPerDay,
        after.keyMinutesPerDay,
      ],
    );
    const target = `workspace:${workspaceId}`;
    const by = args.by ?? BY_OPERATOR;
    await recordAudit(tx, { workspaceId, by, action: 'workspace.dial_policy_changed', target, before, after });
    if (hasCeilings(after) && !hasCeilings(before)) await countToday(tx, workspaceId);
    else if (CEILINGS.some((name) => after[name] !== before[name])) await forgetTold(tx, workspaceId);
    return after;
  });
}

const MOST = 1_000_000;

/** Throws a sentence for the operator. */
function checked(given: Partial<DialPolicy>): Partial<DialPolicy> {
  const change = { ...given };
  if (change.countries !== undefined) change.countries = change.countries && countriesOf(change.countries);
  if (change.blockedCountries !== undefined) change.blockedCountries = countriesOf(change.blockedCountries);
  if (change.kinds !== undefined) {
    const { kinds } = change;
    const unknown = kinds.filter((kind) => !NUMBER_KINDS.includes(kind));
    if (unknown.length > 0) {
      throw new OperatorError(
        'invalid',
        `Unknown kinds: ${unknown.join(', ')}. There are: ${NUMBER_KINDS.join(', ')}.`,
      );
    }
    change.kinds = NUMBER_KINDS.filter((kind) => kinds.includes(kind));
  }
  mustLieBetween('maxCallSeconds', change.maxCallSeconds, LEAST_CALL_SECONDS, MOST_CALL_SECONDS);
  for (const name of CEILINGS) mustLieBetween(name, change[name], 0, MOST);
  return change;
}

function countriesOf(list: readonly string[]): string[] {
  const countries = list.map((country) => country.trim().toUpperCase());
  const bad = countries.find((country) => !isCountry(country));
  if (bad !== undefined) throw new OperatorError('invalid', `'${bad}' is no country like US or DE (ISO 3166).`);
  return [...new Set(countries)].toSorted();
}

function mustLieBetween(name: string, value: number | null | undefined, least: number, most: number): void {
  if (value === null || value === undefined) return;
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new OperatorError('invalid', `${name} must be a whole number from ${least} to ${most}, or none.`);
}
