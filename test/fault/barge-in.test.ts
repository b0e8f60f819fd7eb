/**
 * Callers talk, murmur and cough into the words of a conversing agent, over emulated providers and in real time: a few
 * fixed cases of each kind, both ears. Counts what stopped, not how soon. `npm run fault -- barge-in` is the same with
 * a hundred and more, on clips that no rule was set by.
 */
import { beforeAll, expect, test } from 'vitest';
import { type CaseKind, planCases } from './barge-in/plan.ts';
import { type RunReport, runBargeIn } from './barge-in/run.ts';
import { tallyOf } from './barge-in/table.ts';

const SEED = 5;
const KINDS: readonly CaseKind[] = ['sentence', 'word', 'answer', 'overlap', 'assent', 'cough', 'door', 'music'];
/** Of a plan, one of each kind with either ear in turn. */
const cases = KINDS.map(
  (kind, at) =>
    planCases('tuning', 60, SEED).find(
      (one) => one.kind === kind && one.ear === (at % 2 === 0 ? 'deepgram' : 'deepgram-flux'),
    )!,
);
let report: RunReport;

beforeAll(async () => {
  report = await runBargeIn({ set: 'tuning', cases, atOnce: 2, told() {}, log() {} });
}, 300_000);

test('every call was held', () => {
  expect(report.faults).toEqual([]);
  expect(report.verdicts.map(({ one }) => one.kind).sort()).toEqual([...KINDS].sort());
});

test('words stop the agent, for good; assent and noises do not; nothing of the old words is heard after', () => {
  const wrong = report.verdicts.filter(({ isRight }) => !isRight);
  expect(wrong.map(({ one, outcome, heard }) => `${one.id} (${one.says}): ${outcome} [${heard}]`)).toEqual([]);
  expect(tallyOf(report.verdicts)).toMatchObject({ stoppedShare: 1, falseStopShare: 0, staleFrames: 0, stuck: 0 });
});
