/** Scenario files that cannot be run are refused before the first call, with the path of each fault and the way out. */
import { writeFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { demoAgent, shipped, shippedCopy, TestFolder } from './run-tests.ts';

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
  ['no JSON', '{\n  "schema": 1,\n  "agent": mia\n}', /is not JSON: line 3, column 12: Unexpected token 'm'\n/],
  ['an end too early', '{\n  "schema": 1,\n', /is not JSON: line 3, column 1: /],
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
    'the use of a tool that the agent lacks',
    dental({ scenarios: [{ name: 'a', turns: [{ caller: 'yes', expect: { tools: [{ name: 'bok' }] } }] }] }),
    /scenarios\[0\]\.turns\[0\]\.expect\.tools\[0\]\.name: 'bok' is no tool of the agent, so it is never used; it has none/,
  ],
  [
    'an end of the call as the use of a tool',
    dental({ scenarios: [{ name: 'a', expect: { tools: [{ name: 'end_call' }] } }] }),
    /scenarios\[0\]\.expect\.tools\[0\]\.name: 'end_call' is no tool .* "endedReason"/,
  ],
  [
    'JSON that is nested without end',
    `{ "schema": 1, "placeholders": ${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)} }`,
    /file\.json is nested deeper than 32 levels/,
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
    /model\.environment: wants OPENAI_API_KEY/,
  ],
])('%s', async (_what, content, said) => {
  expect(await refused(content)).toMatch(said);
});

it.each([
  [[200], 200, /turns\[0\]\.silentSeconds: is 200, and the call is ended after 180 s; .* "timeLimitSeconds": 260/],
  [[100, 90], 190, /turns\[1\]\.silentSeconds: makes 190 s of silence, and the call is ended after 180 s/],
])('silences of %j s, %d in all, which the call does not last', async (silences, _all, said) => {
  const turns = silences.map((silentSeconds) => ({ silentSeconds }));
  const scenario = { name: 'a', turns, expect: { agentTurns: 3 } };
  expect(await refused(dental({ scenarios: [scenario] }))).toMatch(said);
  const longer = folder.write('longer.json', dental({ scenarios: [{ ...scenario, timeLimitSeconds: 300 }] }));
  expect((await folder.run([longer])).code).not.toBe(2);
});

it('a judge by a connection that is not there, whoever thinks', async () => {
  const judge = { connection: 'nope', model: 'judge' };
  const out = await refused({ ...shippedCopy('restaurant.json'), judge });
  expect(out).toContain("judge: there is no connection 'nope' for the model 'judge'; there are: brain");
});

it.each([
  [{ PARLEY_DATA_DIR: '/nowhere/at/all' }, 'No service is running on /nowhere/at/all'],
  [{ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, 'The database cannot be reached (ECONNREFUSED)'],
])('an agent of a database that is not there (%o), beside what else is wrong', async (environment, said) => {
  const agent = { workspace: 'acme', id: '01a20efa-d4c7-7521-87ba-0f2af10d5ca3' };
  const file = folder.write('file.json', dental({ agent, scenarios: [{ name: 'a' }] }));
  const { code, out } = await folder.run([file], {}, environment);
  expect([code, out]).toEqual([2, expect.stringContaining(`agent: ${said}`)]);
  expect(out).toContain('scenarios[0]: expects nothing');
});

it('all of a file at once: its shape, its meaning, and what it names', async () => {
  const out = await refused({
    ...shippedCopy('restaurant.json'),
    judge: { connection: 'nope', model: 'judge' },
    tools: { book: { returns: 1 } },
    scenarios: [
      { name: 'a', opening: { contains: 'x' }, turns: [{ hangsUp: true }, { caller: 'x', expct: {} }] },
      { name: 'a', opening: { contains: 5 } },
      { name: 'b' },
      { name: 'c', timeLimitSeconds: 60, turns: [{ silentSeconds: 61 }], expect: { agentTurns: 1 } },
    ],
  });
  expect(out.split('\n')[0]).toMatch(/ has 10 faults \(docs/);
  for (const path of [
    'scenarios[0].turns[1].expct: is no field here',
    'scenarios[0].turns[1]: comes after the caller has hung up',
    'scenarios[1].opening.contains: must be a text',
    'scenarios[1].name: is the name of scenarios[0] too',
    'scenarios[2]: expects nothing',
    'scenarios[3].turns[0].silentSeconds: is 61',
    'tools.book: the agent has no such tool',
    'tools.check_table: the agent has this tool',
    'tools.book_table: the agent has this tool',
    "judge: there is no connection 'nope'",
  ])
    expect(out).toContain(path);
});

it('all files at once, and no call before', async () => {
  const one = folder.write('one.json', dental({ schema: 2 }));
  const other = folder.write('other.json', dental({ tools: { book: { returns: 1 } } }));
  const { code, out } = await folder.run([shipped('desk.json'), one, other]);
  expect([code, out]).toEqual([2, expect.stringContaining('tools.book: the agent has no such tool')]);
  expect(out).toContain('schema: is 2');
  expect(out).not.toContain('passed');
});

it('both versions are read before the first call of the first', async () => {
  const { code, out } = await folder.run([shipped('dental.json')], { compare: [demoAgent('agent.json'), 'gone.json'] });
  expect([code, out]).toEqual([2, expect.stringContaining('gone.json cannot be read')]);
  expect(out).not.toContain('passed');
});

it('a mark of byte order before a file is no part of it', async () => {
  const file = folder.write('marked.json', {});
  writeFileSync(file, `\uFEFF${JSON.stringify(dental({ schema: 2 }))}`);
  const { code, out } = await folder.run([file]);
  expect([code, out]).toEqual([2, expect.stringContaining('schema: is 2')]);
});

it('a file that is not there, and a name that no scenario has', async () => {
  expect(await folder.run(['/nowhere/at/all.json'])).toMatchObject({ code: 2, out: expect.stringContaining('ENOENT') });
  const none = await folder.run([shipped('dental.json')], { only: 'no such' });
  expect([none.code, none.out]).toEqual([2, expect.stringContaining("no scenario has 'no such' in its name")]);
});
