/** A target that answers and says nothing has not talked. */
import { expect, test } from 'vitest';
import type { MeasuredCall } from '../../../../bench/load/contract/measured-call.ts';
import { Recorder } from '../../../../bench/load/run/recorder.ts';
import { endOf, plainCall, workloadOf } from '../../../support/load-runs/make-run.ts';

const answered = (changes: Partial<MeasuredCall>): MeasuredCall =>
  plainCall(0, 0, { answeredAtMs: 1_000, endedAtMs: 21_000, endedBy: 'far_end', ...changes });

function recorded(call: MeasuredCall) {
  const recorder = new Recorder(workloadOf(), () => {});
  recorder.measured(call);
  return { bad: recorder.figures.bad, result: recorder.finish({ ...endOf(), limitMs: 10 }) };
}

test('a call in which nothing was heard has failed, and is told as silent', () => {
  const { bad, result } = recorded(answered({}));
  expect(bad).toBe(1);
  expect(result.calls).toMatchObject({ talked: 0, failed: 1, failedBy: { silent: 1 } });
  expect(result.worst[0]?.why).toContain(
    'It failed (silent): it was answered, and nothing was heard of the target in 20 s.',
  );
});

test.each([
  { name: 'one that was heard', changes: { firstWordMs: 0 }, fate: 'talked' },
  { name: 'one that was over before anybody had to speak', changes: { endedAtMs: 5_900 }, fate: 'talked' },
  { name: 'one that broke', changes: { fate: 'lost' }, fate: 'lost' },
  { name: 'one that nobody took', changes: { fate: 'unanswered', answeredAtMs: null }, fate: 'unanswered' },
] as const)('$name keeps its fate', ({ changes, fate }) => {
  expect(recorded(answered(changes)).result.calls).toMatchObject({ [fate]: 1 });
});
