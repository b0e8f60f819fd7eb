/**
 * The outbox against a model of it (reliability §9.1, 4): random histories of commits, claims, answers, time-outs,
 * deaths, switched-off URLs and replays are played to the real tables and to a few lines of plain objects, and after
 * each step both must agree in every row.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OutboundResult } from '../../../media/net/outbound-http.ts';
import { BY_OPERATOR } from '../../../src/audit/audit-entry.ts';
import { BREAKER_FAILURES } from '../../../src/webhooks/breaker.ts';
import { CLAIM_MS } from '../../../src/webhooks/claim-time.ts';
import type { AttemptResult } from '../../../src/webhooks/delivery.ts';
import { disableEndpoint, enableEndpoint } from '../../../src/webhooks/endpoint.ts';
import { redeliver } from '../../../src/webhooks/redelivery.ts';
import { RETRY_DELAYS_MS } from '../../../src/webhooks/retry-schedule.ts';
import { answered, createDeliveryBench, type DeliveryBench } from './delivery-bench.ts';
import { insertCall, sampleCall, WORKSPACE_ID } from './sample-call.ts';

const EVENTS = ['call.completed', 'recording.ready', 'analysis.completed'] as const;
const DAY_MS = 24 * 3_600_000;
/** Later than the database's own clock, by which a redelivery judges whether an attempt is under way. */
const EPOCH_MS = Date.UTC(2040, 0, 1);

interface ModelDelivery {
  id: string;
  call: number;
  sequence: number;
  writtenAtMs: number;
  state: 'pending' | 'delivered' | 'dead';
  attempts: number;
  earlier: number;
  nextAtMs: number;
  claimedUntilMs: number | null;
  deadAtMs: number | null;
}

interface Flight {
  delivery: ModelDelivery;
  claimedUntilMs: number;
  attempts: number;
  knownHealthy: boolean;
}

/** What should be. Times are those of the virtual clock. */
interface Model {
  deliveries: ModelDelivery[];
  flights: Flight[];
  events: Map<number, number>;
  disabled: boolean;
  failures: number;
  failingSinceMs: number | null;
  lastSuccessMs: number;
}

interface Real {
  bench: DeliveryBench;
  /** In the order of the model's. */
  flights: { answer(result: OutboundResult): void; done: Promise<AttemptResult> }[];
}

type Step = fc.AsyncCommand<Model, Real>;

let bench: DeliveryBench;
beforeAll(async () => {
  bench = await createDeliveryBench(() => 0.5);
});
afterAll(() => bench.close());

const callOf = (call: number) => sampleCall({ callUuid: `0199f0a2-0000-7000-8000-${String(call).padStart(12, '0')}` });
const nowMs = (): number => bench.clock.epochMs();
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function isClaimable(model: Model, delivery: ModelDelivery): boolean {
  const free = delivery.claimedUntilMs === null || delivery.claimedUntilMs <= nowMs();
  const waitsForEarlier = model.deliveries.some(
    (other) =>
      other.call === delivery.call &&
      other.sequence < delivery.sequence &&
      other.state === 'pending' &&
      other.attempts === 0,
  );
  const inTurn = delivery.attempts > 0 || !waitsForEarlier;
  return !model.disabled && delivery.state === 'pending' && delivery.nextAtMs <= nowMs() && free && inTurn;
}

function newRound(delivery: ModelDelivery): void {
  if (delivery.state === 'pending' && delivery.claimedUntilMs !== null) return;
  delivery.state = 'pending';
  delivery.nextAtMs = delivery.writtenAtMs;
  delivery.deadAtMs = null;
  delivery.earlier += delivery.attempts;
  delivery.attempts = 0;
}

function noteFailure(model: Model, isGone: boolean): void {
  model.failures++;
  model.failingSinceMs ??= nowMs();
  if (isGone || (model.failures >= 100 && nowMs() - model.failingSinceMs >= 5 * DAY_MS)) model.disabled = true;
}

