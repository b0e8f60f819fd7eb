/**
 * Runs of the real service under a nemesis, on one queue: for each seed, clients place calls while processes are killed and the receiver
 * fails; at the end all that is owed is waited for, and each seed's history is judged. Called by `main.ts` and, small, by the test.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { BY_OPERATOR } from '../../src/audit/audit-entry.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { createSealer } from '../../src/store/secrets.ts';
import { setWebhook, subscribeWebhook } from '../../src/workspaces/webhooks.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { NO_REDIS, type OwnRedis, startOwnRedis } from '../harness/redis-server.ts';
import { createRandom } from '../harness/seeded-random.ts';
import { faultsOfHistory } from './checker.ts';
import type { History, StoredEvent } from './history.ts';
import { drawSchedule, type ScheduledStrike } from './nemesis.ts';
import { type OutageReceiver, startOutageReceiver } from './outage-receiver.ts';
import { historyAgent, historyPersonas, type Placed, placeCalls } from './workload.ts';

export interface HistoryOptions {
  queue: 'postgres' | 'redis';
  seeds: readonly number[];
  /** For each seed. */
  calls: number;
  callsPerSecond: number;
  log(line: string): void;
}

export interface SeedReport {
  seed: number;
  events: number;
  requests: number;
  /** Placements that came to nothing, by their last answer. */
  refusedWith: readonly string[];
  strikes: readonly ScheduledStrike[];
  faults: string[];
}

interface SeedRun {
  seed: number;
  strikes: ScheduledStrike[];
  placing: Promise<Placed>;
}

/** The fifth pause of the schedule is 30 min: so long outages are not needed to see late attempts. */
const RETRY_SCALE = '0.02';
/** A callback that died with control is made up for by the timers of the call: 20 s dialling, 30 s ringing, 45 s a lost owner. */
const OWED_WITHIN_MS = 120_000;
const MANY = 10_000;

export async function runHistory(options: HistoryOptions): Promise<SeedReport[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-history-'));
  const redis = options.queue === 'redis' ? await startOwnRedis() : null;
  if (options.queue === 'redis' && redis === null) throw new Error(NO_REDIS);
  const receiver = await startOutageReceiver();
  const gateway = await startGateway({
    dataDir,
    agent: historyAgent,
    personas: historyPersonas(),
    concurrentCalls: MANY,
    callsPerSecond: MANY,
    settings: { PARLEY_LOG_LEVEL: 'silent' },
    controlEnv: { PARLEY_WEBHOOK_RETRY_SCALE: RETRY_SCALE, ...(redis === null ? {} : { REDIS_URL: redis.url }) },
    log: options.log,
  });
  const database = openDatabase({
    connectionString: gateway.service.databaseUrl,
    maxConnections: 2,
    onIdleError: () => {},
  });
  try {
    await listenTo(gateway, database, receiver);
    const runs: SeedRun[] = [];
    for (const seed of options.seeds) {
      const random = createRandom(seed);
      const lengthMs = (options.calls / options.callsPerSecond) * 1_000;
      const strikes = drawSchedule(random, { lengthMs, hasQueueServer: redis !== null });
      const placing = placeCalls(gateway, {
        calls: options.calls,
        perSecond: options.callsPerSecond,
        seed,
        random,
      });
      runs.push({ seed, placing, strikes });
      // A client whose placement was cut off repeats for up to a minute: the next seed does not wait for it.
      await Promise.all([strikeAll(strikes, { gateway, receiver, redis }), wait(lengthMs)]);
    }
    const placed = await Promise.all(runs.map(({ placing }) => placing));
    await allDone(database);
    const stored = await readStored(database);
    return runs.map((run, index) => judge(run, placed[index]!, stored, receiver));
  } finally {
    await database.close();
    await gateway.stop();
    await receiver.close();
    await redis?.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function listenTo(gateway: Gateway, database: Database, receiver: OutageReceiver): Promise<void> {
  const slug = gateway.enterprise;
  const { secret } = await setWebhook(database, createSealer(gateway.service.masterKeyHex), {
    slug,
    url: receiver.url,
  });
  receiver.setSecret(secret ?? '');
  await subscribeWebhook(database, { slug, events: ['call.ringing', 'call.answered'], by: BY_OPERATOR });
}

async function strikeAll(
  strikes: readonly ScheduledStrike[],
  target: { gateway: Gateway; receiver: OutageReceiver; redis: OwnRedis | null },
): Promise<void> {
  const startMs = performance.now();
  for (const strike of strikes) {
    await wait(Math.max(0, strike.atMs - (performance.now() - startMs)));
    await carryOut(strike, target);
  }
}

async function carryOut(
  strike: ScheduledStrike,
  { gateway, receiver, redis }: { gateway: Gateway; receiver: OutageReceiver; redis: OwnRedis | null },
): Promise<void> {
  const { service } = gateway;
  switch (strike.kind) {
    case 'control':
      return killIfThere(service.control.pid());
    case 'media':
      return killIfThere(service.media[0]?.pid());
    case 'database':
      return killIfThere(service.postgres?.pid());
    case 'queue':
      await redis?.kill();
      return redis?.start();
    case 'receiver':
      await receiver.setMode(strike.mode);
      await wait(strike.forMs);
      return receiver.setMode('well');
  }
}

/** One that is being started again just now is struck already. */
function killIfThere(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone.
  }
}

/** Every call has ended and nothing is owed to the receiver, twice in a row. */
async function allDone(database: Database): Promise<void> {
  let quiet = 0;
  for (const untilMs = performance.now() + OWED_WITHIN_MS; performance.now() < untilMs; await wait(500)) {
    const [row] = await database
      .query<{ calls: number; deliveries: number }>(
        `SELECT (SELECT count(*)::int FROM calls WHERE ended_at IS NULL) AS calls,
                (SELECT count(*)::int FROM webhook_deliveries WHERE state = 'pending') AS deliveries`,
      )
      .catch(() => []);
    quiet = row !== undefined && row.calls === 0 && row.deliveries === 0 ? quiet + 1 : 0;
    if (quiet === 2) return;
  }
}

async function readStored(database: Database): Promise<(StoredEvent & { seed: number })[]> {
  return database.query<StoredEvent & { seed: number }>(
    `SELECT e.id, e.call_uuid AS "callUuid", e.event, e.sequence, e.body, (c.metadata->>'seed')::int AS seed
       FROM webhook_events e JOIN calls c ON c.call_uuid = e.call_uuid`,
  );
}

function judge(
  run: SeedRun,
  placed: Placed,
  all: readonly (StoredEvent & { seed: number })[],
  receiver: OutageReceiver,
): SeedReport {
  const stored = all.filter(({ seed }) => seed === run.seed);
  const others = new Set(all.filter(({ seed }) => seed !== run.seed).map(({ id }) => id));
  // What belongs to no seed belongs to every one: it must not exist.
  const received = receiver.received.filter(({ id }) => !others.has(id));
  const history: History = { placed: placed.callUuids, stored, received };
  return {
    seed: run.seed,
    events: stored.length,
    requests: received.length,
    refusedWith: placed.refusedWith,
    strikes: run.strikes,
    faults: faultsOfHistory(history),
  };
}
