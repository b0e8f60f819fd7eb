import { describe, expect, test } from 'vitest';
import { type CallRoom, CallRoomGauge, type Worker, type WorkLoad } from '../../../../media/io/call-room.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const IDLE: WorkLoad = { busyRatio: 0, lateMs: 0 };

function rig() {
  const clock = new VirtualClock();
  const gauge = new CallRoomGauge(clock);
  const calls = new Set<string>();
  /** For so long, a report each 250 ms; of `load` it is asked anew each time. */
  const pass = (ms: number, load: () => Partial<Record<Worker, WorkLoad>> = () => ({})): CallRoom => {
    let room: CallRoom | null = null;
    for (let at = 0; at < ms; at += 250) {
      clock.advanceMs(250);
      room = gauge.measure(
        { voice: IDLE, recogniser: IDLE, providers: IDLE, pipeline: IDLE, sockets: IDLE, ...load() },
        calls,
      );
    }
    return room!;
  };
  const add = (count: number): void => {
    for (let i = 0; i < count; i++) calls.add(`call-${calls.size}`);
  };
  return { add, calls, pass };
}

describe('how many more calls there is room for', () => {
  test('calls that have just begun count as the load that they will be', () => {
    const { add, pass } = rig();
    const idle = pass(1_000).moreCalls;
    add(40);
    // Nothing is measured of them yet.
    expect(pass(250).moreCalls).toBeLessThanOrEqual(idle - 39);
  });

  test('what calls cost is learned: cheap ones make room, dear ones take it', () => {
    const cheap = rig();
    cheap.add(40);
    const dear = rig();
    dear.add(40);
    // A thousandth, and a hundredth, of the recogniser each.
    const afterCheap = cheap.pass(240_000, () => ({ recogniser: { busyRatio: 0.04, lateMs: 0 } }));
    const afterDear = dear.pass(240_000, () => ({ recogniser: { busyRatio: 0.4, lateMs: 0 } }));
    expect(afterDear.scarce).toBe('recogniser');
    expect(afterDear.carries).toBeGreaterThan(60);
    expect(afterDear.carries).toBeLessThan(90);
    expect(afterDear.moreCalls).toBe(afterDear.carries - 40);
    expect(afterCheap.carries).toBeGreaterThan(3 * afterDear.carries);
  });

  test('what is late admits nobody until it has caught up for a while; a moment is no reason', () => {
    const { add, pass } = rig();
    add(10);
    const late = () => ({ voice: { busyRatio: 0.3, lateMs: 1_000 } });
    expect(pass(250, late).moreCalls).toBeGreaterThan(0);
    expect(pass(3_000, late)).toMatchObject({ moreCalls: 0, scarce: 'voice' });
    expect(pass(500).moreCalls).toBe(0);
    expect(pass(6_000).moreCalls).toBeGreaterThan(0);
  });

  test('threads that speak with providers and are late admit nobody', () => {
    const { add, pass } = rig();
    add(10);
    const late = () => ({ providers: { busyRatio: 0.3, lateMs: 1_000 } });
    expect(pass(3_000, late)).toMatchObject({ moreCalls: 0, scarce: 'providers' });
  });

  test('a machine that is late without calls of ours still takes a few', () => {
    const { add, pass } = rig();
    const starved = () => ({ voice: { busyRatio: 1, lateMs: 5_000 }, pipeline: { busyRatio: 1, lateMs: 900 } });
    expect(pass(10_000, starved).moreCalls).toBe(4);
    add(3);
    expect(pass(1_000, starved).moreCalls).toBe(1);
  });

  test('a call that is over gives its place back', () => {
    const { add, calls, pass } = rig();
    add(30);
    const full = pass(1_000).moreCalls;
    calls.clear();
    expect(pass(1_000).moreCalls).toBeGreaterThan(full + 25);
  });
});
