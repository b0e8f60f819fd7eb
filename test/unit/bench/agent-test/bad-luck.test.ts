/** Calls that never end, agents that hang up early, patterns that run away, results that vary. */
import { afterAll, describe, expect, it } from 'vitest';
import { emptyCall, endlessOf, type HeldCall } from '../../../../bench/agent-test/held-call.ts';
import { junitXml } from '../../../../bench/agent-test/junit.ts';
import { runFile } from '../../../../bench/agent-test/run-scenario.ts';
import type { Scenario } from '../../../../bench/agent-test/scenario-schema.ts';
import type { Subject } from '../../../../bench/agent-test/subject.ts';
import { shippedCopy, TestFolder } from './run-tests.ts';

const folder = new TestFolder();
afterAll(() => folder.remove());

const run = (scenario: object, change: object = {}, name = 'dental.json') =>
  folder.run([
    folder.write('file.json', { ...shippedCopy(name), ...change, scenarios: [{ name: 'one', ...scenario }] }),
  ]);

describe('a call', () => {
  it('that does not end is ended, and says what it was about', async () => {
    const { code, out } = await run({ timeLimitSeconds: 20, expect: { endedReason: 'agent_hangup' } });
    expect(code).toBe(1);
    expect(out).toMatch(
      /it did not end within 20 s and was ended: the agent spoke (once|\d+ times) since it began \(last "[^"]+"\) and did not end the call/,
    );
    expect(out).toContain('the call: ends with agent_hangup: does not hold');
  });

  it('that does not end and in which nothing is said is told so', () => {
    const caller = { who: 'caller' as const, text: 'Hello?', exchange: 1, atMs: 9 };
    const greeting = { who: 'agent' as const, text: 'Hi.', exchange: 0, atMs: 0 };
    expect(endlessOf({ ...emptyCall(), turns: [greeting, caller] }, 1)).toBe(
      "the agent said nothing since the caller's last turn and did not end the call",
    );
    expect(endlessOf({ ...emptyCall(), turns: [greeting] }, 0)).toContain('spoke once since it began (last "Hi.")');
    expect(endlessOf(emptyCall(), 0)).toContain('said nothing since it began');
  });

  it('whose agent talks without end is ended too', async () => {
    const say = Array.from({ length: 60 }, (_none, at) => `Thing ${at * 7} is thus.`).join(' ');
    const emulated = { rules: [], otherwise: { say } };
    const { code, out } = await run(
      { timeLimitSeconds: 30, turns: [{ caller: 'Tell me.', expect: { contains: 'Thing' } }] },
      { model: { emulated }, change: { tools: [] }, tools: {} },
      'restaurant.json',
    );
    expect([code, out]).toEqual([1, expect.stringContaining('was ended: the agent was still speaking')]);
  });

  it('that is over before the caller has said everything names the turn', async () => {
    const turns = [{ caller: 'wrong number' }, { caller: 'yes', expect: { contains: 'insurance' } }];
    const { code, out } = await run({ turns });
    expect(code).toBe(1);
    expect(out).toContain("the call was over (agent_hangup) before the caller's turn 2");
  });

  it('is judged by no pattern that never comes to an end', async () => {
    const { code, out } = await run({ opening: { matches: '^(([a-z ,.]+)+)+[0-9]$' } });
    expect(code).toBe(1);
    expect(out).toMatch(/takes over 500 ms on \d+ characters; write it without nested repeats/);
  });

  it('whose model fails says so beside what did not hold', async () => {
    const emulated = { rules: [], otherwise: { say: 'I am', cut: { afterTokens: 1, by: 'error' } } };
    const { code, out } = await run(
      { turns: [{ caller: 'When are you open?', expect: { contains: 'noon' } }] },
      { model: { emulated }, change: { tools: [] }, tools: {} },
      'restaurant.json',
    );
    expect([code, out]).toEqual([1, expect.stringContaining('warning: a model failed (failed): the answer broke off')]);
  });

  it('whose model uses a tool with arguments that do not fit is told so, as in every call', async () => {
    const emulated = {
      rules: [
        { when: { result: { tool: 'check_table' } }, say: 'That did not work.' },
        { when: { user: 'table' }, call: [{ tool: 'check_table', arguments: { day: 'friday' } }] },
      ],
    };
    const { code, out } = await run(
      { turns: [{ caller: 'A table.', expect: { tools: [{ name: 'check_table', arguments: { people: 'two' } }] } }] },
      { model: { emulated } },
      'restaurant.json',
    );
    expect([code, out]).toEqual([1, expect.stringContaining('check_table({"day":"friday"}) → bad_arguments: ')]);
  });
});

describe('pass rates', () => {
  /** Says yes each second time. */
  const result = async (repeat: number | undefined, minPassRate: number | undefined, own: object = {}) => {
    let held = 0;
    const scenario = { name: 'one & "two"', turns: [], opening: { contains: 'yes' }, timeLimitSeconds: 1, ...own };
    const subject = {
      file: { scenarios: [scenario as unknown as Scenario] },
      about: 'agent.json',
    } as unknown as Subject;
    const call = (): HeldCall => {
      const text = held++ % 2 === 0 ? 'Yes.' : 'No <b>.';
      return { ...emptyCall(), turns: [{ who: 'agent', text, exchange: 0, atMs: 0 }] };
    };
    const options = { repeat, minPassRate, only: undefined, refusal: () => null, hold: async () => call() };
    return (await runFile('a<b>.json', subject, options))[0]!;
  };

  it('are the share of runs that passed, and the command line outranks the file', async () => {
    expect(await result(4, 0.5)).toMatchObject({ passed: 2, outcome: 'passed' });
    expect(await result(4, 0.6)).toMatchObject({ passed: 2, outcome: 'failed' });
    expect(await result(4, undefined)).toMatchObject({ passed: 2, outcome: 'failed' });
    expect(await result(undefined, undefined, { repeat: 2, minPassRate: 0.5 })).toMatchObject({ outcome: 'passed' });
    expect((await result(1, 1, { repeat: 9 })).runs).toHaveLength(1);
  });

  it('stand in JUnit, whatever was said', async () => {
    const xml = junitXml([await result(2, 1)]);
    expect(xml).toContain('classname="a&lt;b&gt;.json" name="one &amp; &quot;two&quot;"');
    expect(xml).toContain('<property name="passRate" value="0.5"/>');
    expect(xml).toContain('<failure message="1 of 2 passed, 100 % wanted">');
    expect(xml).toContain('No &lt;b&gt;.');
  });
});
