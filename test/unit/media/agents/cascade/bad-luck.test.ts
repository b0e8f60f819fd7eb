/**
 * Bad input and bad luck of an agent that converses, one case each: it is never silent for long while it owes words,
 * never says two things at once, and comes to an end. What a provider's protocol has to do with it is tested with the
 * emulated providers (`test/integration/providers`).
 */
import { describe, expect, test } from 'vitest';
import { AgentBench, done, fails, lastText, type Model, says, uses } from './agent-bench.ts';

const TICK_MS = 20;
const HELLO = 'Hello Asha, how can I help you?';

function opened(model: Model, change = {}): AgentBench {
  const bench = new AgentBench(model, change);
  bench.settle();
  return bench;
}

/** Runs so long; the longest time without a sound of the agent's, from now on. */
function silenceIn(bench: AgentBench, ms: number): number {
  let longestMs = 0;
  const fromMs = bench.nowMs;
  for (let passedMs = 0; passedMs < ms && bench.ends.length === 0; passedMs += TICK_MS) {
    bench.run(TICK_MS);
    longestMs = Math.max(longestMs, bench.nowMs - Math.max(fromMs, bench.soundAtMs));
  }
  return longestMs;
}

const recoveries = (bench: AgentBench) =>
  bench.actions.flatMap((action) => (action.type === 'recovery' ? [`${action.what} ${action.afterMs}`] : []));

describe('a caller', () => {
  test('who speaks while an answer is asked for, or written, has that one taken back', () => {
    const bench = opened(() => says('Here is a long answer that goes on for a while.', 900));
    bench.hears('one');
    bench.run(400);
    bench.interrupts('two');
    expect(bench.openAsks).toBe(1);
    bench.settle();
    expect(bench.said.filter((text) => text.startsWith('Here is'))).toHaveLength(1);
  });

  test('who cuts a filler off with a noise has the answer that was thought of dropped, and is not left alone', () => {
    const bench = opened(() => says('Here I am.', 5_000));
    bench.hears('where is it');
    bench.runUntil('a filler', () => bench.isSpeaking);
    bench.run(60);
    bench.interrupts(null);
    expect(bench.openAsks).toBe(0);
    bench.hears('well');
    expect(silenceIn(bench, 6_000)).toBeLessThanOrEqual(2_000);
  });

  test('whose words come while something is being said is answered alone: what was being said is not', () => {
    const bench = opened(() => says('That is the answer to it all.'));
    bench.hears('one');
    bench.runUntil('the answer', () => bench.isSpeaking);
    bench.run(100);
    bench.tell({ type: 'heard', atMs: bench.nowMs, text: 'two', how: 'typed' });
    expect(bench.actions.filter(({ type }) => type === 'hush')).toHaveLength(1);
    bench.settle();
    expect(bench.heardTexts.at(-1)).toBe('That is the answer to it all.');
  });

  test('who talks over everything is heard each time, and never answered twice at once', () => {
    const bench = opened(() => says('Let me tell you all about it, from the beginning.'));
    for (let turn = 0; turn < 40; turn++) {
      bench.hears(`word ${turn}`);
      bench.runUntil('an answer', () => bench.isSpeaking);
      bench.run(120);
      bench.interrupts(`no ${turn}`);
      expect(bench.openAsks).toBe(1);
    }
    bench.settle();
    expect(lastText(bench.asks.at(-1)!.request)).toBe('no 39');
    expect(bench.ends).toEqual([]);
  });

  test('who stays silent is asked, and left with a goodbye', () => {
    const bench = opened(() => says('Fine.'));
    bench.runUntil('the end', () => bench.ends.length > 0, 120_000);
    expect(bench.said).toContain('Are you still there?');
    expect(bench.ends).toMatchObject([{ reason: 'inactivity' }]);
  });

  test('whose line plays music is asked and left too, however long it plays', () => {
    const bench = opened(() => says('Fine.'));
    bench.tell({ type: 'caller', atMs: bench.nowMs, speaking: true });
    for (let minutes = 0; minutes < 12 && bench.ends.length === 0; minutes++) {
      bench.run(20_000);
      bench.tell({ type: 'unclear', atMs: bench.nowMs });
      bench.run(40_000);
    }
    expect(bench.ends).toHaveLength(1);
  });

  test('over whose music words are owed hears them after 3 s at the latest', () => {
    const bench = opened(() => says('Here I am.'));
    bench.hears('where is it');
    bench.tell({ type: 'caller', atMs: bench.nowMs, speaking: true });
    expect(silenceIn(bench, 3_900)).toBeLessThanOrEqual(3_500);
    expect(bench.said).toContain('Here I am.');
  });

  test('who mixes two languages has the words as they were said in the question, and the answer as it was written', () => {
    const bench = opened(() => says('Natürlich, one Weißbier it is, très bien.'), { otherLanguages: ['de', 'fr'] });
    bench.hears('Ich hätte gern one beer, s’il vous plaît.');
    bench.settle();
    expect(lastText(bench.asks[0]!.request)).toBe('Ich hätte gern one beer, s’il vous plaît.');
    expect(bench.heardTexts.at(-1)).toBe('Natürlich, one Weißbier it is, très bien.');
    expect(bench.asks[0]!.request.messages[0]).toMatchObject({ text: expect.stringContaining('de, fr') });
  });
});

