/**
 * The operator's word on where a workspace may call (contract §11, Destinations): the countries of its lines and those
 * that the operator adds, and costly kinds of numbers only where the operator has allowed them. Asked in the
 * transaction that makes a call.
 */
import type { Queryable } from '../store/database.ts';
import type { DialPolicy } from './dial-policy.ts';
import { type Destination, destinationOf } from './number-kinds.ts';

export type DestinationRule = Pick<DialPolicy, 'countries' | 'blockedCountries' | 'kinds'>;

/** What stands against the number; null: nothing. Pure. */
export function refusalOf(
  rule: DestinationRule,
  { country, kinds }: Destination,
  isOfLine: (country: string) => boolean,
): 'kind' | 'country' | null {
  if (kinds.some((kind) => !rule.kinds.includes(kind))) return 'kind';
  if (country === null) return null;
  if (rule.blockedCountries.includes(country)) return 'country';
  if (rule.countries === null || rule.countries.includes(country)) return null;
  return isOfLine(country) ? null : 'country';
}

export interface DestinationVerdict extends Destination {
  refused: 'kind' | 'country' | null;
}

/** `lineNumber` is the line that would dial: its own country is open to it, whoever added it. */
export async function judgeDestination(
  tx: Queryable,
  rule: DestinationRule,
  dial: { workspaceId: string; phone: string; lineNumber: string },
): Promise<DestinationVerdict> {
  const destination = destinationOf(dial.phone);
  const own = countryOfLine(dial.lineNumber);
  const refused = refusalOf(rule, destination, (country) => country === own);
  if (refused !== 'country') return { ...destination, refused };
  // Rare, and costlier with every line.
  const countries = await lineCountries(tx, dial.workspaceId);
  return { ...destination, refused: refusalOf(rule, destination, (country) => countries.includes(country)) };
}

/** Those that every line of the workspace may call, because the operator added a line there. */
export async function lineCountries(tx: Queryable, workspaceId: string): Promise<string[]> {
  return countriesOf(await tx.query(`${NUMBERS} AND opens_country`, [workspaceId]));
}

/** Of all its lines, whoever added them: each may call its own. */
export async function ownCountries(tx: Queryable, workspaceId: string): Promise<string[]> {
  return countriesOf(await tx.query(NUMBERS, [workspaceId]));
}

const NUMBERS = 'SELECT DISTINCT number FROM phone_lines WHERE workspace_id = $1 AND deleted_at IS NULL';

function countriesOf(lines: readonly { number: string }[]): string[] {
  const countries = lines.map(({ number }) => countryOfLine(number)).filter((country) => country !== null);
  return [...new Set(countries)].toSorted();
}

const MOST_KEPT = 10_000;
/** A workspace may have a thousand lines, and whoever tries what is refused tries it often. */
const kept = new Map<string, string | null>();

export function countryOfLine(number: string): string | null {
  const known = kept.get(number);
  if (known !== undefined) return known;
  const { country } = destinationOf(number);
  kept.set(number, country);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
  return country;
}
