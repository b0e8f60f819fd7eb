import { expect, test } from 'vitest';
import { createInterrupts } from '../../../../bench/load/run/interrupts.ts';

test.each([
  { at: [0], expected: ['0 stop'] },
  { at: [0, 0, 50, 299], expected: ['0 stop'] },
  { at: [0, 300], expected: ['0 stop', '300 at once'] },
  { at: [0, 299, 599, 600], expected: ['0 stop', '599 at once'] },
  { at: [5_000, 5_050, 90_000, 90_050], expected: ['5000 stop', '90000 at once'] },
])('signals at $at ms: $expected', ({ at, expected }) => {
  let nowMs = 0;
  const done: string[] = [];
  const interrupt = createInterrupts({
    nowMs: () => nowMs,
    stop: () => void done.push(`${nowMs} stop`),
    stopAtOnce: () => void done.push(`${nowMs} at once`),
  });
  for (nowMs of at) interrupt();
  expect(done).toEqual(expected);
});
