/**
 * `npm run bench -- webhooks [--seconds 20] [--redis redis://…]`: from the commit of an event to its first request at the receiver, at
 * 50 events a second to 50 receivers; then with 50 more receivers that answer, and with 50 more that hang, under the same load.
 * The machine's own noise (lateness of a 5 ms timer) stands beside each phase.
 */
import { fork } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { systemClock } from '../../media/contract/clock.ts';
import { createAddressGuard } from '../../src/outbound-http/address-guard.ts';
import { createGuardedClient } from '../../src/outbound-http/guarded-client.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { createSealer } from '../../src/store/secrets.ts';
import { startEmbeddedPostgres } from '../../src/supervisor/postgres/embedded-postgres.ts';
import { placeDatabase } from '../../src/supervisor/postgres/placement.ts';
import { startWebhooks } from '../../src/webhooks/start.ts';
import { createTenants, endCall, type Tenant } from './load.ts';
import type { ToParent } from './receivers.ts';

const TENANTS = 50;
const SETTLE_MS = 2_000;
/** Of what a phase measures nothing: connections and plans are made. */
const WARM_UP_MS = 3_000;
const TIMER_MS = 5;

interface Phase {
  name: string;
  others: 'none' | 'answer' | 'hang';
  seconds: number;
}

interface Sent {
  phase: string;
  eventId: string;
  committedAtEpochMs: number;
}

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '20' }, redis: { type: 'string' } } });
const seconds = Number(values.seconds);
const phases: Phase[] = [
  { name: '50 receivers', others: 'none', seconds },
  { name: '+ 50 that answer', others: 'answer', seconds },
  { name: '+ 50 that hang', others: 'hang', seconds: 2 * seconds },
  { name: '+ 50 that answer, again', others: 'answer', seconds },
];

const dataDir = 'data/bench/webhooks';
mkdirSync(dataDir, { recursive: true });
const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} });
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
const database = openDatabase({
  connectionString: postgres.connectionString,
  maxConnections: 16,
  onIdleError: () => {},
});
const sealer = createSealer('ab'.repeat(32));
const http = createGuardedClient({ guard: createAddressGuard(['127.0.0.0/8']), clock: systemClock });
const webhooks = await startWebhooks({
  db: database,
  databaseUrl: postgres.connectionString,
  redisUrl: values.redis ?? null,
  sealer,
  http,
  clock: systemClock,
  random: Math.random,
  logger: pino({ level: 'error' }),
});
const run = Date.now().toString(36);
const tenantsOf = (kind: string, path: string): Promise<Tenant[]> =>
  createTenants(database, sealer, {
    prefix: `${kind}-${run}`,
    count: TENANTS,
    urlOf: (index) => `http://127.0.0.1:${port}/${path}/${kind}/${index}`,
  });
const measured = await tenantsOf('measured', 'ok');
const others = { none: [], answer: await tenantsOf('answer', 'ok'), hang: await tenantsOf('hang', 'hang') };

const sent: Sent[] = [];
const lateness = new Map<string, number[]>();

async function runPhase(phase: Phase): Promise<void> {
  process.stderr.write(`${phase.name}: ${phase.seconds} s\n`);
  const late: number[] = [];
  lateness.set(phase.name, late);
  let timerAtMs = performance.now();
  const timer = setInterval(() => {
    late.push(Math.max(0, performance.now() - timerAtMs - TIMER_MS));
    timerAtMs = performance.now();
  }, TIMER_MS);
  const deps = { database, clock: systemClock, ring: webhooks.bell.ring };
  const beganAtMs = performance.now();
  const writes: Promise<void>[] = [];
  // Each receiver once a second, spread evenly; an absolute schedule, so that a slow write is not followed by fewer.
  for (let turn = 0; turn < phase.seconds * TENANTS; turn++) {
    const dueAtMs = beganAtMs + (turn * 1_000) / TENANTS;
    const waitMs = dueAtMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const index = turn % TENANTS;
    const write = endCall(deps, measured[index]!).then((event) => {
      if (dueAtMs - beganAtMs >= WARM_UP_MS) sent.push({ phase: phase.name, ...event });
    });
    writes.push(write);
    const other = others[phase.others][index];
    if (other !== undefined) writes.push(endCall(deps, other).then(() => {}));
  }
  await Promise.all(writes);
  clearInterval(timer);
}

for (const phase of phases) await runPhase(phase);
await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
receivers.send('arrivals');
const { arrivals } = await told('arrivals');
const arrivedAt = new Map(arrivals);

const at = (sorted: readonly number[], share: number): number =>
  Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN) * 10) / 10;
const ascending = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b);
const report = phases.map(({ name }) => {
  const events = sent.filter((one) => one.phase === name);
  const times = ascending(
    events.flatMap(({ eventId, committedAtEpochMs }) => {
      const arrivedAtEpochMs = arrivedAt.get(eventId);
      return arrivedAtEpochMs === undefined ? [] : [arrivedAtEpochMs - committedAtEpochMs];
    }),
  );
  const noise = ascending(lateness.get(name) ?? []);
  return {
    phase: name,
    events: events.length,
    missing: events.length - times.length,
    p50Ms: at(times, 0.5),
    p90Ms: at(times, 0.9),
    p99Ms: at(times, 0.99),
    maxMs: at(times, 1),
    timerLateP99Ms: at(noise, 0.99),
  };
});
console.log('commit → first request at the receiver, 50 events a second to the measured receivers');
console.table(report);
writeFileSync('data/bench/webhooks.json', JSON.stringify(report, null, 2));

await webhooks.close();
await http.close();
await database.close();
receivers.kill();
await postgres.stop();
rmSync(placeDatabase(dataDir).home, { recursive: true, force: true });
rmSync(join(dataDir), { recursive: true, force: true });
process.exit(0);
