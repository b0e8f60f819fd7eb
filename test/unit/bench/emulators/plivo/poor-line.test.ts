/** A poor line: frames that come late, in their order, and frames that never come. */
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { MediaFaults } from '../../../../../bench/emulators/plivo/media-faults.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

function lineOf(fault: { delayMs: number; jitterMs: number; lossShare: number }, frames: number) {
  const clock = new VirtualClock();
  const came: { message: string; atMs: number }[] = [];
  const socket = {
    readyState: WebSocket.OPEN,
    send: (message: string) => came.push({ message, atMs: clock.nowMs() }),
  } as unknown as WebSocket;
  const faults = new MediaFaults([{ kind: 'poor_line', seed: 1, ...fault }], socket, clock, () => {});
  for (let i = 0; i < frames; i++) {
    faults.deliver(String(i), i * 20);
    clock.advanceMs(20);
  }
  clock.advanceMs(10_000);
  return came;
}

test('frames come late by the delay and up to the jitter more, and in order', () => {
  const came = lineOf({ delayMs: 100, jitterMs: 60, lossShare: 0 }, 500);
  expect(came.map(({ message }) => Number(message))).toEqual(Array.from({ length: 500 }, (_one, i) => i));
  const lateMs = came.map(({ atMs }, i) => atMs - i * 20);
  expect(Math.min(...lateMs)).toBeGreaterThanOrEqual(100);
  expect(Math.max(...lateMs)).toBeLessThan(160);
  expect(Math.max(...lateMs) - Math.min(...lateMs)).toBeGreaterThan(40);
});

test('a share of the frames never comes', () => {
  const came = lineOf({ delayMs: 0, jitterMs: 0, lossShare: 0.1 }, 5_000);
  expect(came.length).toBeGreaterThan(4_400);
  expect(came.length).toBeLessThan(4_600);
});
