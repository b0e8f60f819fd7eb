/**
 * `npm run bench -- webhooks [--rounds 5] [--seconds 10] [--kinds alone,answer,hang] [--redis redis://…]`: from the
 * commit of an event to its first request at the receiver, at 50 events a second to 50 receivers. Beside them stand
 * nobody, 50 more receivers that answer, or 50 more that hang, under the same load; these blocks alternate, each with
 * fresh receivers beside, so that all kinds share the machine's moods and every block that hangs is in the worst of it:
 * before the breakers open. `bench/webhooks-beside` runs two of it at once; `--volatile` takes the disk out of the
 * comparison, where others write to it.
 */
import { fork } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { systemClock } from '../../media/contract/clock.ts';
import { createAddressGuard } from '../../media/net/address-guard.ts';
import { createGuardedClient } from '../../media/net/guarded-client.ts';
import { WEBHOOK_DEFAULTS } from '../../src/config/webhook-settings.ts';
import { createSealer } from '../../src/sealing/sealer.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { startEmbeddedPostgres } from '../../src/supervisor/postgres/embedded-postgres.ts';
import { placeDatabase } from '../../src/supervisor/postgres/placement.ts';
import { startWebhooks } from '../../src/webhooks/start.ts';
import { readOptions } from '../harness/options.ts';
import { percentile, percentiles } from '../harness/percentile.ts';
import { comparedP99 } from './compared-p99.ts';
import { createTenants, endCall, type Tenant } from './load.ts';
import type { ToParent } from './receivers.ts';

const TENANTS = 50;
/** Of what a block measures nothing: connections and plans are made, and what hangs begins to time out. */
const WARM_UP_MS = 4_000;
/** What is under way when a block ends takes 3 s at most. */
const SETTLE_MS = 3_500;
const TIMER_MS = 5;

type Kind = 'alone' | 'answer' | 'hang';

interface Sent {
  kind: Kind;
  eventId: string;
  committedAtEpochMs: number;
}

const { values } = readOptions({
  command: 'npm run bench -- webhooks',
  about: 'From the commit of an event to its receiver, with and without 50 that hang.',
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '10' },
    kinds: { type: 'string', default: 'answer,hang' },
    redis: { type: 'string' },
    volatile: { type: 'boolean', default: false },
    folder: { type: 'string', default: 'webhooks' },
  },
  meanings: {
    rounds: '<N> rounds',
    seconds: '<N> of a round',
    kinds: '<list> of answer, hang',
    redis: '<url> the queue in this Redis',
    volatile: 'a database that does not sync',
    folder: '<name> below data/bench',
  },
});
const seconds = Number(values.seconds);
const kinds = values.kinds.split(',') as Kind[];

const dataDir = `data/bench/${values.folder}`;
mkdirSync(dataDir, { recursive: true });
const postgres = await startEmbeddedPostgres({ dataDir, volatile: values.volatile, log: () => {} });
const receivers = fork(fileURLToPath(new URL('./receivers.js', import.meta.url)));
const told = <Type extends ToParent['type']>(type: Type): Promise<Extract<ToParent, { type: Type }>> =>
  new Promise((resolve) => {
    const listen = (message: ToParent): void => {
      if (message.type !== type) return;
      receivers.off('message', listen);
      resolve(message as Extract<ToParent, { type: Type }>);
    };
    receivers.on('message', listen);
  });
const { port } = await told('listening');

await migrate(postgres.connectionString);
const open = (maxConnections: number) =>
  openDatabase({ connectionString: postgres.connectionString, maxConnections, onIdleError: () => {} });
// As `src/control/control.ts` has them: of the calls, and of the deliveries.
const database = open(20);
const webhookDatabase = open(6);
const sealer = createSealer('ab'.repeat(32));
const http = createGuardedClient({ guard: createAddressGuard(['127.0.0.0/8']), clock: systemClock });
const webhooks = await startWebhooks({
  settings: WEBHOOK_DEFAULTS,
  db: webhookDatabase,
  databaseUrl: postgres.connectionString,
  redisUrl: values.redis ?? null,
  sealer,
  http,
  clock: systemClock,
  random: Math.random,
  logger: pino({ level: 'error' }),
});
let folders = 0;
const tenantsOf = (path: 'ok' | 'hang'): Promise<Tenant[]> => {
  const folder = `b${folders++}`;
  return createTenants(database, sealer, {
    prefix: folder,
    count: TENANTS,
    urlOf: (index) => `http://127.0.0.1:${port}/${path}/${folder}/${index}`,
  });
};
const measured = await tenantsOf('ok');
const sent: Sent[] = [];
const lateness = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]));
const cpu = new Map<Kind, number>(kinds.map((kind) => [kind, 0]));