/** What an answer to a flight changes; null: none came in time. */
function conclude(model: Model, flight: Flight, status: number | null): void {
  const { delivery } = flight;
  const isSuccess = status !== null && status < 300;
  if (!isSuccess) noteFailure(model, status === 410);
  else if (!flight.knownHealthy) {
    model.failures = 0;
    model.failingSinceMs = null;
    model.lastSuccessMs = nowMs();
  }
  const holds = delivery.claimedUntilMs === flight.claimedUntilMs;
  if (delivery.state !== 'pending' || !(holds || isSuccess)) return;
  delivery.attempts++;
  delivery.claimedUntilMs = null;
  if (isSuccess) {
    delivery.state = 'delivered';
    return;
  }
  const pauseMs = RETRY_DELAYS_MS[flight.attempts];
  if (pauseMs === undefined) {
    delivery.state = 'dead';
    delivery.deadAtMs = nowMs();
  } else delivery.nextAtMs = nowMs() + pauseMs;
}

async function attempt(model: Model, real: Real, delivery: ModelDelivery): Promise<boolean> {
  const expected = isClaimable(model, delivery);
  let answer = (_result: OutboundResult): void => {};
  const asked = new Promise<void>((sent) =>
    bench.answer(() => {
      sent();
      return new Promise((resolve) => {
        answer = resolve;
      });
    }),
  );
  const before = bench.sent.length;
  const done = bench.attempt(delivery.id);
  await Promise.race([asked, done]);
  expect(bench.sent.length - before, 'requests').toBe(expected ? 1 : 0);
  if (!expected) {
    expect(await done).toBe('skipped');
    return false;
  }
  const { headers } = bench.sent.at(-1)!;
  expect(headers['x-delivery-attempt']).toBe(String(delivery.earlier + delivery.attempts + 1));
  delivery.claimedUntilMs = nowMs() + CLAIM_MS;
  model.flights.push({
    delivery,
    claimedUntilMs: delivery.claimedUntilMs,
    attempts: delivery.attempts,
    knownHealthy: model.failures === 0 && model.lastSuccessMs > nowMs() - 60_000,
  });
  real.flights.push({ answer, done });
  return true;
}

async function land(model: Model, real: Real, index: number, status: number | null): Promise<void> {
  const [flight] = model.flights.splice(index, 1);
  const [landing] = real.flights.splice(index, 1);
  landing!.answer(status === null ? { kind: 'failed', reason: 'no answer within 3000 ms' } : answered(status));
  expect(await landing!.done).toBe(status !== null && status < 300 ? 'delivered' : 'failed');
  conclude(model, flight!, status);
}

