/** The scale of fault runs; what the timers do is in `reaper.test.ts` and `observe.test.ts`. */
import { expect, it } from 'vitest';
import { nextDeadline, timersOf } from '../../../src/calls/timers.ts';
import { aCall } from './call-fixture.ts';

const T0 = Date.UTC(2026, 10, 21);

it('without a scale an unknown submission is held for 60 s; a scale of 0.1 makes it 8 s, and lengthens nothing', () => {
  const call = aCall({ status: 'dialing', submission: 'unknown', createdAt: new Date(T0), dialedAt: new Date(T0) });
  expect(timersOf(call)).toEqual([{ kind: 'submission_unknown', atEpochMs: T0 + 60_000 }]);
  expect(timersOf(call, 0.1)).toEqual([{ kind: 'submission_unknown', atEpochMs: T0 + 8_000 }]);
  expect(timersOf(call, 0.5)).toEqual([{ kind: 'submission_unknown', atEpochMs: T0 + 30_000 }]);
  expect(nextDeadline(call, T0, 0.1)).toEqual(new Date(T0 + 8_000));
});
