/** Scenario files that cannot be run are refused before the first call, with the path of each fault and the way out. */
import { afterAll, expect, it } from 'vitest';
import { shipped, shippedCopy, TestFolder } from './run-tests.ts';

const folder = new TestFolder();
afterAll(() => folder.remove());

const refused = async (content: unknown): Promise<string> => {
  const { code, out } = await folder.run([folder.write('file.json', content)]);
  expect(code).toBe(2);
  return out;
};
const dental = (change: object): object => ({ ...shippedCopy('dental.json'), ...change });

it('names each fault of the shape by its path', async () => {
  const out = await refused(
    dental({
      judge: { connection: 'brain' },
      scenarios: [
        {
          name: 'a',
          turns: [
            { caller: 'x', keys: '1', expct: {} },
            { caller: 'y', expect: { matches: '(' } },
          ],
        },
        { name: 'b', turns: [{ caller: 'x', expect: { contains: 5 } }], expect: { agentTurns: 'three' } },
      ],
    }),
  );
  expect(out).toContain('judge.model: is missing');
  expect(out).toContain(
    'scenarios[0].turns[0]: must say one of "caller", "keys", "silentSeconds" and "hangsUp", not 2',
  );
  expect(out).toContain('scenarios[0].turns[0].expct: is no field here; take it out, or correct its spelling');
  expect(out).toContain('scenarios[0].turns[1].expect.matches: is no regular expression');
  expect(out).toContain('scenarios[1].turns[0].expect.contains: must be a text, or a list of texts');
  expect(out).toContain('scenarios[1].expect.agentTurns: must be a number, or { "min": …, "max": … }');
});

it.each([
  ['another version of the schema', dental({ schema: 2 }), /schema: is 2; this version of Parley reads 1/],
  ['no version', { agent: 'x' }, /schema: is missing.*write "schema": 1/],
  ['no JSON', '{', /is not JSON/],
  ['an agent that is not there', dental({ agent: 'nobody.json' }), /nobody\.json cannot be read \(ENOENT\)/],
  ['an agent at fault', dental({ change: { steps: [] } }), /is no agent that could hold a call[\s\S]*steps: /],
  ['a scenario that expects nothing', dental({ scenarios: [{ name: 'a' }] }), /scenarios\[0\]: expects nothing/],
  [
    'two of one name',
    dental({ scenarios: [1, 2].map(() => ({ name: 'a', opening: { contains: 'x' } })) }),
    /scenarios\[1\]\.name: is the name of scenarios\[0\] too/,
  ],
  [
    'a judge that nobody named',
    dental({ scenarios: [{ name: 'a', opening: { judge: 'it is polite' } }] }),
    /"judge" wants a judging model/,
  ],
  [
    'words after the end',
    dental({ scenarios: [{ name: 'a', opening: { contains: 'x' }, turns: [{ hangsUp: true }, { caller: 'x' }] }] }),
    /turns\[1\]: comes after the caller has hung up/,
  ],
  [
    'a tool that the agent lacks',
    dental({ tools: { book: { returns: 1 } } }),
    /tools\.book: the agent has no such tool/,
  ],
  [
    'a tool without an answer',
    { ...shippedCopy('restaurant.json'), tools: {} },
    /tools\.check_table: .*does not say how it is answered/,
  ],
  [
    'an emulated model at fault',
    { ...shippedCopy('restaurant.json'), model: { emulated: { rules: [{ say: '{{who}}' }] } } },
    /model\.emulated: .*rules\[0\].*names \{\{who\}\}/,
  ],
  [
    'models of an environment without keys',
    { ...shippedCopy('restaurant.json'), model: { environment: true } },
    /model\.environment: wants DEEPGRAM_API_KEY/,
  ],
])('%s', async (_what, content, said) => {
  expect(await refused(content)).toMatch(said);
});

it('a file that is not there, and a name that no scenario has', async () => {
  expect(await folder.run(['/nowhere/at/all.json'])).toMatchObject({ code: 2, out: expect.stringContaining('ENOENT') });
  const none = await folder.run([shipped('dental.json')], { only: 'no such' });
  expect([none.code, none.out]).toEqual([2, expect.stringContaining("no scenario has 'no such' in its name")]);
});
