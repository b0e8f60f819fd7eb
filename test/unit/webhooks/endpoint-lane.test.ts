import { describe, expect, it } from 'vitest';
import { WEBHOOK_DEFAULTS } from '../../../src/config/webhook-settings.ts';
import type { AttemptResult } from '../../../src/webhooks/delivery.ts';
import {
  createEndpointLane,
  type EndpointLane,
  type LaneCompany,
  laneCapacity,
} from '../../../src/webhooks/endpoint-lane.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Bench {
  clock: VirtualClock;
  lane: EndpointLane;
  started: string[];
  drained: number;
  /** Ends the oldest attempt that runs. */
  end(result: AttemptResult): Promise<void>;
}

const LANE_CAPACITY = laneCapacity(WEBHOOK_DEFAULTS);

function bench(pace = WEBHOOK_DEFAULTS, company?: LaneCompany): Bench {
  const clock = new VirtualClock();
  const under: ((result: AttemptResult) => void)[] = [];
  const state: Bench = {
    clock,
    started: [],
    drained: 0,
    async end(result) {
      under.shift()?.(result);
      await settle();
    },
    lane: createEndpointLane({
      clock,
      pace,
      ...(company && { company }),
      attempt: (id) => {
        state.started.push(id);
        return new Promise((resolve) => under.push(resolve));
      },
      onDrained: () => {
        state.drained++;
      },
    }),
  };
  return state;
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `d${index}`);

