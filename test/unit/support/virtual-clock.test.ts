import { expect, test } from 'vitest';
import { VirtualClock } from '../../support/virtual-clock.ts';

test('timers run in order of due time, each at its own time, also those that timers set', () => {
  const clock = new VirtualClock(1_000_000);
  const seen: string[] = [];
  clock.after(30, () => seen.push(`c@${clock.nowMs()}`));
  clock.after(10, () => {
    seen.push(`a@${clock.nowMs()}`);
    clock.after(5, () => seen.push(`b@${clock.nowMs()}`));
  });
  const cancel = clock.after(20, () => seen.push('never'));
  cancel();
  cancel();
  clock.after(31, () => seen.push('later'));

  clock.advanceMs(30);

  expect(seen).toEqual(['a@10', 'b@15', 'c@30']);
  expect(clock.pendingTimers).toBe(1);
  expect(clock.epochMs()).toBe(1_000_030);
});

test('a wall clock that jumps back an hour leaves monotonic time alone', () => {
  const clock = new VirtualClock(5_000_000);
  clock.advanceMs(100);
  clock.setEpochMs(1_400_000);
  clock.advanceMs(50);
  expect(clock.nowMs()).toBe(150);
  expect(clock.epochMs()).toBe(1_400_050);
});
