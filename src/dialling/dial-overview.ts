/**
 * What a workspace may dial and what it has had of its day, for `GET …/dial-policy` and `parley
 * dialling`. Reads only; decides nothing.
 */
import type { Queryable } from '../store/database.ts';
import { readToday, type Today } from './daily-usage.ts';
import { countryOfLine, lineCountries, ownCountries, refusalOf } from './destination-rule.ts';
import { type DialPolicy, hasCeilings, readDialPolicy } from './dial-policy.ts';
import { type Destination, destinationOf } from './number-kinds.ts';

export interface DialOverview extends DialPolicy {
  /** That every line may call because the operator added a line there. A line may always call its own. */
  lineCountries: string[];
  /** Of all its lines: each may call its own. */
  ownCountries: string[];
  /** Null: nothing is counted, because there are no ceilings. */
  today: Today | null;
}

export async function readDialOverview(database: Queryable, workspaceId: string): Promise<DialOverview> {
  const policy = await readDialPolicy(database, workspaceId);
  return {
    ...policy,
    lineCountries: await lineCountries(database, workspaceId),
    ownCountries: await ownCountries(database, workspaceId),
    today: hasCeilings(policy) ? await readToday(database, workspaceId) : null,
  };
}

export interface RefusedNow extends Destination {
  calls: number;
}

const LOOKED_BACK_DAYS = 30;
const MOST_NUMBERS = 100_000;

/**
 * Where calls of the last 30 days went that would be refused today, the most called first: what
 * an upgrade or a change shuts out.
 */
export async function calledAndRefusedNow(database: Queryable, workspaceId: string): Promise<RefusedNow[]> {
  const overview = await readDialOverview(database, workspaceId);
  const called = await database.query<{ phone: string; line: string; calls: number }>(
    `SELECT to_number AS phone, from_number AS line, count(*)::int AS calls FROM calls
     WHERE workspace_id = $1 AND channel = 'phone' AND direction = 'outbound' AND created_at > now() - $2 * interval '1 day'
     GROUP BY to_number, from_number ORDER BY count(*) DESC LIMIT $3`,
    [workspaceId, LOOKED_BACK_DAYS, MOST_NUMBERS],
  );
  const found = new Map<string, RefusedNow>();
  for (const { phone, line, calls } of called) {
    const destination = destinationOf(phone);
    const isOfLine = (country: string): boolean =>
      overview.lineCountries.includes(country) || countryOfLine(line) === country;
    if (refusalOf(overview, destination, isOfLine) === null) continue;
    const name = [destination.country, ...destination.kinds].join(' ');
    const known = found.get(name);
    if (known === undefined) found.set(name, { ...destination, calls });
    else known.calls += calls;
  }
  return [...found.values()].toSorted((left, right) => right.calls - left.calls);
}
