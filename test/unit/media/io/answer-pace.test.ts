import { expect, it } from 'vitest';
import { AnswerPace } from '../../../../media/io/answer-pace.ts';

const SECOND = 1_000;
const LIMIT_MS = 30 * SECOND;

/** After how many seconds a client is too slow that has to wait all the time for a piece each second. */
function secondsUntilSlow(bytesASecond: number, pace: AnswerPace): number {
  for (let second = 0; second < 600; second++) {
    pace.bytes += bytesASecond;
    pace.waits(second * SECOND);
    if (pace.isTooSlow((second + 1) * SECOND)) return second + 1;
    pace.taken((second + 1) * SECOND);
  }
  return Number.POSITIVE_INFINITY;
}

it.each([
  [1_024, 33],
  [8 * 1_024, 61],
  [16 * 1_024, Number.POSITIVE_INFINITY],
])('who takes %i bytes a second of an answer is too slow after %d s', (bytesASecond, seconds) =>
  expect(secondsUntilSlow(bytesASecond, new AnswerPace(LIMIT_MS))).toBe(seconds),
);

it('who need not keep up is too slow only with nothing taken for the limit', () => {
  const pace = new AnswerPace(LIMIT_MS);
  pace.mustKeepUp = false;
  expect(secondsUntilSlow(1_024, pace)).toBe(Number.POSITIVE_INFINITY);
  pace.waits(0);
  expect([pace.isTooSlow(LIMIT_MS), pace.isTooSlow(LIMIT_MS + 1)]).toEqual([false, true]);
});

it('who waits for us is never too slow', () => {
  const pace = new AnswerPace(LIMIT_MS);
  pace.waits(0);
  pace.taken(1);
  expect(pace.isTooSlow(1_000 * SECOND)).toBe(false);
});
