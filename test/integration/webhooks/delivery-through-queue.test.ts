/**
 * Queue, sweep, claims and guarded client together, the same suite on both queues: PostgreSQL, which is killed and
 * robbed of its queue, and a real Redis, which is stopped, killed, emptied and slowed down.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { recordCallEvent } from '../../../bench/harness/record-call-event.ts';
import { systemClock } from '../../../media/contract/clock.ts';
import { createAddressGuard } from '../../../media/net/address-guard.ts';
import { createGuardedClient } from '../../../media/net/guarded-client.ts';
import type { OutboundHttp } from '../../../media/net/outbound-http.ts';
import { WEBHOOK_DEFAULTS } from '../../../src/config/webhook-settings.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';
import type { Database } from '../../../src/store/database.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { SWEEP_EVERY_MS } from '../../../src/store/sweeper.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/supervisor/postgres/embedded-postgres.ts';
import { placeDatabase } from '../../../src/supervisor/postgres/placement.ts';
import { setEndpoint } from '../../../src/webhooks/endpoint.ts';
import { startWebhooks, type Webhooks } from '../../../src/webhooks/start.ts';
import { eventually } from '../../support/eventually.ts';
import { type ReceivedRequest, startReceiver, type TestReceiver } from '../../unit/media/net/test-receiver.ts';
import { insertCall, insertWorkspace, sampleCall, WORKSPACE_ID } from '../../unit/webhooks/sample-call.ts';
import { HAS_REDIS, type RedisProcess, startRedis } from './redis-process.ts';

const ANSWER_AFTER_MS = 20;

/** The system's clock, but for the timer of the sweep, which is held back while a test says so. */
const sweeps = {
  ...systemClock,
  held: false,
  waiting: new Set<() => void>(),
  hold(): void {
    sweeps.held = true;
  },
  release(): void {
    sweeps.held = false;
    for (const run of sweeps.waiting) run();
    sweeps.waiting.clear();
  },
  after(afterMs: number, run: () => void): () => void {
    const due = (): void => {
      if (afterMs === SWEEP_EVERY_MS && sweeps.held) sweeps.waiting.add(run);
      else run();
    };
    const cancel = systemClock.after(afterMs, due);
    return () => {
      cancel();
      sweeps.waiting.delete(run);
    };
  },
};

const dataDir = mkdtempSync(join(tmpdir(), 'parley-webhooks-'));
const sealer = createSealer('cd'.repeat(32));
const logged: string[] = [];
const logger = pino({ level: 'warn' }, { write: (line: string) => logged.push(line) });
let postgres: EmbeddedPostgres;
let db: Database;
let receiver: TestReceiver;
let http: OutboundHttp;
let webhooks: Webhooks;
let secret: string;
let callNumber = 0;

beforeAll(async () => {
  postgres = await startEmbeddedPostgres({ dataDir, log: () => {} });
  await migrate(postgres.connectionString);
  db = openPatientDatabase(postgres.connectionString, 10);
  receiver = await startReceiver((request, response) => {
    take(request);
    setTimeout(() => response.end(), ANSWER_AFTER_MS);
  });
  http = createGuardedClient({ guard: createAddressGuard(['127.0.0.0/8']), clock: systemClock });
  await insertWorkspace(db);
  secret = (await setEndpoint(db, sealer, WORKSPACE_ID, `http://127.0.0.1:${receiver.port}/hooks`)).secret ?? '';
});

async function start(redisUrl: string | null): Promise<void> {
  receiver.requests.length = 0;
  sequences.clear();
  refused.length = 0;
  logged.length = 0;
  webhooks = await startWebhooks({
    settings: WEBHOOK_DEFAULTS,
    db,
    databaseUrl: postgres.connectionString,
    redisUrl,
    sealer,
    http,
    clock: sweeps,
    random: Math.random,
    logger,
    startsAtOnce: false,
  });
}

