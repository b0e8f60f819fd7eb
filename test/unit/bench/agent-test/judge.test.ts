/** The judging model: asked several times, the majority counts, and one that disagrees with itself is told as such. */
import { afterAll, describe, expect, it } from 'vitest';
import { judgeOf, spreadOf } from '../../../../bench/agent-test/judge.ts';
import type { LanguageModel } from '../../../../media/contract/model.ts';
import { shippedCopy, TestFolder } from './run-tests.ts';

const folder = new TestFolder();
afterAll(() => folder.remove());

const YES = '{"holds": true, "why": "it is"}';
const NO = '```json\n{"holds": false, "why": "it is not"}\n```';

/** Answers in turn; null fails. */
function saying(...answers: (string | null)[]): LanguageModel {
  return {
    ask(_request, onChunk) {
      const text = answers.shift() ?? null;
      queueMicrotask(() => {
        if (text === null) {
          onChunk({ type: 'failed', fault: 'throttled', message: 'asked too often' });
          return;
        }
        onChunk({ type: 'text', text });
        onChunk({ type: 'done', stop: 'end', usage: null });
      });
      return () => {};
    },
  };
}

const verdict = (...answers: (string | null)[]) =>
  judgeOf(saying(...answers), answers.length)(['agent: Hi'], 'It is polite.');

describe('a judge', () => {
  it('of one mind', async () => {
    const all = await verdict(YES, YES, YES);
    expect(all).toMatchObject({ yes: 3, no: 0, none: 0, holds: true, why: 'it is' });
    expect(spreadOf(all)).toBeNull();
  });

  it('that disagrees with itself: the majority counts, and the spread is told', async () => {
    const split = await verdict(YES, NO, YES);
    expect(split).toMatchObject({ yes: 2, no: 1, holds: true });
    expect(spreadOf(split)).toBe('the judge disagrees with itself: 2 yes, 1 no');
    expect(await verdict(NO, YES, NO)).toMatchObject({ holds: false, why: 'it is not' });
  });

  it('without a majority of all that was asked could not say', async () => {
    expect(await verdict(YES, NO)).toMatchObject({ holds: null });
    const failing = await verdict(YES, null, 'Certainly!');
    expect(failing).toMatchObject({ yes: 1, none: 2, holds: null });
    expect(spreadOf(failing)).toContain('2 without an answer');
    expect(await verdict(null)).toMatchObject({ holds: null, why: 'the judge failed (throttled): asked too often' });
  });
});

describe('a scenario that a judge decides', () => {
  const run = (say: string) =>
    folder.run([
      folder.write('file.json', {
        ...shippedCopy('dental.json'),
        model: { emulated: { rules: [], otherwise: { say } } },
        judge: { connection: 'any', model: 'judge', asks: 2 },
        scenarios: [{ name: 'one', opening: { contains: 'Hello', judge: 'It is polite.' } }],
      }),
    ]);

  it('passes, fails with the reason, or could not be judged: 0, 1, 3', async () => {
    expect((await run(YES)).code).toBe(0);
    const failed = await run(NO);
    expect([failed.code, failed.out]).toEqual([1, expect.stringContaining('is of one mind: it is not')]);
    const unjudged = await run('Who knows?');
    expect(unjudged.code).toBe(3);
    expect(unjudged.out).toContain('could not be judged');
    expect(unjudged.out).toContain('0 passed, 0 failed, 1 not judged');
  });
});
