import { describe, expect, it } from 'vitest';
import { FrameClock } from '../../../../bench/emulators/frame-clock.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

function counting(): { frames: number[]; frame(dueAtMs: number): void } {
  const frames: number[] = [];
  return { frames, frame: (dueAtMs) => void frames.push(dueAtMs) };
}

describe('the frame clock', () => {
  it('gives 500 frames in 10 s, each 20 ms after the one before', () => {
    const clock = new VirtualClock();
    const frames = new FrameClock(clock);
    const session = counting();
    clock.advanceMs(7);
    frames.add(session);
    clock.advanceMs(10_000);
    expect(session.frames).toHaveLength(500);
    expect(session.frames.every((dueAtMs, i) => dueAtMs === 26 + i * 20)).toBe(true);
  });

  it('spreads ten sessions that begin 2 ms apart over ten slots', () => {
    const clock = new VirtualClock();
    const frames = new FrameClock(clock);
    const sessions = Array.from({ length: 10 }, () => {
      clock.advanceMs(2);
      const session = counting();
      frames.add(session);
      return session;
    });
    clock.advanceMs(1_000);
    expect(new Set(sessions.map((session) => session.frames.at(-1)! % 20)).size).toBe(10);
  });

  it('leaves no timer when the last session is gone, and starts again with a new one', () => {
    const clock = new VirtualClock();
    const frames = new FrameClock(clock);
    const remove = frames.add(counting());
    clock.advanceMs(100);
    remove();
    remove();
    expect(clock.pendingTimers).toBe(0);
    const later = counting();
    clock.advanceMs(60_000);
    frames.add(later);
    clock.advanceMs(40);
    expect(later.frames).toHaveLength(2);
  });
});
