/**
 * Runs of the real service under a nemesis, on one queue: for each seed, clients place calls, and more are ended in the
 * database, while processes are killed and the receiver fails; at the end all that is owed is waited for, and each
 * seed's history is judged. Called by `main.ts` and, small, by the test.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { briefAgent } from '../../../bench/harness/brief-agent.ts';
import { type Gateway, startGateway } from '../../../bench/harness/gateway.ts';
import { PATIENCE_MS } from '../../../bench/harness/patience.ts';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import { createTenants } from '../../../bench/webhooks/load.ts';
import { BY_OPERATOR } from '../../../src/audit/audit-entry.ts';
import { createSealer, type Sealer } from '../../../src/sealing/sealer.ts';
import type { Database } from '../../../src/store/database.ts';
import { setWebhook, subscribeWebhook } from '../../../src/webhooks/operator-webhooks.ts';
import { NO_REDIS, startOwnRedis } from '../../harness/redis-server.ts';
import { readStoredEvents } from '../judge/gather-history.ts';
import type { StoredEvent } from '../judge/history.ts';
import { checkWebhooks, type Violation } from '../judge/history-checker.ts';
import { runNemesis } from '../nemesis/nemesis.ts';
import { type NemesisStep, planOnceEach } from '../nemesis/nemesis-plan.ts';
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
  steps: readonly NemesisStep[];
  /** Steps that found their victim gone. */
  missed: number;
  violations: Violation[];
}

interface SeedCall {
  callUuid: string;
  status: string;
  seed: number | null;
}

interface Stored {
  calls: readonly SeedCall[];
  events: readonly StoredEvent[];
}

interface SeedRun {
  seed: number;
  steps: readonly NemesisStep[];
  striking: Promise<number>;
  placing: Promise<Placed>;
  terminating: Promise<string[]>;
}

/** The fifth pause of the schedule is 30 min: so long outages are not needed to see late attempts. */
const RETRY_SCALE = '0.02';
/**
 * A callback that died with control or media is made up for by the timers of the call; a media process's lease takes 30
 * s all the same.
 */
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
  const database = openPatientDatabase(gateway.service.databaseUrl, 6);
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
      const steps = planOnceEach({ lengthMs, hasQueueServer: redis !== null, random });
      const placing = placeCalls(gateway, {
        calls: options.calls,
        perSecond: options.callsPerSecond,
        seed,
        random,
      });
      const terminating = terminateCalls(database, tenants[index]!, { count: options.terminations, seed, lengthMs });
      const striking = runNemesis({ service: gateway.service, queue: redis, receiver }, steps, options.log);
      runs.push({ seed, steps, striking, placing, terminating });
      // A client whose placement was cut off repeats for up to a minute: the next seed does not wait for it.
      await Promise.all([striking, wait(lengthMs)]);
    }
    const placed = await Promise.all(runs.map(({ placing }) => placing));
    const terminated = await Promise.all(runs.map(({ terminating }) => terminating));
    options.log(`${options.queue}: placed and terminated after ${secondsSince(beganAtMs)} s`);
    await allDone(database);
    options.log(`${options.queue}: nothing is owed after ${secondsSince(beganAtMs)} s`);
    const stored = await readSeeds(database);
    const missed = await Promise.all(runs.map(({ striking }) => striking));
    return runs.map((run, index) => {
      const { callUuids, refusedWith } = placed[index]!;
      const told = new Set([...callUuids, ...terminated[index]!]);
      return judge(run, { callUuids: told, refusedWith }, missed[index]!, stored, receiver);
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

/** Calls by the seed that their clients gave them, and all events of all seeds. */
async function readSeeds(database: Database): Promise<Stored> {
  const calls = await database.query<SeedCall>(
    `SELECT call_uuid AS "callUuid", status, (metadata->>'seed')::int AS seed FROM calls`,
  );
  const events = await readStoredEvents(
    database,
    calls.map(({ callUuid }) => callUuid),
  );
  return { calls, events };
}

function judge(run: SeedRun, placed: Placed, missed: number, stored: Stored, receiver: OutageReceiver): SeedReport {
  const calls = stored.calls.filter(({ seed }) => seed === run.seed);
  const own = new Set(calls.map(({ callUuid }) => callUuid));
  const events = stored.events.filter(({ callUuid }) => own.has(callUuid));
  const others = new Set(stored.events.filter(({ callUuid }) => !own.has(callUuid)).map(({ id }) => id));
  // What belongs to no seed belongs to every one: it must not exist.
  const received = receiver.received.filter(({ id }) => !others.has(id));
  return {
    seed: run.seed,
    events: events.length,
    requests: received.length,
    refusedWith: placed.refusedWith,
    steps: run.steps,
    missed,
    violations: checkWebhooks({ told: placed.callUuids, asked: new Set(OPT_IN), calls, events, received }),
  };
}
