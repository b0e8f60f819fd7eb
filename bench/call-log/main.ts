/**
 * `npm run bench -- call-log [--calls 1000000] [--rounds 100] [--generate-seconds 100000] [--insert]`
 * How long a page of the call log takes, for each filter at one call, 1 % and half of a workspace's calls, and for rare
 * and common words; and what keeping the index costs a call (`--insert`). The generated database stays for the next
 * run. A page is search, entries and JSON, without HTTP. Prints tables and writes `data/bench/call-log.json`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { systemClock } from '../../media/contract/clock.ts';
import { readCallViews } from '../../src/api/calls/call-view.ts';
import { type CallPlace, searchCalls } from '../../src/call-log/call-log-search.ts';
import { createRecordingLinks } from '../../src/recordings/recording-links.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { startEmbeddedPostgres } from '../../src/supervisor/postgres/embedded-postgres.ts';
import { readOptions } from '../harness/options.ts';
import { percentile } from '../harness/percentile.ts';
import { type Case, casesOf } from './cases.ts';
import { generate, tenantsOf } from './generate.ts';
import { measureInserts } from './insert-price.ts';

const PAGE_CALLS = 50;
const GOAL_P99_MS = 100;
/** In every second round the page begins at a time in the five years, not at the newest call. */
const FIVE_YEARS = { fromEpochMs: Date.UTC(2021, 10, 21), ms: 5 * 365 * 86_400_000 };

const { values } = readOptions({
  command: 'npm run bench -- call-log',
  about: 'A page of the call log among many calls.',
  options: {
    calls: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '100' },
    'generate-seconds': { type: 'string', default: '100000' },
    insert: { type: 'boolean', default: false },
  },
  meanings: {
    calls: '<N> calls in the log',
    rounds: '<N> times that each query is asked',
    'generate-seconds': '<N> stop making calls after so long',
    insert: 'measure what an insert costs instead',
  },
});
const totalCalls = Number(values.calls);
const rounds = Number(values.rounds);
const log = (line: string): void => void process.stderr.write(`${line}\n`);

interface Measured extends Omit<Case, 'tenant'> {
  callsInWorkspace: number;
  found: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

const postgres = await startEmbeddedPostgres({ dataDir: `data/bench/call-log-${totalCalls}`, volatile: true, log });
const database = openDatabase({
  connectionString: postgres.connectionString,
  maxConnections: 4,
  // An index of a million documents takes longer than any request may.
  answerLimitMs: 900_000,
  onIdleError: () => {},
});

const links = createRecordingLinks('ab'.repeat(32), 'https://voice.example.com', systemClock);

async function page(one: Case, after: CallPlace | null): Promise<number> {
  const { workspaceId } = one.tenant;
  const found = await searchCalls(database, { workspaceId, filters: one.filters, after, limit: PAGE_CALLS });
  const data = await readCallViews({ database, links }, workspaceId, found.callUuids);
  JSON.stringify({ data, nextCursor: found.next });
  return data.length;
}

/** The same places in every run. */
function placeOf(round: number): CallPlace | null {
  if (round % 2 === 0) return null;
  const share = (round * 0.618_034) % 1;
  const atEpochMs = Math.round(FIVE_YEARS.fromEpochMs + FIVE_YEARS.ms * share);
  return { createdAtMicros: `${atEpochMs}000`, callUuid: 'ffffffff-ffff-4fff-bfff-ffffffffffff' };
}

async function measure(cases: readonly Case[]): Promise<Measured[]> {
  const times = cases.map((): number[] => []);
  const found = cases.map(() => 0);
  for (const one of cases) await page(one, null);
  for (let round = 0; round < rounds; round++) {
    for (const [index, one] of cases.entries()) {
      const fromMs = performance.now();
      const calls = await page(one, placeOf(round));
      times[index]!.push(performance.now() - fromMs);
      if (round === 0) found[index] = calls;
    }
  }
  return cases.map(({ tenant, ...one }, index) => {
    const own = times[index]!;
    return {
      ...one,
      callsInWorkspace: tenant.calls,
      found: found[index]!,
      p50Ms: percentile(own, 0.5),
      p99Ms: percentile(own, 0.99),
      maxMs: percentile(own, 1),
    };
  });
}

function print(measured: readonly Measured[]): void {
  const row = (cells: string[]): string =>
    `${cells[0]!.padEnd(40)}${cells[1]!.padEnd(10)}${cells
      .slice(2)
      .map((cell) => cell.padStart(10))
      .join('')}`;
  console.log(
    `a page of ${PAGE_CALLS} among ${totalCalls} calls (${measured[0]!.callsInWorkspace} in the workspace), ${rounds} pages each`,
  );
  console.log(row(['filter', 'share', 'found', 'p50 ms', 'p99 ms', 'max ms']));
  for (const { filter, share, found, p50Ms, p99Ms, maxMs } of measured) {
    console.log(
      row([filter, share, String(found), p50Ms.toFixed(1), p99Ms.toFixed(1), maxMs.toFixed(1)]) +
        (p99Ms > GOAL_P99_MS ? '  over the goal' : ''),
    );
  }
  const worst = Math.max(...measured.map((one) => one.p99Ms));
  console.log(`goal: p99 at most ${GOAL_P99_MS} ms; the worst is ${worst.toFixed(1)} ms`);
}

let exitCode = 0;
try {
  await migrate(postgres.connectionString);
  const tenants = tenantsOf(totalCalls);
  const isWhole = await generate(database, { totalCalls, limitSeconds: Number(values['generate-seconds']), log });
  if (!isWhole) log('not whole yet: run it again to go on');
  else {
    const measured = await measure(casesOf(tenants));
    print(measured);
    const inserts = values.insert ? await measureInserts(database, tenants[9]!) : null;
    if (inserts !== null) console.log(JSON.stringify(inserts, null, 2));
    mkdirSync('data/bench', { recursive: true });
    const report = { node: process.version, totalCalls, rounds, pageCalls: PAGE_CALLS, measured, inserts };
    writeFileSync('data/bench/call-log.json', JSON.stringify(report, null, 2));
    console.log('written: data/bench/call-log.json');
  }
} catch (error) {
  log(String((error as Error).stack ?? error));
  exitCode = 1;
} finally {
  await database.close();
  await postgres.stop();
}
process.exit(exitCode);
