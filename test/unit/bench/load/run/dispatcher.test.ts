/** The open loop on a virtual clock: when calls begin, whatever becomes of those before. */
import { describe, expect, test } from 'vitest';
import type { MeasuredCall } from '../../../../../bench/load/contract/measured-call.ts';
import type { PlannedCall } from '../../../../../bench/load/contract/planned-call.ts';
import { Dispatcher } from '../../../../../bench/load/run/dispatcher.ts';
import { notBegun } from '../../../../../bench/load/run/not-begun.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

function plannedAt(index: number, atMs: number): PlannedCall {
  return {
    index,
    atMs,
    caller: 'one',
    by: 'phone',
    codec: 'mulaw',
    ringMs: 0,
    outcome: 'answer',
    lengthMs: 1_000,
    talk: { kind: 'silent' },
    network: { delayMs: 0, jitterMs: 0, lossShare: 0 },
    resumesAtMs: null,
    seed: 1,
  };
}

function dispatch(atMs: readonly number[], mostAtOnce = 100, leadMs = 0) {
  const clock = new VirtualClock();
  const begun: { index: number; atMs: number; end(): void }[] = [];
  const measured: MeasuredCall[] = [];
  const stop = new AbortController();
  const dispatcher = new Dispatcher({
    calls: atMs.map((ms, index) => plannedAt(index, ms)),
    clock,
    mostAtOnce,
    leadMs,
    call: (planned) =>
      new Promise((done) => {
        const end = (): void => done(notBegun(planned, 'talked', null, null, clock.nowMs()));
        begun.push({ index: planned.index, atMs: clock.nowMs(), end });
      }),
    measured: (call) => measured.push(call),
    signal: stop.signal,
  });
  let isOver = false;
  const run = dispatcher.run().then(() => {
    isOver = true;
  });
  /** Timers run in the order of time, and what they resolve goes on between them. */
  const advance = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 10) {
      clock.advanceMs(10);
      for (let i = 0; i < 5; i++) await Promise.resolve();
    }
  };
  return { clock, begun, measured, stop, dispatcher, run, advance, isOver: () => isOver };
}

describe('the dispatcher', () => {
  test('begins each call at its instant, although none before it has ended', async () => {
    const { begun, advance, isOver } = dispatch([0, 100, 100, 250]);
    await advance(300);
    expect(begun.map(({ atMs }) => atMs)).toEqual([0, 100, 100, 250]);
    expect(isOver()).toBe(false);
  });

  test('hands a call on so long before its instant as whoever takes it wants', async () => {
    const { begun, advance } = dispatch([50, 150, 300], 100, 100);
    await advance(300);
    expect(begun.map(({ atMs }) => atMs)).toEqual([0, 50, 200]);
  });

  test('catches up what it was late for, in one turn', async () => {
    const { clock, begun, advance } = dispatch([50, 60, 70, 500]);
    // A stall of the tool.
    clock.advanceMs(400);
    await advance(0);
    for (let i = 0; i < 10; i++) await Promise.resolve();
    expect(begun.map(({ index, atMs }) => [index, atMs])).toEqual([
      [0, 400],
      [1, 400],
      [2, 400],
    ]);
  });

  test('holds back what comes while too many go on, and begins again when there is room', async () => {
    const { begun, measured, advance, dispatcher } = dispatch([0, 100, 200, 300], 2);
    await advance(210);
    expect(measured.map(({ index, fate }) => [index, fate])).toEqual([[2, 'held_back']]);
    begun[0]!.end();
    await advance(100);
    expect(begun.map(({ index }) => index)).toEqual([0, 1, 3]);
    expect(dispatcher.figures).toEqual({ planned: 4, begun: 3, live: 2 });
  });

  test('is over when the last call is', async () => {
    const { begun, measured, advance, run, isOver } = dispatch([0, 10]);
    await advance(20);
    begun[0]!.end();
    await advance(10);
    expect(isOver()).toBe(false);
    begun[1]!.end();
    await run;
    expect(measured.map(({ fate }) => fate)).toEqual(['talked', 'talked']);
  });

  test('begins none after the stop, and waits for those that go on', async () => {
    const { begun, stop, advance, run, dispatcher } = dispatch([0, 100, 200]);
    await advance(110);
    stop.abort();
    await advance(200);
    expect(dispatcher.figures).toEqual({ planned: 2, begun: 2, live: 2 });
    for (const { end } of begun) end();
    await run;
  });
});
