import { describe, expect, test } from 'vitest';
import { FrameClock, type FrameClockClient } from '../../../../media/io/frame-clock.ts';
import { LatenessHistogram } from '../../../../media/io/lateness-histogram.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

class Client implements FrameClockClient {
  readonly servedAtMs: number[] = [];
  service(nowMs: number): void {
    this.servedAtMs.push(nowMs);
  }
  failed(error: unknown): void {
    throw error;
  }
}

function make() {
  const clock = new VirtualClock();
  const ticksAtMs: number[] = [];
  const frameClock = new FrameClock({
    clock,
    afterTick: (nowMs) => ticksAtMs.push(nowMs),
  });
  return { clock, frameClock, ticksAtMs };
}

/** A virtual clock whose timers fire late: the event loop was busy until `untilMs`. */
class StallingClock extends VirtualClock {
  #stallUntilMs = 0;
  stallMs(forMs: number): void {
    this.#stallUntilMs = this.nowMs() + forMs;
  }
  override after(afterMs: number, run: () => void): () => void {
    const waitMs = Math.max(afterMs, this.#stallUntilMs - this.nowMs());
    return super.after(waitMs, run);
  }
}

describe('the frame clock', () => {
  test('serves each of 25 clients exactly 50 times a second for a minute, 5 in each 4 ms slot', () => {
    const { clock, frameClock } = make();
    const clients = Array.from({ length: 25 }, () => new Client());
    for (const client of clients) frameClock.add(client);
    clock.advanceMs(60_000);
    for (const client of clients) {
      expect(client.servedAtMs.length).toBe(3000);
      for (let i = 1; i < 3000; i++) expect(client.servedAtMs[i]! - client.servedAtMs[i - 1]!).toBe(20);
    }
    const phases = new Map<number, number>();
    for (const client of clients) {
      const phase = client.servedAtMs[0]! % 20;
      phases.set(phase, (phases.get(phase) ?? 0) + 1);
    }
    expect([...phases.values()]).toEqual([5, 5, 5, 5, 5]);
    expect(frameClock.skippedTicks).toBe(0);
  });

  test('after a stall of 500 ms serves each client once, skips 120 ticks, and keeps its phase', () => {
    const clock = new StallingClock();
    const client = new Client();
    const frameClock = new FrameClock({ clock, afterTick: () => {} });
    frameClock.add(client);
    clock.advanceMs(100);
    const phase = client.servedAtMs[0]! % 20;
    const before = client.servedAtMs.length;
    clock.stallMs(500);
    clock.advanceMs(501);
    // The timer that was already set fires on time; the next one is the one that the stall holds back.
    const within = client.servedAtMs.slice(before);
    expect(within.filter((atMs) => atMs >= 599).length).toBe(1);
    expect(frameClock.skippedTicks).toBeGreaterThanOrEqual(118);
    expect(frameClock.skippedTicks).toBeLessThanOrEqual(121);
    clock.advanceMs(1000);
    const after = client.servedAtMs.filter((atMs) => atMs > 620);
    for (const atMs of after) expect(atMs % 20).toBe(phase);
    expect(frameClock.lateness.maxMs).toBeGreaterThan(490);
  });

  test('a timer that comes up to 1 ms early serves its tick, and none is set for the rest of it', () => {
    let timers = 0;
    class EarlyClock extends VirtualClock {
      override after(afterMs: number, run: () => void): () => void {
        timers++;
        return super.after(Math.max(0, afterMs - 0.9), run);
      }
    }
    const clock = new EarlyClock();
    const client = new Client();
    const frameClock = new FrameClock({ clock, afterTick: () => {} });
    frameClock.add(client);
    clock.advanceMs(2_000);
    expect(client.servedAtMs.length).toBe(100);
    expect(timers).toBe(501);
    expect(frameClock.lateness.maxMs).toBe(0);
  });

  test('a client that asks is served once more at the first tick from then on, if that is before its slot', () => {
    const { clock, frameClock } = make();
    const servedAtMs: number[] = [];
    let askForMs = 7;
    const client: FrameClockClient = {
      service: (nowMs) => {
        servedAtMs.push(nowMs);
        if (askForMs > 0) frameClock.again(client, nowMs + askForMs);
        askForMs = 0;
      },
      failed: () => {},
    };
    frameClock.add(client);
    clock.advanceMs(20);
    const firstMs = servedAtMs[0]!;
    clock.advanceMs(30);
    expect(servedAtMs.slice(0, 3)).toEqual([firstMs, firstMs + 8, firstMs + 20]);
    askForMs = 25;
    clock.advanceMs(60);
    for (let i = 3; i < servedAtMs.length; i++) expect(servedAtMs[i]! - servedAtMs[i - 1]!).toBe(20);
  });

  test('a client that throws is reported and the others are served', () => {
    const { clock, frameClock } = make();
    const failures: unknown[] = [];
    const good = Array.from({ length: 20 }, () => new Client());
    frameClock.add({
      service: () => {
        throw new Error('boom');
      },
      failed: (error) => failures.push(error),
    });
    for (const one of good) frameClock.add(one);
    clock.advanceMs(40);
    expect(failures.length).toBe(2);
    for (const one of good) expect(one.servedAtMs.length).toBe(2);
  });

  test('a client may remove itself and others while it is served', () => {
    const { clock, frameClock } = make();
    const others = Array.from({ length: 19 }, () => new Client());
    const leaver: FrameClockClient = {
      service: () => {
        frameClock.remove(leaver);
        frameClock.remove(others[9]!);
      },
      failed: () => {},
    };
    frameClock.add(leaver);
    for (const one of others) frameClock.add(one);
    clock.advanceMs(100);
    expect(frameClock.clients).toBe(18);
    expect(others[8]!.servedAtMs.length).toBe(5);
  });

  test('without clients no timer runs; the last one to leave stops it', () => {
    const { clock, frameClock } = make();
    expect(clock.pendingTimers).toBe(0);
    const client = new Client();
    frameClock.add(client);
    clock.advanceMs(30);
    expect(clock.pendingTimers).toBe(1);
    frameClock.remove(client);
    frameClock.remove(client);
    clock.advanceMs(10);
    expect(clock.pendingTimers).toBe(0);
    frameClock.add(client);
    const before = client.servedAtMs.length;
    clock.advanceMs(20);
    expect(client.servedAtMs.length).toBe(before + 1);
  });

  test('afterTick runs once a wake-up, not once a client', () => {
    const { clock, frameClock, ticksAtMs } = make();
    for (let i = 0; i < 100; i++) frameClock.add(new Client());
    clock.advanceMs(20);
    expect(ticksAtMs).toEqual([4, 8, 12, 16, 20]);
  });
});

test('the histogram counts into the bucket whose bound is not below, and names percentiles by bound', () => {
  const histogram = new LatenessHistogram();
  expect(histogram.percentileMs(0.99)).toBe(0);
  for (let i = 0; i < 98; i++) histogram.add(0.2);
  histogram.add(4);
  histogram.add(1234);
  expect(histogram.percentileMs(0.5)).toBe(0.25);
  expect(histogram.percentileMs(0.99)).toBe(5);
  expect(histogram.percentileMs(1)).toBe(1234);
  histogram.add(5);
  expect(Array.from(histogram.counts)).toEqual([98, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1]);
});