async function agree(model: Model): Promise<void> {
  const rows = await bench.db.query<{
    id: string;
    state: string;
    attempts: number;
    earlier: number;
    nextAt: Date;
    claimedUntil: Date | null;
  }>(
    `SELECT id, state, attempts, earlier_attempts AS earlier, next_at AS "nextAt", claimed_until AS "claimedUntil"
     FROM webhook_deliveries ORDER BY id`,
  );
  const seen = rows.map(({ nextAt, claimedUntil, ...row }) => ({
    ...row,
    nextAtMs: row.state === 'pending' ? nextAt.getTime() : null,
    claimedUntilMs: claimedUntil?.getTime() ?? null,
  }));
  const wanted = model.deliveries.map(({ id, state, attempts, earlier, nextAtMs, claimedUntilMs }) => ({
    id,
    state,
    attempts,
    earlier,
    nextAtMs: state === 'pending' ? nextAtMs : null,
    claimedUntilMs,
  }));
  expect(seen).toEqual(wanted.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
}

abstract class Base {
  abstract act(model: Model, real: Real): Promise<void>;
  check(_model: Readonly<Model>): boolean {
    return true;
  }
  async run(model: Model, real: Real): Promise<void> {
    await this.act(model, real);
    await agree(model);
  }
}

class Commit extends Base {
  readonly call: number;
  constructor(call: number) {
    super();
    this.call = call;
  }
  override check(model: Readonly<Model>): boolean {
    return (model.events.get(this.call) ?? 0) < EVENTS.length;
  }
  override async act(model: Model): Promise<void> {
    const sequence = (model.events.get(this.call) ?? 0) + 1;
    if (sequence === 1) await insertCall(bench.db, callOf(this.call));
    const id = await bench.record(EVENTS[sequence - 1]!, callOf(this.call));
    model.events.set(this.call, sequence);
    model.deliveries.push({
      id,
      call: this.call,
      sequence,
      writtenAtMs: nowMs(),
      state: 'pending',
      attempts: 0,
      earlier: 0,
      nextAtMs: nowMs(),
      claimedUntilMs: null,
      deadAtMs: null,
    });
  }
  override toString = (): string => `commit(call ${this.call})`;
}

class Claim extends Base {
  readonly index: number;
  constructor(index: number) {
    super();
    this.index = index;
  }
  override check(model: Readonly<Model>): boolean {
    return model.deliveries.length > 0;
  }
  override async act(model: Model, real: Real): Promise<void> {
    await attempt(model, real, model.deliveries[this.index % model.deliveries.length]!);
  }
  override toString = (): string => `claim(${this.index})`;
}

class Answer extends Base {
  readonly index: number;
  readonly status: number | null;
  constructor(index: number, status: number | null) {
    super();
    this.index = index;
    this.status = status;
  }
  override check(model: Readonly<Model>): boolean {
    return model.flights.length > 0;
  }
  override async act(model: Model, real: Real): Promise<void> {
    await land(model, real, this.index % model.flights.length, this.status);
  }
  override toString = (): string =>
    this.status === null ? `timeout(${this.index})` : `answer(${this.index}, ${this.status})`;
}

/** The process dies: its requests are never heard of again, its claims stay. */
class Crash extends Base {
  override async act(model: Model, real: Real): Promise<void> {
    model.flights = [];
    real.flights = [];
  }
  override toString = (): string => 'crash';
}

class Pass extends Base {
  readonly ms: number;
  constructor(ms: number) {
    super();
    this.ms = ms;
  }
  override async act(): Promise<void> {
    bench.clock.advanceMs(this.ms);
    await settle();
  }
  override toString = (): string => `pass(${this.ms} ms)`;
}

class Switch extends Base {
  readonly on: boolean;
  constructor(on: boolean) {
    super();
    this.on = on;
  }
  override async act(model: Model): Promise<void> {
    if (!this.on) {
      await disableEndpoint(bench.db, WORKSPACE_ID);
      model.disabled = true;
      return;
    }
    await enableEndpoint(bench.db, WORKSPACE_ID);
    if (!model.disabled && model.failures < BREAKER_FAILURES) return;
    for (const delivery of model.deliveries) {
      const died = delivery.deadAtMs !== null && model.failingSinceMs !== null;
      if (delivery.state === 'pending' && delivery.attempts > 0) newRound(delivery);
      else if (died && delivery.state === 'dead' && delivery.deadAtMs! >= model.failingSinceMs!) newRound(delivery);
    }
    const failingSinceMs = model.disabled ? null : model.failingSinceMs;
    Object.assign(model, { disabled: false, failures: 0, failingSinceMs });
  }
  override toString = (): string => (this.on ? 'enable' : 'disable');
}

class Redeliver extends Base {
  readonly index: number;
  constructor(index: number) {
    super();
    this.index = index;
  }
  override check(model: Readonly<Model>): boolean {
    return model.deliveries.length > 0;
  }
  override async act(model: Model): Promise<void> {
    const delivery = model.deliveries[this.index % model.deliveries.length]!;
    const asking = redeliver(bench.db, { workspaceId: WORKSPACE_ID, by: BY_OPERATOR }, delivery.id);
    if (model.disabled) await expect(asking).rejects.toThrow('webhook: disabled');
    else {
      await asking;
      newRound(delivery);
    }
  }
  override toString = (): string => `redeliver(${this.index})`;
}

/** An attempt takes longer than its claim, another begins, and the first is answered after all. */
class Overtake extends Base {
  readonly index: number;
  readonly status: number;
  constructor(index: number, status: number) {
    super();
    this.index = index;
    this.status = status;
  }
  override check(model: Readonly<Model>): boolean {
    return model.deliveries.length > 0;
  }
  override async act(model: Model, real: Real): Promise<void> {
    const delivery = model.deliveries[this.index % model.deliveries.length]!;
    if (!(await attempt(model, real, delivery))) return;
    bench.clock.advanceMs(CLAIM_MS);
    await attempt(model, real, delivery);
    await land(model, real, model.flights.length - 2, this.status);
  }
  override toString = (): string => `overtake(${this.index}, ${this.status})`;
}

/** Fails until it is given up, or may not be tried. */
class Exhaust extends Base {
  readonly index: number;
  constructor(index: number) {
    super();
    this.index = index;
  }
  override check(model: Readonly<Model>): boolean {
    return model.deliveries.length > 0;
  }
  override async act(model: Model, real: Real): Promise<void> {
    const delivery = model.deliveries[this.index % model.deliveries.length]!;
    while (delivery.state === 'pending') {
      const dueInMs = Math.max(delivery.nextAtMs, delivery.claimedUntilMs ?? 0) - nowMs();
      if (dueInMs > 0) bench.clock.advanceMs(dueInMs);
      if (!(await attempt(model, real, delivery))) return;
      await land(model, real, model.flights.length - 1, 500);
    }
  }
  override toString = (): string => `exhaust(${this.index})`;
}

/** What the sweep would bring is what the model holds to be due; claims alone know the order in a call. */
class Sweep extends Base {
  override async act(model: Model): Promise<void> {
    const due = await bench.store.due(nowMs(), 1_000);
    const expected = model.deliveries.filter(
      (one) =>
        !model.disabled &&
        one.state === 'pending' &&
        one.nextAtMs <= nowMs() &&
        (one.claimedUntilMs === null || one.claimedUntilMs <= nowMs()),
    );
    expect(due.map(({ id }) => id).toSorted()).toEqual(expected.map(({ id }) => id).toSorted());
  }
  override toString = (): string => 'sweep';
}

const index = fc.nat(11);
const steps: fc.Arbitrary<Step>[] = [
  fc.nat(3).map((call) => new Commit(call)),
  fc.nat(3).map((call) => new Commit(call)),
  index.map((at) => new Claim(at)),
  index.map((at) => new Claim(at)),
  index.map((at) => new Claim(at)),
  fc.tuple(index, fc.constantFrom(200, 204, 200, 301, 500, 410)).map(([at, status]) => new Answer(at, status)),
  fc.tuple(index, fc.constantFrom(200, 503, null)).map(([at, status]) => new Answer(at, status)),
  fc.constant(new Crash()),
  fc.constantFrom(1_000, 5_000, 19_999, 20_000, 31_000, 600_000).map((ms) => new Pass(ms)),
  fc.boolean().map((on) => new Switch(on)),
  fc.constant(new Switch(true)),
  index.map((at) => new Redeliver(at)),
  index.map((at) => new Exhaust(at)),
  fc.tuple(index, fc.constantFrom(200, 500)).map(([at, status]) => new Overtake(at, status)),
  fc.constant(new Sweep()),
];

it('agrees with its model in every row after each step of 80 random histories, and in the end has sent all that was committed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands: 40, size: 'max' }), async (commands) => {
      await bench.reset();
      bench.clock.setEpochMs(EPOCH_MS);
      const real: Real = { bench, flights: [] };
      let model: Model | null = null;
      await fc.asyncModelRun(() => {
        model = {
          deliveries: [],
          flights: [],
          events: new Map(),
          disabled: false,
          failures: 0,
          failingSinceMs: null,
          lastSuccessMs: Number.NEGATIVE_INFINITY,
        };
        return { model, real };
      }, commands);
      await deliverTheRest(model!, real);
    }),
    { seed: 20261121, numRuns: 80 },
  );
});

/** A receiver that is well again gets everything that was not given up, each body as it was written. */
async function deliverTheRest(model: Model, real: Real): Promise<void> {
  await new Crash().run(model, real);
  await new Switch(true).run(model, real);
  bench.clock.advanceMs(2 * DAY_MS);
  for (let round = 0; round < EVENTS.length; round++) {
    for (const delivery of model.deliveries) {
      if (await attempt(model, real, delivery)) await land(model, real, 0, 200);
    }
  }
  await agree(model);
  expect(model.deliveries.filter(({ state }) => state === 'pending')).toEqual([]);
  const stored = await bench.db.query<{ id: string; body: string }>('SELECT id, body FROM webhook_events');
  const bodies = new Map(stored.map(({ id, body }) => [id, body]));
  for (const { headers, body } of bench.sent) expect(body.toString()).toBe(bodies.get(headers['webhook-id']!));
}