describe('a recogniser', () => {
  test('whose words come late leaves the agent less time to think in silence', () => {
    const bench = opened(() => says('Here I am.', 3_000));
    bench.tell({ type: 'caller', atMs: bench.nowMs, speaking: true });
    bench.run(500);
    bench.tell({ type: 'caller', atMs: bench.nowMs, speaking: false });
    const endMs = bench.nowMs;
    bench.run(1_400);
    bench.tell({ type: 'heard', atMs: bench.nowMs, text: 'where is it', how: 'spoken' });
    bench.runUntil('a filler', () => bench.isSpeaking);
    expect(bench.nowMs - endMs).toBeLessThanOrEqual(1_500);
  });

  test('for which the call said a word leaves the next one its time', () => {
    const bench = opened(() => says('Here I am.', 3_000));
    const first = bench.agent.wordForWait!();
    bench.tell({ type: 'caller', atMs: bench.nowMs, speaking: true });
    bench.run(500);
    bench.tell({ type: 'caller', atMs: bench.nowMs, speaking: false });
    bench.run(1_900);
    bench.tell({ type: 'heard', atMs: bench.nowMs, text: 'where is it', how: 'spoken' });
    bench.tell({ type: 'filled', atMs: bench.nowMs });
    const filledMs = bench.nowMs;
    bench.runUntil('a filler', () => bench.isSpeaking);
    expect(bench.nowMs - filledMs).toBe(720);
    expect(bench.said.at(-1)).not.toBe(first);
  });

  test('that never gives a final costs a question, not the conversation', () => {
    const bench = opened(() => says('Fine.'));
    for (let turn = 0; turn < 3; turn++) {
      bench.tell({ type: 'unclear', atMs: bench.nowMs });
      expect(silenceIn(bench, 2_000)).toBeLessThanOrEqual(2_000);
    }
    expect(new Set(bench.said.slice(1)).size).toBe(3);
    bench.hears('now you hear me');
    bench.settle();
    expect(bench.said.at(-1)).toBe('Fine.');
  });
});

test('a recogniser that is lost for good: what is being said is left, an apology, and the end', () => {
  const bench = opened(() => says('Here is a long answer that goes on for a while.', 600));
  bench.hears('one');
  bench.run(100);
  bench.tell({ type: 'deaf', atMs: bench.nowMs, error: 'the key was revoked' });
  bench.runUntil('the end', () => bench.ends.length > 0);
  expect(bench.openAsks).toBe(0);
  expect(bench.said.at(-1)).toMatch(/technical problem/);
  expect(bench.ends).toEqual([{ type: 'end', reason: 'stt_error', disposition: null, error: 'the key was revoked' }]);
  expect(recoveries(bench).map((one) => one.split(' ')[0])).toEqual(['apology']);
});

