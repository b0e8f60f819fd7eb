import type { Logger } from 'pino';
import { expect, test } from 'vitest';
import { createDescriptorGuard, type DescriptorUse, readDescriptorUse } from '../../../../media/io/descriptor-guard.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

function createWatched() {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const door: boolean[] = [];
  let use: DescriptorUse | null | Error = { used: 100, limit: 1_000 };
  const say = (_fields: object, text: string): void => void lines.push(text);
  const guard = createDescriptorGuard({
    clock,
    log: { error: say, warn: say } as unknown as Logger,
    read: () => (use instanceof Error ? Promise.reject(use) : Promise.resolve(use)),
    shut: (isShut) => door.push(isShut),
  });
  const see = async (now: typeof use): Promise<void> => {
    use = now;
    await guard.look();
  };
  return { clock, guard, lines, door, see };
}

test('with fewer than 48 left streams are refused and it is said once; from 64 on they are taken again', async () => {
  const { guard, lines, door, see } = createWatched();
  await see({ used: 952, limit: 1_000 });
  expect(guard.isShort).toBe(false);
  await see({ used: 953, limit: 1_000 });
  await see({ used: 960, limit: 1_000 });
  expect(guard.isShort).toBe(true);
  expect(lines).toEqual([expect.stringContaining('file descriptors are running out')]);
  await see({ used: 940, limit: 1_000 });
  expect(guard.isShort).toBe(true);
  await see({ used: 936, limit: 1_000 });
  expect(guard.isShort).toBe(false);
  expect(lines).toHaveLength(2);
  expect(door).toEqual([]);
});

test('with fewer than 16 left, or none to look with, the door is shut; it opens again when 48 are left', async () => {
  const { guard, door, see } = createWatched();
  await see({ used: 985, limit: 1_000 });
  expect(door).toEqual([true]);
  await see(new Error('EMFILE'));
  await see({ used: 970, limit: 1_000 });
  expect(door).toEqual([true]);
  await see({ used: 950, limit: 1_000 });
  expect(door).toEqual([true, false]);
  expect(guard.isShort).toBe(true);
});

test('it looks each second, and ten times as often when fewer than 256 are left; closed, it looks no more', async () => {
  const { clock, guard, see } = createWatched();
  await see({ used: 100, limit: 1_000 });
  expect(clock.pendingTimers).toBe(1);
  clock.advanceMs(999);
  expect(clock.pendingTimers).toBe(1);
  await see({ used: 800, limit: 1_000 });
  clock.advanceMs(100);
  expect(clock.pendingTimers).toBe(0);
  await see(null);
  expect(guard.isShort).toBe(false);
  guard.close();
  expect(clock.pendingTimers).toBe(0);
});

test.runIf(process.platform === 'linux')('this process has descriptors open, and fewer than its limit', async () => {
  const use = (await readDescriptorUse())!;
  expect(use.used).toBeGreaterThan(3);
  expect(use.limit).toBeGreaterThan(use.used);
});
