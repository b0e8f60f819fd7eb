/** Where the emulated model had no rule, and where a recogniser had no word, a failure says so. */
import { afterAll, expect, it } from 'vitest';
import { heldFrom } from '../../../../bench/agent-test/held-from-entry.ts';
import { shippedCopy, TestFolder } from './run-tests.ts';

const folder = new TestFolder();
afterAll(() => folder.remove());

it('names the turn in which no rule fitted', async () => {
  folder.write('rules.json', { rules: [{ when: { user: 'hello' }, say: 'Hello to you.' }] });
  const file = folder.write('file.json', {
    ...shippedCopy('restaurant.json'),
    model: { emulated: 'rules.json' },
    scenarios: [
      { name: 'a', turns: [{ caller: 'Hello.' }, { caller: 'A table, please.', expect: { contains: 'table' } }] },
    ],
  });
  const { code, out } = await folder.run([file]);
  expect(code).toBe(1);
  const note = 'no rule of rules.json fitted, and the emulated model answered by its "otherwise"';
  expect(out).toContain(`warning: in the caller's turn 2 ${note}`);
  expect(out).not.toContain(`in the caller's turn 1 ${note}`);
});

it('says of digits that were not heard that they are to be words', () => {
  const said = { text: '', interrupting: false, startAtEpochMs: 0, endAtEpochMs: 1, startMs: 0 };
  const entry = { turns: [], warnings: [], endedReason: null, durationSeconds: 1 };
  const warningsOf = (text: string) => heldFrom(entry as never, [{ ...said, text }], [], []).warnings;
  expect(warningsOf('It is order 123.')).toEqual([
    'the caller said "It is order 123." and was heard as ""; an emulated recogniser knows numbers as words alone: write "one two three" for 123',
  ]);
  expect(warningsOf('It is mine.')).toEqual(['the caller said "It is mine." and was heard as ""']);
});