describe('a tool with a time of its own to speak after', () => {
  const slow = [
    { name: 'look', description: 'Looks.', url: 'https://shop.example.com/look', speakAfterMs: 1_500 },
  ] as const;

  test.each([
    ['its own', slow],
    ['no', slow.map(({ speakAfterMs: _, ...tool }) => tool)],
  ])(
    'that never answers, with %s time to speak after: nobody waits in silence for longer than 1.4 s',
    (_what, tools) => {
      const bench = opened((request) => (lastText(request) === 'look' ? uses(['look', {}]) : says('I cannot.')), {
        tools: [...tools],
      });
      bench.tool = () => ({ afterMs: 30_000, answer: { ok: false, code: 'timeout', message: 'none', status: null } });
      bench.tell({ type: 'caller', atMs: bench.nowMs, speaking: true });
      bench.run(1_000);
      bench.tell({ type: 'caller', atMs: bench.nowMs, speaking: false });
      // As it is told: 200 ms after the caller's last sound.
      const lastSoundMs = bench.nowMs - 200;
      bench.run(600);
      bench.tell({ type: 'heard', atMs: bench.nowMs, text: 'look', how: 'spoken' });
      bench.runUntil('a word', () => bench.isSpeaking);
      expect(bench.nowMs - lastSoundMs).toBeLessThanOrEqual(1_420);
      expect(silenceIn(bench, 10_000)).toBeLessThanOrEqual(1_400);
    },
  );
});

test('the sound of the next filler is made before it is wanted', () => {
  const bench = opened(() => says('Here I am.', 3_000));
  const ready = () => bench.actions.flatMap((action) => (action.type === 'ready' ? [action.text] : []));
  expect(ready()).toHaveLength(1);
  bench.hears('hello');
  bench.settle();
  expect(bench.said[1]).toBe(ready()[0]);
  expect(new Set(ready()).size).toBe(ready().length);
});

