import { expect, test } from 'vitest';
import { createCallPlaces, type PlaceableRun } from '../../../src/nodes/call-places.ts';
import { chooseRun, type RunCandidate } from '../../../src/nodes/run-choice.ts';
import type { Queryable } from '../../../src/store/database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const run = (node: string, change: Partial<RunCandidate> = {}): PlaceableRun & RunCandidate => ({
  runId: `run-${node}`,
  node,
  streamBase: `wss://voice.example.com/n/${node}`,
  capacityCalls: 100,
  liveCalls: 0,
  promisedCalls: 0,
  moreCalls: null,
  isDraining: false,
  silentMs: 0,
  ...change,
});

/** The same numbers again and again. */
function dice(...numbers: number[]): () => number {
  let at = 0;
  return () => numbers[at++ % numbers.length]!;
}

function rig(own: PlaceableRun[], others: PlaceableRun[], isAddressed = true) {
  const clock = new VirtualClock();
  const carried: string[] = [];
  const state = { own, others, isDraining: false, rows: [] as { callUuid: string; isCarried: boolean }[] };
  const database = { query: async () => state.rows } as unknown as Queryable;
  const places = createCallPlaces({
    database,
    clock,
    random: dice(0, 0, 0.99, 0),
    isAddressed,
    isDraining: () => state.isDraining,
    own: () => state.own,
    others: () => state.others,
    carriedElsewhere: (callUuid) => void carried.push(callUuid),
  });
  return { clock, places, state, carried };
}

test('of two that are drawn the one with the smaller share of its calls taken, promised ones counted', () => {
  const small = run('small', { capacityCalls: 10, liveCalls: 2 });
  const big = run('big', { capacityCalls: 1_000, liveCalls: 100, promisedCalls: 50 });
  expect(chooseRun([small, big], dice(0, 0))?.node).toBe('big');
  expect(chooseRun([small, { ...big, promisedCalls: 150 }], dice(0, 0))?.node).toBe('small');
});

test.each([
  ['drains', { isDraining: true }],
  ['is full', { liveCalls: 99, promisedCalls: 1 }],
  ['measures no more room', { moreCalls: 2, promisedCalls: 2 }],
  ['is silent for more than two beats', { silentMs: 5_001 }],
])('one that %s is never drawn', (_what, change) => {
  expect(chooseRun([run('a', change)], dice(0))).toBeNull();
  expect(chooseRun([run('a', change), run('b', { liveCalls: 90 })], dice(0))?.node).toBe('b');
});

test('a thousand calls at once, of which no beat has told yet, are spread: none of four nodes gets more than a third', () => {
  const nodes = ['a', 'b', 'c', 'd'].map((name) => run(name, { capacityCalls: 2_000 }));
  const { places } = rig([nodes[0]!], nodes.slice(1));
  let seed = 1;
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const spread = createCallPlaces({
    database: { query: async () => [] } as unknown as Queryable,
    clock: new VirtualClock(),
    random,
    isAddressed: true,
    isDraining: () => false,
    own: () => [nodes[0]!],
    others: () => nodes.slice(1),
    carriedElsewhere: () => {},
  });
  const count = new Map<string, number>();
  for (let call = 0; call < 1_000; call++) {
    const chosen = spread.choose(`call-${call}`)!;
    count.set(chosen, (count.get(chosen) ?? 0) + 1);
  }
  for (const calls of count.values()) expect(calls).toBeLessThan(333);
  expect(count.size).toBe(4);
  expect(places.roomElsewhere()).toBe(6_000);
});

test('a node without an address of its own chooses nothing, and its streams come to the public address', () => {
  const { places } = rig([run('a')], [run('b')], false);
  expect(places.choose('c')).toBeNull();
  expect(places.streamBaseOf({ callUuid: 'c', assignedRun: null })).toBeNull();
  expect(places.roomElsewhere()).toBe(0);
});

test('one whose own media processes are away for a moment sends its calls to others', () => {
  const { places, state } = rig([], [run('b')]);
  expect(places.choose('c')).toBe('run-b');
  expect(places.roomElsewhere(), 'less the one that is promised').toBe(99);
  state.others = [run('b', { moreCalls: 10 })];
  expect(places.roomElsewhere()).toBe(9);
});

test('the answer goes where the call was to land; where that drains, is silent or gone by then, to another', () => {
  const { places, state } = rig([run('a', { liveCalls: 50 })], [run('b')]);
  const call = { callUuid: 'c', assignedRun: places.choose('c') };
  expect(call.assignedRun).toBe('run-b');
  expect(places.streamBaseOf(call)).toBe('wss://voice.example.com/n/b');
  state.others = [run('b', { isDraining: true })];
  expect(places.streamBaseOf(call)).toBe('wss://voice.example.com/n/a');
  state.others = [run('b', { silentMs: 6_000 })];
  expect(places.streamBaseOf(call)).toBe('wss://voice.example.com/n/a');
  state.others = [];
  expect(places.streamBaseOf(call)).toBe('wss://voice.example.com/n/a');
  expect(places.streamBaseOf({ ...call, assignedRun: null, avoidRun: 'run-a' }), 'where it was lost').toBeNull();
});

test('a node that drains sends what it answers to others, also what was to land in itself', () => {
  const { places, state } = rig([run('a')], [run('b', { liveCalls: 50 })]);
  const call = { callUuid: 'c', assignedRun: places.choose('c') };
  expect(call.assignedRun).toBe('run-a');
  state.isDraining = true;
  expect(places.streamBaseOf(call)).toBe('wss://voice.example.com/n/b');
  state.others = [];
  expect(places.streamBaseOf(call), 'the balancer finds nobody who is ready').toBe('wss://voice.example.com/n/a');
  const lost = { callUuid: 'c', assignedRun: null, avoidRun: 'run-a' };
  expect(places.streamBaseOf(lost)).toBe('wss://voice.example.com/n/a');
});

test('the last place of a node is kept for the call to which it was promised', () => {
  const { places } = rig([run('a', { isDraining: true })], [run('b', { capacityCalls: 1 })]);
  expect(places.choose('c')).toBe('run-b');
  expect(places.choose('d')).toBeNull();
  expect(places.streamBaseOf({ callUuid: 'c', assignedRun: 'run-b' })).toBe('wss://voice.example.com/n/b');
});

test('a promise ends when the call is carried or over, by the rows; or after 90 s', async () => {
  const { clock, places, state, carried } = rig([run('a', { isDraining: true })], [run('b', { capacityCalls: 3 })]);
  for (const callUuid of ['c', 'd', 'e']) expect(places.choose(callUuid)).toBe('run-b');
  expect(places.roomElsewhere()).toBe(0);
  state.rows = [
    { callUuid: 'c', isCarried: true },
    { callUuid: 'd', isCarried: false },
  ];
  await places.settle();
  expect(carried).toEqual(['c']);
  expect(places.roomElsewhere()).toBe(2);
  state.rows = [];
  clock.advanceMs(90_000);
  await places.settle();
  expect(places.roomElsewhere()).toBe(3);
});
