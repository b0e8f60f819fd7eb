/**
 * Runs of the real service under a nemesis, on one queue: for each seed, clients place calls, and more are ended in the database, while
 * processes are killed and the receiver fails; at the end all that is owed is waited for, and each seed's history is judged. Called by `main.ts` and, small, by the test.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { BY_OPERATOR } from '../../src/audit/audit-entry.ts';
import { createSealer, type Sealer } from '../../src/sealing/sealer.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { setWebhook, subscribeWebhook } from '../../src/webhooks/operator-webhooks.ts';
import { killIfThere } from '../chaos/processes.ts';
import { briefAgent } from '../harness/brief-agent.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { PATIENCE_MS } from '../harness/patience.ts';
import { NO_REDIS, type OwnRedis, startOwnRedis } from '../harness/redis-server.ts';
import { createRandom } from '../harness/seeded-random.ts';
import { createTenants } from '../webhooks/load.ts';
import { faultsOfHistory } from './checker.ts';
import type { History, StoredEvent } from './history.ts';
import { drawSchedule, type ScheduledStrike } from './nemesis.ts';
import { type OutageReceiver, startOutageReceiver } from './outage-receiver.ts';
import { terminateCalls } from './terminations.ts';
import { historyPersonas, type Placed, placeCalls } from './workload.ts';

export interface HistoryOptions {
  queue: 'postgres' | 'redis';
  seeds: readonly number[];
  /** For each seed: placed by clients, through carrier, media and all. */
  calls: number;
  callsPerSecond: number;
  /** For each seed: written straight into the database, spread over the same time; four events each. */
  terminations: number;
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
  terminating: Promise<string[]>;
}

/** The fifth pause of the schedule is 30 min: so long outages are not needed to see late attempts. */
const RETRY_SCALE = '0.02';
/** A callback that died with control or media is made up for by the timers of the call; a media process's lease takes 30 s all the same. */
const TIMER_SCALE = '0.1';
const PATH = '/hooks';
const OPT_IN = ['call.ringing', 'call.answered'] as const;
const MANY = 10_000;

export async function runHistory(options: HistoryOptions): Promise<SeedReport[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-history-'));
  const redis = options.queue === 'redis' ? await startOwnRedis() : null;
  if (options.queue === 'redis' && redis === null) throw new Error(NO_REDIS);
  const receiver = await startOutageReceiver();
  const gateway = await startGateway({
    dataDir,
    // The answered calls end before it has said much.
    agent: briefAgent(),
    personas: historyPersonas(),
    concurrentCalls: MANY,
    callsPerSecond: MANY,
    settings: { PARLEY_LOG_LEVEL: 'silent' },
    keepAudio: false,
    controlEnv: {
      PARLEY_WEBHOOK_RETRY_SCALE: RETRY_SCALE,
      PARLEY_CALL_TIMER_SCALE: TIMER_SCALE,
      ...(redis === null ? {} : { REDIS_URL: redis.url }),
    },
    log: options.log,
  });
  const database = openDatabase({
    connectionString: gateway.service.databaseUrl,
    maxConnections: 6,
    onIdleError: () => {},
  });
  try {
    const sealer = createSealer(gateway.service.masterKeyHex);
    await listenTo(gateway, { database, sealer, receiver });
    const tenants = await createTenants(database, sealer, {
      prefix: 'seed',
      count: options.seeds.length,
      urlOf: (index) => `${receiver.origin}/${index}`,
    });
    for (const [index, tenant] of tenants.entries()) {
      receiver.setSecret(`/${index}`, tenant.webhookSecret);
      await subscribeWebhook(database, { slug: tenant.slug, events: [...OPT_IN], by: BY_OPERATOR });
    }
    const runs: SeedRun[] = [];
    const beganAtMs = performance.now();
    for (const [index, seed] of options.seeds.entries()) {
      const random = createRandom(seed);
      const lengthMs = (options.calls / options.callsPerSecond) * 1_000;
      const strikes = drawSchedule(random, { lengthMs, hasQueueServer: redis !== null });
      const placing = placeCalls(gateway, {
        calls: options.calls,
        perSecond: options.callsPerSecond,
        seed,
        random,
      });
      const terminating = terminateCalls(database, tenants[index]!, { count: options.terminations, seed, lengthMs });
      runs.push({ seed, placing, terminating, strikes });
      // A client whose placement was cut off repeats for up to a minute: the next seed does not wait for it.
      await Promise.all([strikeAll(strikes, { gateway, receiver, redis }), wait(lengthMs)]);
    }
    const placed = await Promise.all(runs.map(({ placing }) => placing));
    const terminated = await Promise.all(runs.map(({ terminating }) => terminating));
    options.log(`${options.queue}: placed and terminated after ${secondsSince(beganAtMs)} s`);
    await allDone(database);
    options.log(`${options.queue}: nothing is owed after ${secondsSince(beganAtMs)} s`);
    const stored = await readStored(database);
    return runs.map((run, index) => {
      const { callUuids, refusedWith } = placed[index]!;
      const told = new Set([...callUuids, ...terminated[index]!]);
      return judge(run, { callUuids: told, refusedWith }, stored, receiver);
    });
  } finally {
    await database.close();
    await gateway.stop();
    await receiver.close();
    await redis?.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function secondsSince(beganAtMs: number): number {
  return Math.round((performance.now() - beganAtMs) / 1_000);
}

async function listenTo(
  gateway: Gateway,
  { database, sealer, receiver }: { database: Database; sealer: Sealer; receiver: OutageReceiver },
): Promise<void> {
  const slug = gateway.enterprise;
  const { secret } = await setWebhook(database, sealer, { slug, url: `${receiver.origin}${PATH}`, newSecret: true });
  receiver.setSecret(PATH, secret ?? '');
  await subscribeWebhook(database, { slug, events: [...OPT_IN], by: BY_OPERATOR });
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

/** Every call has ended and nothing is owed to the receiver, twice in a row. */
async function allDone(database: Database): Promise<void> {
  let quiet = 0;
  for (const untilMs = performance.now() + PATIENCE_MS; performance.now() < untilMs; await wait(500)) {
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