describe('a model', () => {
  test('that streams nothing: fillers until the other answers, and both are told as recoveries', () => {
    const bench = opened((_request, model) => (model === 0 ? [] : says('Here I am.', 900)));
    bench.hears('hello');
    expect(silenceIn(bench, 4_000)).toBeLessThanOrEqual(4_000);
    expect(bench.said).toContain('Here I am.');
    expect(recoveries(bench)).toEqual(['model_hedge 1200']);
  });

  test('that fails is told as a fallback, and where none is left as an apology', () => {
    const bench = opened(() => fails(100));
    bench.hears('hello');
    bench.settle();
    bench.runUntil('the end', () => bench.ends.length > 0);
    expect(recoveries(bench).map((one) => one.split(' ')[0])).toEqual([
      'model_fallback',
      'model_fallback',
      'model_fallback',
      'apology',
    ]);
    expect(bench.ends[0]!.error).toBe(
      'No language model of the agent answered: primary (big): failed: it broke; backup (small): failed: it broke',
    );
  });

  test('that failed in what nobody wanted yet is a fallback once the other gave the answer that was', () => {
    const bench = opened((_request, model) => (model === 0 ? fails(20, 'refused') : says('Fine.')));
    bench.tell({ type: 'pause', atMs: bench.nowMs, text: 'hello' });
    bench.run(200);
    expect(recoveries(bench)).toEqual([]);
    bench.hears('hello');
    bench.settle();
    expect(bench.said.at(-1)).toBe('Fine.');
    expect(recoveries(bench)).toEqual(['model_fallback 20']);
  });

  test('that refuses as the last of them is no fallback: nothing followed', () => {
    const bench = opened(() => fails(20, 'refused'));
    bench.hears('hello');
    bench.runUntil('the end', () => bench.ends.length > 0);
    expect(recoveries(bench).map((one) => one.split(' ')[0])).toEqual(['model_fallback', 'apology']);
  });

  test('that failed in what nobody wanted yet is no recovery', () => {
    const bench = opened((_request, model) => (model === 0 && bench.asks.length < 2 ? fails(20) : says('Fine.')));
    bench.tell({ type: 'pause', atMs: bench.nowMs, text: 'hello' });
    bench.run(200);
    bench.tell({ type: 'went_on', atMs: bench.nowMs });
    expect(recoveries(bench)).toEqual([]);
  });

  test('that repeats itself for ever is stopped at a sentence', () => {
    const bench = opened(() =>
      Array.from({ length: 400 }, (_, at) => ({
        afterMs: 300 + at * 15,
        chunk: { type: 'text' as const, text: 'And again. ' },
      })),
    );
    bench.hears('tell me');
    bench.settle();
    expect(bench.warnings).toContain('llm_endless');
    expect(bench.openAsks).toBe(0);
    expect(bench.heardTexts.at(-1)!.length).toBeLessThan(200);
  });

  test('that speaks markdown and emoji is spoken without', () => {
    const bench = opened(() => says('## Sure! 😀\n\n- **First**, see [our page](https://example.com)\n- `code` 👍🏽'));
    bench.hears('show me');
    bench.settle();
    const spoken = bench.heardTexts.slice(1).join(' ');
    expect(spoken).toMatch(/Sure.*First.*our page.*code/su);
    expect(spoken).not.toMatch(/[#*`[\]😀]|https/u);
  });

  test('that answers with the reference of another question is not heard', () => {
    const bench = opened(() => says('Fine.', 600));
    bench.hears('one');
    for (const ref of ['ask99', 'memory7', 'ask0']) {
      bench.tell({ type: 'model', atMs: bench.nowMs, ref, chunk: { type: 'text', text: 'Not yours. ' } });
      bench.tell({ type: 'model', atMs: bench.nowMs, ref, chunk: done() });
    }
    bench.settle();
    expect(bench.said).toEqual([HELLO, 'Fine.']);
  });

  test('whose key is revoked in mid-call is not asked again, and its place is taken', () => {
    let isRevoked = false;
    const bench = opened((_request, model) =>
      model === 0 && isRevoked ? fails(30, 'refused') : says(`From ${model}.`),
    );
    bench.hears('one');
    bench.settle();
    isRevoked = true;
    for (const words of ['two', 'three']) {
      bench.hears(words);
      bench.settle();
    }
    expect(bench.said.slice(1)).toEqual(['From zero.', 'From one.', 'From one.']);
    expect(bench.asks.map(({ model }) => model)).toEqual([0, 0, 1, 1]);
  });
});

describe('a tool', () => {
  test('that never answers: words into the silence, then its failure is told to the model', () => {
    const bench = opened((request) =>
      request.messages.at(-1)?.role === 'tool' ? says('I could not find out.') : uses(['lookup_order', {}]),
    );
    bench.tool = () => ({ afterMs: 10 * 60_000, answer: { ok: true, status: 200, result: 'late' } });
    bench.hears('where is it');
    expect(silenceIn(bench, 70_800)).toBeLessThanOrEqual(2_000);
    expect(bench.said).toContain('I could not find out.');
    const result = bench.lastMessages.at(-1);
    expect(result).toMatchObject({ role: 'tool', text: expect.stringContaining('timeout') });
  });

  test('that is unknown, or is given no JSON, has one result each', () => {
    const bench = opened((request) =>
      request.messages.at(-1)?.role === 'tool'
        ? says('Sorry about that.')
        : uses(['launch_rocket', {}], ['lookup_order', '{"order": tues']),
    );
    bench.hears('do it');
    bench.settle();
    const results = bench.lastMessages.filter(({ role }) => role === 'tool');
    expect(results.map((one) => JSON.parse((one as { text: string }).text).error)).toEqual([
      'unknown_tool',
      'bad_arguments',
    ]);
    expect(bench.said.at(-1)).toBe('Sorry about that.');
  });
});
