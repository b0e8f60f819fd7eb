/**
 * What the pages of the console ask the database, explained: each statement of the list, its filters and the home page
 * is run under `EXPLAIN ANALYZE` as the service asks it, and those that read a large table from end to end are told.
 */
import { systemClock } from '../../media/contract/clock.ts';
import { readCallViews } from '../../src/api/calls/call-view.ts';
import { searchCalls } from '../../src/call-log/call-log-search.ts';
import { readDayCalls, readNotSetUp, readWebhooksBehind } from '../../src/overview/day-overview.ts';
import { createRecordingLinks } from '../../src/recordings/recording-links.ts';
import type { Database, Queryable } from '../../src/store/database.ts';
import { casesOf } from '../call-log/cases.ts';
import type { Tenant } from '../call-log/generate.ts';

export interface MeasuredStatement {
  of: string;
  /** All statements of it together, without the way to the database. */
  ms: number;
  statements: number;
  /** Rows that were read and thrown away, of the worst step. */
  mostRemoved: number;
  /** Large tables that were read from end to end. */
  wholeTables: string[];
}

/** Below this a table is read whole with reason. */
const LARGE_ROWS = 5_000;
const PAGE_CALLS = 40;

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

interface Explained {
  'QUERY PLAN': [{ Plan: Plan; 'Execution Time': number; 'Planning Time': number }];
}

export async function measureStatements(database: Database, tenants: readonly Tenant[]): Promise<MeasuredStatement[]> {
  const [first] = tenants;
  const { workspaceId } = first!;
  const found: MeasuredStatement[] = [];
  const measure = async (of: string, run: (explaining: Database) => Promise<unknown>): Promise<void> => {
    const explained: Explained['QUERY PLAN'][0][] = [];
    // Once before: what is measured is not the disk.
    await run(database);
    await run(explainingOf(database, explained));
    const plans = explained.flatMap(({ Plan: plan }) => allOf(plan));
    found.push({
      of,
      ms: explained.reduce((sum, one) => sum + one['Execution Time'] + one['Planning Time'], 0),
      statements: explained.length,
      mostRemoved: Math.max(0, ...plans.map((plan) => (plan['Rows Removed by Filter'] ?? 0) * plan['Actual Loops'])),
      wholeTables: plans.flatMap((plan) => {
        const readRows = (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
        return plan['Node Type'] === 'Seq Scan' && readRows > LARGE_ROWS ? [plan['Relation Name'] ?? '?'] : [];
      }),
    });
  };
  const days = [
    { name: 'home, one day', from: '2024-05-22T00:00:00Z', until: '2024-05-23T00:00:00Z' },
    { name: 'home, all calls on one day', from: '2021-01-01T00:00:00Z', until: '2027-01-01T00:00:00Z' },
  ];
  for (const { name, from, until } of days) {
    const of = { workspaceId, from: new Date(from), until: new Date(until) };
    await measure(`${name}: its calls`, (asked) => readDayCalls(asked, of));
  }
  await measure('home: webhooks behind', (asked) => readWebhooksBehind(asked, workspaceId));
  await measure('home: what is not set up', (asked) => readNotSetUp(asked, workspaceId));
  for (const { filter, share, tenant, filters } of casesOf(tenants)) {
    const search = { workspaceId: tenant.workspaceId, filters, after: null, limit: PAGE_CALLS };
    await measure(`calls: ${filter}, ${share}`, (asked) => searchCalls(asked, search));
  }
  const page = await searchCalls(database, { workspaceId, filters: {}, after: null, limit: PAGE_CALLS });
  const links = createRecordingLinks('ab'.repeat(32), 'https://voice.example.com', systemClock);
  await measure('calls: entries of a page', (asked) =>
    readCallViews({ database: asked, links }, workspaceId, page.callUuids),
  );
  return found;
}

const allOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(allOf)];

/** Runs what is read as it is, and explains it beside. */
function explainingOf(database: Database, explained: Explained['QUERY PLAN'][0][]): Database {
  const of = (tx: Queryable): Queryable => ({
    async query<Row extends object>(sql: string, parameters?: readonly unknown[]): Promise<Row[]> {
      if (/^\s*(\/\*.*?\*\/\s*)?(SELECT|WITH)\b/i.test(sql)) {
        const [row] = await tx.query<Explained>(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, parameters);
        explained.push(row!['QUERY PLAN'][0]);
      }
      return tx.query<Row>(sql, parameters);
    },
  });
  return {
    ...of(database),
    transaction: (work) => database.transaction((tx) => work(of(tx))),
    close: async () => {},
  };
}
