/**
 * Three days of a receiver that is ill, on the virtual clock and the real tables: sweep, dispatcher, lane, claim,
 * attempt and note together, with no notice to help. `retry-schedule.test.ts` has the arithmetic alone.
 */
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import { WEBHOOK_DEFAULTS } from '../../../src/config/webhook-settings.ts';
import { SWEEP_EVERY_MS } from '../../../src/store/sweeper.ts';
import { createDispatcher, type Dispatcher } from '../../../src/webhooks/dispatcher.ts';
import { RETRY_DELAYS_MS } from '../../../src/webhooks/retry-schedule.ts';
import { type Sweep, startSweep } from '../../../src/webhooks/sweep.ts';
import { answered, createDeliveryBench, type DeliveryBench, type Script } from './delivery-bench.ts';

const HOUR_MS = 3_600_000;
const logger = pino({ level: 'silent' });
let bench: DeliveryBench;
let dispatcher: Dispatcher;
let sweep: Sweep;
let sentAtMs: number[];
let running = 0;

beforeAll(async () => {
  bench = await createDeliveryBench(createRandom(4));
});
afterAll(() => bench.close());

beforeEach(async () => {
  await bench.reset();
  sentAtMs = [];
  const { store, clock } = bench;
  dispatcher = createDispatcher({
    pace: WEBHOOK_DEFAULTS,
    store,
    clock,
    logger,
    attempt: (id) => {
      running++;
      return bench.attempt(id).finally(() => running--);
    },
    onDrained: (id) => sweep.drained(id),
  });
  sweep = startSweep({
    perEndpoint: 200,
    store,
    clock,
    logger,
    busy: dispatcher.busy,
    onDue: (due) => dispatcher.offer(due),
  });
  await swept();
});
afterEach(async () => {
  await sweep.close();
  await dispatcher.close();
});

/** The running sweep is over (it has set the timer of the next), and so are the attempts that it led to. */
async function swept(): Promise<void> {
  while (bench.clock.pendingTimers === 0 || running > 0) await new Promise((resolve) => setImmediate(resolve));
}

function answer(script: (attempt: number) => ReturnType<Script>): void {
  bench.answer(() => {
    sentAtMs.push(bench.clock.nowMs());
    return script(sentAtMs.length);
  });
}

async function step(): Promise<void> {
  bench.clock.advanceMs(SWEEP_EVERY_MS);
  await swept();
}

/** From now to the next attempt, looking as often as the sweep does where it matters; false when none comes. */
async function untilNextAttempt(id: string): Promise<boolean> {
  const row = await bench.row(id);
  if (row.state !== 'pending') return false;
  const before = sentAtMs.length;
  const dueInMs = row.next_at.getTime() - bench.clock.epochMs();
  // Up to a sweep before it is due; a sweep that comes on the way must leave it alone.
  const quietMs = Math.max(0, dueInMs - SWEEP_EVERY_MS - 1);
  bench.clock.advanceMs(quietMs);
  await swept();
  expect(sentAtMs.length, `${quietMs} ms after the attempt before`).toBe(before);
  for (let looks = 0; looks < 4 && sentAtMs.length === before; looks++) await step();
  return sentAtMs.length > before;
}

const gapsMs = (): number[] => sentAtMs.slice(1).map((atMs, index) => atMs - sentAtMs[index]!);

it('12 attempts over 75.7 h, each pause within 20 % and one sweep of the schedule; then it is given up and never tried again', async () => {
  const id = await bench.record('call.completed');
  answer((attempt) =>
    attempt % 3 === 0
      ? { kind: 'failed', reason: 'no answer within 3000 ms' }
      : answered(attempt % 3 === 1 ? 500 : 302),
  );
  while (await untilNextAttempt(id));
  expect(sentAtMs).toHaveLength(12);
  for (const [index, gapMs] of gapsMs().entries()) {
    const baseMs = RETRY_DELAYS_MS[index]!;
    expect(gapMs, `pause ${index + 1}`).toBeGreaterThanOrEqual(0.8 * baseMs);
    expect(gapMs, `pause ${index + 1}`).toBeLessThanOrEqual(1.2 * baseMs + 2 * SWEEP_EVERY_MS);
  }
  // Jittered, not all alike.
  expect(
    new Set(gapsMs().map((gapMs, index) => Math.round((20 * gapMs) / RETRY_DELAYS_MS[index]!))).size,
  ).toBeGreaterThan(3);
  const wholeHours = (sentAtMs.at(-1)! - sentAtMs[0]!) / HOUR_MS;
  expect(wholeHours).toBeGreaterThan(0.8 * 75.7);
  expect(wholeHours).toBeLessThan(1.2 * 75.8);
  expect(bench.sent.map(({ headers }) => headers['x-delivery-attempt'])).toEqual(
    Array.from({ length: 12 }, (_none, index) => String(index + 1)),
  );
  expect(new Set(bench.sent.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(await bench.row(id)).toMatchObject({ state: 'dead', attempts: 12 });
  for (let day = 0; day < 30; day++) {
    bench.clock.advanceMs(24 * HOUR_MS);
    await swept();
  }
  expect(sentAtMs).toHaveLength(12);
});

it('Retry-After makes the first pauses longer, by an hour at most; the last attempt of all may still succeed', async () => {
  const id = await bench.record('call.completed');
  const asked = ['60', '7200', null, '1'];
  answer((attempt) => {
    if (attempt === 12) return answered(200);
    const retryAfter = asked[attempt - 1] ?? null;
    return retryAfter === null ? answered(503) : answered(attempt === 2 ? 429 : 503, { retryAfter });
  });
  while (await untilNextAttempt(id));
  const [first, second, third, fourth] = gapsMs() as [number, number, number, number];
  const late = 2 * SWEEP_EVERY_MS;
  for (const [gapMs, leastMs, mostMs] of [
    [first, 60_000, 60_000 + late],
    [second, HOUR_MS, HOUR_MS + late],
    [third, 96_000, 144_000 + late],
    [fourth, 480_000, 720_000 + late],
  ] as const) {
    expect(gapMs).toBeGreaterThanOrEqual(leastMs);
    expect(gapMs).toBeLessThanOrEqual(mostMs);
  }
  expect(sentAtMs).toHaveLength(12);
  expect(await bench.row(id)).toMatchObject({ state: 'delivered', attempts: 12 });
});

it('the next event of the call goes as soon as the first attempt of this one has failed, and its retries wait for nobody', async () => {
  const first = await bench.record('call.completed');
  await bench.record('recording.ready');
  const ids: string[] = [];
  bench.answer(({ headers, body }) => {
    const { sequence } = JSON.parse(body.toString()) as { sequence: number };
    ids.push(`${sequence}.${headers['x-delivery-attempt']}`);
    sentAtMs.push(bench.clock.nowMs());
    return answered(sequence === 1 ? 500 : 200);
  });
  await step();
  dispatcher.offer(bench.next);
  await swept();
  expect(ids).toEqual(['1.1', '2.1']);
  expect(sentAtMs[1]).toBe(sentAtMs[0]);
  while (await untilNextAttempt(first));
  expect(ids).toEqual(['1.1', '2.1', ...Array.from({ length: 11 }, (_none, index) => `1.${index + 2}`)]);
});
