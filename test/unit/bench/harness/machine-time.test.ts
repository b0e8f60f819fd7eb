import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { readMachineTime } from '../../../../bench/harness/machine-time.ts';

test.skipIf(process.platform !== 'linux')('counts as the kernel does, of all cores and of one of them', () => {
  const before = readMachineTime();
  const [user, nice, system, , , irq, softIrq, steal] = readFileSync('/proc/stat', 'utf8')
    .split('\n')[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const betweenMs = 10 * (user! + nice! + system! + irq! + softIrq! + steal!);
  const after = readMachineTime();
  expect(before.busyMs).toBeLessThanOrEqual(betweenMs);
  expect(after.busyMs).toBeGreaterThanOrEqual(betweenMs);
  expect(after.stealMs).toBeLessThanOrEqual(after.busyMs);
  const first = readMachineTime(0);
  expect(first.totalMs).toBeGreaterThan(0);
  if (availableParallelism() > 1) expect(first.totalMs).toBeLessThan(readMachineTime().totalMs);
});
