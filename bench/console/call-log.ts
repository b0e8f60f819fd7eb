/**
 * The page of the calls among very many: how soon its first rows are there, what each filter takes, how large the page
 * grows while it is scrolled, and what an export of all of them costs the service.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import type { CallFilters } from '../../src/call-log/call-log-query.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { setWorkspaceLimits } from '../../src/workspaces/workspaces.ts';
import { casesOf } from '../call-log/cases.ts';
import { generate, type Tenant, tenantsOf } from '../call-log/generate.ts';
import { briefAgent } from '../harness/brief-agent.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { percentile } from '../harness/percentile.ts';
import { FIRST_ROWS, PAINTED, scrollCalls, showCalls } from './page-scripts.ts';
import { type ConsolePerson, signInPerson } from './person.ts';
import { type MeasuredStatement, measureStatements } from './statements.ts';

export interface CallLogFigures {
  calls: number;
  callsInAll: number;
  visits: { cold: FirstRows; again: FirstRows; insideMs: Spread };
  filters: { name: string; rows: number; medianMs: number; maxMs: number }[];
  scrolled: Scrolled;
  exports: ExportFigures[];
  statements: MeasuredStatement[];
}

interface Spread {
  p50: number;
  max: number;
}

/** Of a page that is opened: `afterCodeMs` is from the last byte of its code to its first rows on the screen. */
interface FirstRows {
  rowsMs: Spread;
  afterCodeMs: Spread;
  listMs: Spread;
  transferBytes: number;
}

interface Scrolled {
  rows: number;
  seconds: number;
  mostNodes: number;
  frames: number;
  longFrames: number;
  longestMs: number;
  heapMegabytes: number;
}

interface ExportFigures {
  format: 'csv' | 'ndjson';
  seconds: number;
  rows: number;
  sizeBytes: number;
  /** Different states of the progress that a page saw, one look a second. */
  progressSeen: number;
  controlMegabytes: { before: number; most: number };
  fetchSeconds: number;
  lines: number;
}

const GOAL_MOST_EXPORTED = 100_000;
const ROUNDS = 3;
const SCROLL_ROWS = 10_000;
const SCROLL_LIMIT_MS = 60_000;
const LOOK_EVERY_MS = 100;
const UNHURRIED_MS = 900_000;

export async function measureCallLog(
  browser: Browser,
  options: { calls: number; visits: number; log(line: string): void },
): Promise<CallLogFigures> {
  const { calls, visits, log } = options;
  // Half of all calls are the first workspace's.
  const callsInAll = 2 * calls;
  const gateway = await startGateway({
    dataDir: `data/bench/console-${calls}`,
    agent: briefAgent(),
    personas: [{ kind: 'silent', name: 'Nobody', number: '*' }],
    volatileDatabase: true,
    log,
  });
  const database = openDatabase({
    connectionString: gateway.service.databaseUrl,
    maxConnections: 4,
    answerLimitMs: UNHURRIED_MS,
    onIdleError: () => {},
  });
  try {
    await generate(database, { totalCalls: callsInAll, limitSeconds: UNHURRIED_MS / 1000, log });
    const tenants = tenantsOf(callsInAll);
    await prepare(database, tenants);
    const person = await signInPerson(gateway.service.publicUrl, database);
    const of = { browser, gateway, person, tenant: tenants[0]! };
    const measured = await measureVisits(of, visits);
    log(`first rows: cold ${measured.cold.rowsMs.p50.toFixed(0)} ms`);
    const page = await openCalls(of);
    const filters = await measureFilters(page, tenants);
    log(`${filters.length} filters`);
    const scrolled = await measureScroll(page, of.tenant);
    log(`scrolled through ${scrolled.rows} rows`);
    const exports = [];
    for (const format of ['csv', 'ndjson'] as const) {
      if (calls <= GOAL_MOST_EXPORTED) exports.push(await measureExport(of, page, format));
    }
    const statements = await measureStatements(database, tenants);
    return { calls, callsInAll, visits: measured, filters, scrolled, exports, statements };
  } finally {
    await database.close();
    await gateway.stop();
  }
}

interface Measuring {
  browser: Browser;
  gateway: Gateway;
  person: ConsolePerson;
  tenant: Tenant;
}

/** What they may ask in a second is no part of this. */
async function prepare(database: Database, tenants: readonly Tenant[]): Promise<void> {
  for (const { slug } of tenants) {
    await setWorkspaceLimits(database, { slug, limits: { apiRequestsPerSecond: 500, apiBurst: 1000 } });
  }
  await database.query('DELETE FROM call_exports');
}

const callsOf = ({ slug }: Tenant): string => `#/w/${slug}/calls`;