describe('the lane of one receiver', () => {
  it('runs 20 at a time, in the order of offering', async () => {
    const it20 = bench();
    for (const id of ids(25)) it20.lane.offer(id);
    expect(it20.started).toEqual(ids(20));
    await it20.end('delivered');
    expect(it20.started).toEqual(ids(21));
  });

  it('is as fast and as wide as the operator says', async () => {
    const wide = bench({ ...WEBHOOK_DEFAULTS, perSecond: 1_000, atOnce: 50 });
    for (const id of ids(1_500)) wide.lane.offer(id);
    expect(wide.started).toHaveLength(50);
    for (let ended = 0; ended < 1_000; ended++) await wide.end('delivered');
    expect(wide.started).toHaveLength(1_000);
    wide.clock.advanceMs(1);
    expect(wide.started).toHaveLength(1_001);
  });

  it('has its share of the pace in company, and all of it again when it is alone', async () => {
    let nodes = 2;
    const half = bench(WEBHOOK_DEFAULTS, { nodes: () => nodes, hasTurn: () => true });
    for (const id of ids(150)) half.lane.offer(id);
    expect(half.started).toHaveLength(10);
    for (let ended = 0; ended < 60; ended++) await half.end('delivered');
    expect(half.started).toHaveLength(50);
    half.clock.advanceMs(20);
    expect(half.started).toHaveLength(51);
    nodes = 1;
    half.clock.advanceMs(20);
    await half.end('delivered');
    half.clock.advanceMs(100);
    expect(half.started).toHaveLength(63);
  });

  it('starts one a time and none at once where nodes share less than there are of them', async () => {
    const thin = bench({ ...WEBHOOK_DEFAULTS, perSecond: 1, atOnce: 1 }, { nodes: () => 3, hasTurn: () => true });
    for (const id of ids(2)) thin.lane.offer(id);
    expect(thin.started).toHaveLength(1);
    await thin.end('delivered');
    thin.clock.advanceMs(2_900);
    expect(thin.started).toHaveLength(1);
    thin.clock.advanceMs(200);
    expect(thin.started).toHaveLength(2);
  });

  it('asks whether a receiver that fails is back in its own turn alone, so that a node that cannot reach it keeps no other from it', async () => {
    const turns: number[] = [];
    const second = bench(WEBHOOK_DEFAULTS, {
      nodes: () => 2,
      hasTurn(turn) {
        turns.push(turn);
        return turn % 2 === 1;
      },
    });
    second.clock.setEpochMs(60_000);
    second.lane.heedBreaker(0, second.clock.nowMs());
    second.lane.offer('waits');
    second.clock.advanceMs(29_999);
    expect([second.started, turns.every((turn) => turn === 2)]).toEqual([[], true]);
    second.clock.advanceMs(1);
    expect(second.started).toEqual(['waits']);
    second.clock.advanceMs(1_000);
    await second.end('failed');
    second.lane.offer('again');
    // Its pause ends in the turn of the other.
    second.clock.advanceMs(58_999);
    expect(second.started).toEqual(['waits']);
    second.clock.advanceMs(1);
    expect(second.started).toEqual(['waits', 'again']);
    await second.end('failed');
    second.lane.offer('last');
    second.lane.heedBreaker(null, second.clock.nowMs() + 1);
    expect(second.started).toEqual(['waits', 'again', 'last']);
  });

  it('starts 100 in the first instant and then one every 10 ms', async () => {
    const fast = bench();
    for (const id of ids(150)) fast.lane.offer(id);
    for (let ended = 0; ended < 100; ended++) await fast.end('delivered');
    expect(fast.started).toHaveLength(100);
    fast.clock.advanceMs(9);
    expect(fast.started).toHaveLength(100);
    fast.clock.advanceMs(1);
    expect(fast.started).toHaveLength(101);
    for (let step = 0; step < 49; step++) {
      await fast.end('delivered');
      fast.clock.advanceMs(10);
    }
    expect(fast.started).toHaveLength(150);
  });

  it('after 20 straight failures sends one probe per 30 s, and all again after one success', async () => {
    const broken = bench();
    for (const id of ids(60)) broken.lane.offer(id);
    for (let failed = 0; failed < 20; failed++) await broken.end('failed');
    // 19 more had been started while the first 20 failed.
    const before = broken.started.length;
    for (let failed = 0; failed < before - 20; failed++) await broken.end('failed');
    expect(broken.started).toHaveLength(before);
    broken.clock.advanceMs(29_999);
    expect(broken.started).toHaveLength(before);
    broken.clock.advanceMs(1);
    expect(broken.started).toHaveLength(before + 1);
    await broken.end('failed');
    broken.clock.advanceMs(30_000);
    expect(broken.started).toHaveLength(before + 2);
    await broken.end('delivered');
    expect(broken.started.length).toBe(Math.min(60, before + 22));
  });

  it('counts a success between failures as the end of the row', async () => {
    const shaky = bench();
    for (let round = 0; round < 3; round++) {
      for (const id of ids(19)) shaky.lane.offer(`${round}-${id}`);
      for (let failed = 0; failed < 19; failed++) await shaky.end('failed');
      shaky.lane.offer(`${round}-good`);
      await shaky.end('delivered');
      shaky.clock.advanceMs(1_000);
    }
    expect(shaky.started).toHaveLength(60);
  });

  it('takes an id once while it waits or runs, and looks again at one that was offered while it ran in vain', async () => {
    const twice = bench();
    twice.lane.offer('a');
    twice.lane.offer('a');
    twice.lane.offer('a');
    expect(twice.started).toEqual(['a']);
    await twice.end('skipped');
    expect(twice.started).toEqual(['a', 'a']);
    twice.lane.offer('a');
    await twice.end('delivered');
    expect(twice.started).toEqual(['a', 'a']);
    expect(twice.drained).toBe(1);
  });

  it(`keeps ${LANE_CAPACITY} waiting and leaves the rest to the sweep`, async () => {
    const full = bench();
    for (const id of ids(LANE_CAPACITY + 100)) full.lane.offer(id);
    while (full.started.length < LANE_CAPACITY + 20) {
      await full.end('delivered');
      full.clock.advanceMs(10);
    }
    for (let rest = 0; rest < 20; rest++) await full.end('delivered');
    expect(full.started).toHaveLength(LANE_CAPACITY + 20);
    expect(full.drained).toBe(1);
  });

  it('when closed starts nothing more and waits for what runs', async () => {
    const ending = bench();
    for (const id of ids(21)) ending.lane.offer(id);
    let closed = false;
    const closing = ending.lane.close().then(() => {
      closed = true;
    });
    for (let ended = 0; ended < 19; ended++) await ending.end('delivered');
    expect(closed).toBe(false);
    await ending.end('delivered');
    await closing;
    expect(ending.started).toHaveLength(20);
    ending.lane.offer('late');
    expect(ending.started).toHaveLength(20);
    expect(ending.clock.pendingTimers).toBe(0);
  });

  it('closes at once when somebody switched the receiver on, and opens when another node found it failing', async () => {
    const lane = bench();
    for (const id of ids(60)) lane.lane.offer(id);
    for (let failed = 0; failed < 39; failed++) await lane.end('failed');
    const before = lane.started.length;
    // Read before the last failure: it knows less than the lane.
    lane.lane.heedBreaker(null, lane.clock.nowMs());
    expect(lane.started).toHaveLength(before);
    lane.clock.advanceMs(1);
    lane.lane.heedBreaker(null, lane.clock.nowMs());
    expect(lane.started).toHaveLength(before + 20);

    const other = bench();
    other.lane.heedBreaker(10_000, other.clock.nowMs());
    for (const id of ids(3)) other.lane.offer(id);
    expect(other.started).toEqual([]);
    other.clock.advanceMs(20_000);
    expect(other.started).toEqual(['d0']);
  });
});