async function runBlock(kind: Kind): Promise<void> {
  const others = kind === 'alone' ? [] : await tenantsOf(kind === 'answer' ? 'ok' : 'hang');
  const late = lateness.get(kind)!;
  let timerAtMs = performance.now();
  const timer = setInterval(() => {
    late.push(Math.max(0, performance.now() - timerAtMs - TIMER_MS));
    timerAtMs = performance.now();
  }, TIMER_MS);
  const deps = { database, clock: systemClock, ring: webhooks.dispatcher.dispatch };
  const beganAtMs = performance.now();
  const cpuBefore = process.cpuUsage();
  const writes: Promise<void>[] = [];
  // Each receiver once a second, spread evenly; an absolute schedule, so that a slow write is not followed by fewer.
  for (let turn = 0; turn < (WARM_UP_MS / 1_000 + seconds) * TENANTS; turn++) {
    const dueAtMs = beganAtMs + (turn * 1_000) / TENANTS;
    const waitMs = dueAtMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const index = turn % TENANTS;
    const write = endCall(deps, measured[index]!).then((event) => {
      if (dueAtMs - beganAtMs >= WARM_UP_MS) sent.push({ kind, ...event });
    });
    writes.push(write);
    const other = others[index];
    if (other !== undefined) writes.push(endCall(deps, other).then(() => {}));
  }
  await Promise.all(writes);
  clearInterval(timer);
  const used = process.cpuUsage(cpuBefore);
  cpu.set(kind, cpu.get(kind)! + (used.user + used.system) / 1_000);
  // Whoever hangs is out of the next block's way.
  await database.query(
    `UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'gone' WHERE workspace_id = ANY ($1)`,
    [others.map(({ workspaceId }) => workspaceId)],
  );
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}

for (let round = 0; round < Number(values.rounds); round++) {
  process.stderr.write(`round ${round + 1} of ${values.rounds}\n`);
  for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) await runBlock(kind);
}
receivers.send('arrivals');
const { arrivals } = await told('arrivals');
const arrivedAt = new Map(arrivals);

const rounded = (ms: number): number => Math.round(ms * 10) / 10;
const timesOf = (kind: Kind): number[] =>
  sent.flatMap((one) => {
    const arrivedAtEpochMs = one.kind === kind ? arrivedAt.get(one.eventId) : undefined;
    return arrivedAtEpochMs === undefined ? [] : [arrivedAtEpochMs - one.committedAtEpochMs];
  });
const report = kinds.map((kind) => {
  const times = timesOf(kind);
  const [p50Ms, p90Ms, p99Ms, maxMs] = percentiles(times, [0.5, 0.9, 0.99, 1]).map(rounded);
  const events = sent.filter((one) => one.kind === kind).length;
  return {
    beside: kind,
    events,
    missing: events - times.length,
    p50Ms,
    p90Ms,
    p99Ms,
    maxMs,
    timerLateP99Ms: rounded(percentile(lateness.get(kind)!, 0.99)),
    cpuMsASecond: Math.round(cpu.get(kind)! / (Number(values.rounds) * (seconds + WARM_UP_MS / 1_000))),
  };
});
console.log('commit → first request at the receiver, 50 events a second to the measured receivers');
console.table(report);

const comparisons = kinds.includes('hang') ? kinds.filter((kind) => kind !== 'hang') : [];
for (const base of comparisons) {
  console.log(`p99 beside 50 that hang against ${base}: ${comparedP99(timesOf('hang'), timesOf(base))}`);
}
mkdirSync('data/bench', { recursive: true });
const times = Object.fromEntries(kinds.map((kind) => [kind, timesOf(kind)]));
writeFileSync(`data/bench/${values.folder}.json`, JSON.stringify({ report, times }));

await webhooks.close();
await http.close();
await webhookDatabase.close();
await database.close();
receivers.kill();
await postgres.stop();
rmSync(placeDatabase(dataDir).home, { recursive: true, force: true });
rmSync(join(dataDir), { recursive: true, force: true });
process.exit(0);