async function measureVisits(of: Measuring, visits: number): Promise<CallLogFigures['visits']> {
  const { browser, gateway, person, tenant } = of;
  const address = `${gateway.service.publicUrl}/console/${callsOf(tenant)}`;
  interface Seen {
    rowsMs: number;
    codeMs: number;
    listMs: number;
    transferBytes: number;
  }
  const [cold, again, inside]: [Seen[], Seen[], number[]] = [[], [], []];
  for (let visit = 0; visit < visits; visit++) {
    const context = await person.context(browser);
    await context.addInitScript(FIRST_ROWS);
    const page = await context.newPage();
    for (const seen of [cold, again]) {
      await page.goto(address);
      seen.push(await page.evaluate<Seen>('bench.firstRows'));
      await page.goto('about:blank');
    }
    await page.goto(`${gateway.service.publicUrl}/console/#/w/${tenant.slug}/home`);
    await page.locator('h1').first().waitFor();
    await wait(500);
    inside.push((await page.evaluate<{ ms: number }>(showCalls(callsOf(tenant)))).ms);
    await context.close();
  }
  return { cold: firstRows(cold), again: firstRows(again), insideMs: spread(inside) };

  function firstRows(seen: readonly Seen[]): FirstRows {
    return {
      rowsMs: spread(seen.map(({ rowsMs }) => rowsMs)),
      afterCodeMs: spread(seen.map(({ rowsMs, codeMs }) => rowsMs - codeMs)),
      listMs: spread(seen.map(({ listMs }) => listMs)),
      transferBytes: seen[0]?.transferBytes ?? 0,
    };
  }
}

const spread = (values: readonly number[]): Spread => ({ p50: percentile(values, 0.5), max: percentile(values, 1) });

async function openCalls({ browser, gateway, person, tenant }: Measuring): Promise<Page> {
  const context = await person.context(browser);
  await context.addInitScript(PAINTED);
  const page = await context.newPage();
  await page.goto(`${gateway.service.publicUrl}/console/${callsOf(tenant)}`);
  await page.locator('.rows.calls [data-row]').first().waitFor();
  return page;
}

/** Each filter with its rare, its uncommon and its common value, as the address has them. */
async function measureFilters(page: Page, tenants: readonly Tenant[]): Promise<CallLogFigures['filters']> {
  const figures = [];
  for (const { filter, share, tenant, filters } of casesOf(tenants)) {
    const times: number[] = [];
    let rows = 0;
    for (let round = 0; round < ROUNDS; round++) {
      await page.evaluate(showCalls(`${callsOf(tenant)}?q=nothingatall${round}`));
      const shown = await page.evaluate<{ ms: number; rows: number }>(
        showCalls(`${callsOf(tenant)}?${queryOf(filters)}`),
      );
      times.push(shown.ms);
      rows = shown.rows;
    }
    figures.push({
      name: `${filter}, ${share}`,
      rows,
      medianMs: percentile(times, 0.5),
      maxMs: percentile(times, 1),
    });
  }
  return figures;
}

function queryOf({ metadata = {}, ...filters }: CallFilters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) query.set(name, String(value));
  for (const [key, value] of Object.entries(metadata)) query.set(`metadata.${key}`, value);
  return query.toString();
}

async function measureScroll(page: Page, tenant: Tenant): Promise<Scrolled> {
  await page.evaluate(showCalls(`${callsOf(tenant)}?direction=outbound`));
  await page.evaluate(showCalls(callsOf(tenant)));
  const seen = await page.evaluate<Omit<Scrolled, 'heapMegabytes'>>(scrollCalls(SCROLL_ROWS, SCROLL_LIMIT_MS));
  const heapBytes = await page.evaluate<number>('performance.memory.usedJSHeapSize');
  return { ...seen, heapMegabytes: heapBytes / 1e6 };
}

interface ExportRow {
  id: string;
  state: string;
  writtenRows: number;
  sizeBytes: number;
}

async function measureExport(of: Measuring, page: Page, format: 'csv' | 'ndjson'): Promise<ExportFigures> {
  const { gateway, person, tenant } = of;
  const path = `/api/console/w/${tenant.slug}/call-exports`;
  const pid = gateway.service.control.pid() ?? 0;
  const beforeMegabytes = residentMegabytes(pid);
  let most = beforeMegabytes;
  const progress = new Set<string>();
  const beganMs = performance.now();
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByRole('button', { name: format === 'csv' ? 'As CSV' : 'As NDJSON' }).click();
  let row: ExportRow | undefined;
  while (row?.state !== 'completed') {
    await wait(LOOK_EVERY_MS);
    const all = (await (await person.ask(path)).json()) as { data: ExportRow[] };
    row = all.data[0];
    most = Math.max(most, residentMegabytes(pid));
    for (const text of await page.locator('.actions [role=status]').allTextContents()) progress.add(text);
    if (row?.state === 'failed') throw new Error(`the export as ${format} failed`);
  }
  const seconds = (performance.now() - beganMs) / 1000;
  const fetchedMs = performance.now();
  const file = await (await person.ask(`${path}/${row.id}/file`)).text();
  return {
    format,
    seconds,
    rows: row.writtenRows,
    sizeBytes: row.sizeBytes,
    progressSeen: progress.size,
    controlMegabytes: { before: beforeMegabytes, most },
    fetchSeconds: (performance.now() - fetchedMs) / 1000,
    lines: file.split('\n').length - 1,
  };
}

/** Of a process, on Linux. */
function residentMegabytes(pid: number): number {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kilobytes) / 1000;
}