afterAll(async () => {
  await http?.close();
  await receiver?.close();
  await db?.close();
  await postgres?.stop();
  rmSync(placeDatabase(dataDir).home, { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
});

/** A call that ends with `events`, recorded in one transaction each; retried while the database is away. */
async function endCall(events: ('call.completed' | 'recording.ready')[] = ['call.completed']): Promise<string> {
  const callUuid = `0199f0a2-0000-7000-8000-${String(++callNumber).padStart(12, '0')}`;
  const call = sampleCall({ callUuid });
  await untilDone(() => insertCall(db, call));
  for (const event of events) {
    webhooks.dispatcher.dispatch(
      await untilDone(() => db.transaction((tx) => recordCallEvent(tx, call, event, {}, systemClock))),
    );
  }
  return callUuid;
}

async function untilDone<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      // A commit whose answer was lost shows as a repeated key.
      if (String(error).includes('duplicate key')) return [] as Result;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** What arrived of a call, by its id. */
const sequences = new Map<string, number[]>();
const arrived = (callUuid: string): number[] => sequences.get(callUuid) ?? [];
/** What the reference library of Standard Webhooks said of what it took for forged, old or broken. */
const refused: string[] = [];

/** Judged as it comes: its time is a part of what is judged. */
function take({ headers, body }: ReceivedRequest): void {
  const { callUuid, sequence } = JSON.parse(body) as { callUuid: string; sequence: number };
  sequences.set(callUuid, [...arrived(callUuid), sequence]);
  try {
    const { id } = new Webhook(secret).verify(body, headers as Record<string, string>) as { id: string };
    if (id !== headers['webhook-id']) refused.push(`${headers['webhook-id']} has the body of ${id}`);
  } catch (error) {
    refused.push(String(error));
  }
}

/**
 * Three calls in a row, each brought by the queue: no sweep comes meanwhile. One that the queue
 * did not bring is the next sweep's.
 */
async function untilQueueIsHeard(): Promise<void> {
  let heard = 0;
  await eventually('the queue', async () => {
    sweeps.hold();
    const callUuid = await endCall();
    for (let looks = 0; looks < 100 && arrived(callUuid).length === 0; looks++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    heard = arrived(callUuid).length > 0 ? heard + 1 : 0;
    sweeps.release();
    return heard === 3;
  });
}

/** What must hold whichever store the queue lies on. `loseQueue` takes all that it holds. */
function holdsOnEveryQueue(loseQueue: () => Promise<unknown>): void {
  it('arrives by the queue, while no sweep comes, signed and in order', async () => {
    sweeps.hold();
    const callUuid = await endCall(['call.completed', 'recording.ready']);
    await eventually('both events', () => arrived(callUuid).length === 2);
    expect(arrived(callUuid)).toEqual([1, 2]);
    sweeps.release();
  });

  it('delivers by the sweep when the queue has lost everything, and hears the queue again', async () => {
    await loseQueue();
    const callUuid = await endCall();
    await eventually('the event', () => arrived(callUuid).length === 1);
    await untilQueueIsHeard();
  });
}

/**
 * What falls due while it is away is also in `test/fault/webhook-history.test.ts`, on both queues; here it is the queue
 * that must come back.
 */
function losesNothingWithPostgres(): void {
  it('loses nothing when PostgreSQL is killed with 60 calls under way, and hears the queue again afterwards', async () => {
    const calls: Promise<string>[] = [];
    for (let index = 0; index < 60; index++) {
      calls.push(endCall(['call.completed', 'recording.ready']));
      await new Promise((resolve) => setTimeout(resolve, 15));
      if (index === 20) process.kill(postgres.pid()!, 'SIGKILL');
    }
    const callUuids = await Promise.all(calls);
    const missing = (): string[] => callUuids.filter((each) => new Set(arrived(each)).size < 2);
    await eventually('every event', () => missing().length === 0);
    await eventually('every note', async () => {
      const rows = await db.query("SELECT id FROM webhook_deliveries WHERE state <> 'delivered'").catch(() => [{}]);
      return rows.length === 0;
    });
    // An attempt that a busy machine's receiver did not answer in time has failed, and later events overtake it.
    const atOnce = await db.query<{ callUuid: string }>(
      `SELECT v.call_uuid AS "callUuid" FROM webhook_events v JOIN webhook_deliveries d ON d.event_id = v.id
        WHERE v.sequence = 1 AND d.attempts = 1 AND v.call_uuid = ANY($1)`,
      [callUuids],
    );
    expect(atOnce.length).toBeGreaterThan(0);
    for (const { callUuid } of atOnce) expect(arrived(callUuid)[0]).toBe(1);
    // However long it was away: no more than a line for each event, and one for each that was dispatched.
    expect(logged.length, logged.join('')).toBeLessThanOrEqual(2 * 2 * callUuids.length);
    await untilQueueIsHeard();
  });
}

function expectAllGenuine(least: number): void {
  expect(receiver.requests.length).toBeGreaterThanOrEqual(least);
  expect(refused).toEqual([]);
}

describe('delivery through a queue on PostgreSQL', () => {
  beforeAll(() => start(null));
  afterAll(() => webhooks?.close());
  // Who works in it may hold a part of it: one of the two is told of a deadlock then.
  const drop = async (): Promise<boolean> =>
    db.query('DROP SCHEMA IF EXISTS bullmq CASCADE').then(
      () => true,
      () => false,
    );
  holdsOnEveryQueue(() => eventually('the queue to be gone', drop));
  losesNothingWithPostgres();
  it('sent nothing that the standardwebhooks package refuses', () => expectAllGenuine(120));
});

const skipped = HAS_REDIS ? '' : ' (skipped: install redis-server)';
describe.skipIf(!HAS_REDIS)(`delivery through a queue on Redis${skipped}`, () => {
  let redis: RedisProcess;
  beforeAll(async () => {
    redis = await startRedis();
    await start(redis.url);
  });
  afterAll(async () => {
    await webhooks?.close();
    await redis?.close();
  });
  holdsOnEveryQueue(() => redis.empty());

  it('delivers by the sweep while Redis is dead, and hears the queue when it is back', async () => {
    await redis.signal('SIGKILL');
    const callUuid = await endCall(['call.completed', 'recording.ready']);
    await eventually('both events', () => arrived(callUuid).length === 2);
    await redis.start();
    await untilQueueIsHeard();
  });

  it('delivers by the sweep while Redis answers nothing, and hears the queue when it wakes', async () => {
    await redis.signal('SIGSTOP');
    const callUuid = await endCall(['call.completed', 'recording.ready']);
    await eventually('both events', () => arrived(callUuid).length === 2);
    await redis.signal('SIGCONT');
    await untilQueueIsHeard();
  });

  it('delivers in order by the queue while each answer of Redis takes 200 ms longer', async () => {
    redis.delayMs = 100;
    sweeps.hold();
    const calls = await Promise.all([endCall(['call.completed', 'recording.ready']), endCall(), endCall()]);
    await eventually('all events', () => calls.every((each) => arrived(each).length > 0));
    await eventually('the second', () => arrived(calls[0]!).length === 2);
    expect(arrived(calls[0]!)).toEqual([1, 2]);
    redis.delayMs = 0;
    sweeps.release();
    await untilQueueIsHeard();
  });

  it('sent nothing that the standardwebhooks package refuses', () => expectAllGenuine(12));
});
