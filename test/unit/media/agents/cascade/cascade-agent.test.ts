/** What the caller of a conversing agent gets, and what its model is told: a scripted model, a virtual clock. */
import { describe, expect, test } from 'vitest';
import { CUT_MARK } from '../../../../../media/agents/cascade/history.ts';
import { BRIDGE } from '../../../../../media/contract/agent.ts';
import { AgentBench, type Answer, done, fails, lastText, says, uses } from './agent-bench.ts';

const HELLO = 'Hello Asha, how can I help you?';
const opened = (model: (text: string, index: number) => Answer, ...rest: [object?]) => {
  const bench = new AgentBench((request, index) => model(lastText(request), index), ...rest);
  bench.settle();
  return bench;
};

describe('a conversation', () => {
  test('opens with the first message, answers, and tells the model what was heard', () => {
    const bench = opened((text) =>
      says(text === 'Where is my order?' ? 'It comes **tomorrow**. Anything else?' : 'Fine.'),
    );
    expect(bench.said).toEqual([HELLO]);
    bench.hears('Where is my order?');
    bench.settle();
    bench.hears('no');
    bench.settle();
    expect(bench.said).toEqual([HELLO, 'It comes tomorrow. Anything else?', 'Fine.']);
    expect(bench.lastMessages.slice(1)).toEqual([
      { role: 'assistant', text: HELLO },
      { role: 'user', text: 'Where is my order?' },
      { role: 'assistant', text: 'It comes **tomorrow**. Anything else?' },
      { role: 'user', text: 'no' },
    ]);
    expect(bench.lastMessages[0]).toMatchObject({
      role: 'system',
      text: expect.stringContaining('The caller is ⟦Asha⟧'),
    });
  });

  test('greets who gave no name in words of the agent’s own, and never as “Customer” where it has some', () => {
    const greeted = (name: string, script = 'Call {{customer_name | the visitor}} by name.') => {
      const firstMessage = 'Hello {{customer_name | there}}!';
      const bench = new AgentBench(() => says('Yes.'), { firstMessage, script }, undefined, undefined, name);
      bench.settle();
      bench.hears('hello');
      const [system] = bench.lastMessages;
      return [bench.said[0], system?.role === 'system' ? system.text.split('\n')[0] : ''];
    };
    expect(greeted('Customer')).toEqual(['Hello there!', 'Call the visitor by name.']);
    expect(greeted('Asha')).toEqual(['Hello Asha!', 'Call ⟦Asha⟧ by name.']);
    expect(greeted('Customer', 'Call {{customer_name}}.')[1]).toBe('Call ⟦Customer⟧.');
  });

  test('greets in words of its own, or waits for the caller', () => {
    const { firstMessage: _, ...rest } = { firstMessage: undefined as never };
    const own = new AgentBench(() => says('Good morning.'), { ...rest, firstMessage: '' });
    own.settle();
    expect(own.said).toEqual(['Good morning.']);
    const waits = new AgentBench(() => says('Good morning.'), { firstMessage: '', speaksFirst: 'caller' });
    waits.run(2_000);
    expect(waits.said).toEqual([]);
  });

  test('the first clause is on its way while the model still writes', () => {
    const bench = opened(() =>
      says('Well, let me explain, this is a long answer that goes on and on, as you see.', 300, 100),
    );
    bench.hears('Why?');
    bench.run(700);
    expect(bench.said.at(-1)).toBe('Well, let me explain, ');
  });

  test('an interruption leaves only what was heard, with a mark', () => {
    const bench = opened((text) => says(text === 'Tell me.' ? 'One two three four five six seven eight.' : 'Yes.'));
    bench.hears('Tell me.');
    bench.runUntil('speech', () => bench.isSpeaking);
    bench.run(240);
    bench.interrupts('stop it');
    bench.settle();
    expect(bench.lastMessages.at(-2)).toEqual({ role: 'assistant', text: `One two three four ${CUT_MARK}` });
    expect(bench.lastMessages.at(-1)).toEqual({ role: 'user', text: 'stop it' });
    expect(bench.said.at(-1)).toBe('Yes.');
  });

  test('what was never heard is not in the history', () => {
    const bench = opened((text) => says(text === 'a b' ? 'One two.' : 'Yes.'));
    bench.hears('a b');
    bench.runUntil('speech', () => bench.isSpeaking);
    bench.interrupts('c d');
    bench.settle();
    expect(bench.lastMessages.at(-1)).toEqual({ role: 'user', text: 'a b\nc d' });
  });

  test('numbers are spoken in words, and the history keeps what was written of what was heard', () => {
    const bench = opened((text) => says(text === 'How much?' ? 'That is $12.50 for two, today.' : 'Yes.'));
    bench.hears('How much?');
    bench.runUntil('speech', () => bench.isSpeaking);
    bench.run(8 * 60);
    expect(bench.said.at(-1)).toBe('That is twelve dollars and fifty cents for two, today.');
    bench.interrupts('what?');
    bench.settle();
    expect(bench.lastMessages.at(-2)).toMatchObject({ text: `That is $12.50 for ${CUT_MARK}` });
  });
});

describe('thinking ahead', () => {
  test('in a pause the answer is thought of, and told only when the turn is over with the same words', () => {
    const bench = opened(() => says('It is here.'));
    bench.tell({ type: 'pause', atMs: bench.nowMs, text: 'where is it' });
    bench.run(400);
    expect(bench.said).toEqual([HELLO]);
    bench.hears('Where is it?');
    bench.run(40);
    expect(bench.said.at(-1)).toBe('It is here.');
    expect(bench.asks).toHaveLength(1);
  });

  test('when the caller goes on, or says other words, it is dropped', () => {
    const bench = opened(() => says('It is here.'));
    bench.tell({ type: 'pause', atMs: bench.nowMs, text: 'where is' });
    bench.run(100);
    bench.tell({ type: 'went_on', atMs: bench.nowMs });
    expect(bench.openAsks).toBe(0);
    bench.tell({ type: 'pause', atMs: bench.nowMs, text: 'where is my' });
    bench.hears('where is my dog');
    bench.settle();
    expect(bench.asks).toHaveLength(3);
    expect(bench.said).toEqual([HELLO, 'It is here.']);
    expect(bench.lastMessages.at(-1)).toEqual({ role: 'user', text: 'where is my dog' });
  });

  test('what failed ahead is asked for again', () => {
    const bench = opened((_text, model) => (bench.asks.length < 3 ? fails(50) : says(`From ${model}.`)));
    bench.tell({ type: 'pause', atMs: bench.nowMs, text: 'hello' });
    bench.run(300);
    bench.hears('hello');
    bench.settle();
    expect(bench.said.at(-1)).toMatch(/^From/);
  });
});

describe('models that are late or fail', () => {
  test('a filler after 700 ms, no word of it in the history', () => {
    const bench = opened(() => says('Here I am.', 1_100));
    bench.hears('hello?');
    bench.run(680);
    expect(bench.said).toHaveLength(1);
    bench.run(60);
    expect(bench.said.at(-1)).toBe('Let me see.');
    bench.settle();
    expect(bench.said).toEqual([HELLO, 'Let me see.', 'Here I am.']);
    bench.hears('again');
    expect(bench.lastMessages.at(-2)).toEqual({ role: 'assistant', text: 'Here I am.' });
  });

  test('without a first word in 1.2 s the backup is asked too, and the faster one answers', () => {
    const bench = opened((_text, model) => says(model === 0 ? 'Slow.' : 'Fast.', model === 0 ? 3_000 : 300));
    bench.hears('hello?');
    bench.settle();
    expect(bench.asks.map(({ model }) => model)).toEqual([0, 1]);
    expect(bench.asks[1]!.atMs - bench.asks[0]!.atMs).toBe(1_200);
    expect(bench.said.at(-1)).toBe('Fast.');
    expect(bench.said).not.toContain('Slow.');
    expect(bench.warnings).toEqual(['llm_slow']);
    // What is said names whose answer it is, for the latency; a filler is nobody's.
    const sayings = bench.actions.filter((action) => action.type === 'say');
    expect(sayings.at(-1)).toMatchObject({ ref: bench.asks[1]!.ref });
    expect(sayings.slice(0, -1).every(({ ref }) => ref === undefined)).toBe(true);
  });

  test('a fault leads to the backup at once', () => {
    const bench = opened((_text, model) => (model === 0 ? fails(100) : says('Here.')));
    bench.hears('hello?');
    bench.settle();
    expect(bench.said).toEqual([HELLO, 'Here.']);
    expect(bench.warnings).toEqual(['llm_failed']);
  });

  test('a model that refuses is not asked again', () => {
    const bench = opened((_text, model) => (model === 0 ? fails(100, 'refused') : says('Here.')));
    for (const text of ['one', 'two', 'three']) {
      bench.hears(text);
      bench.settle();
    }
    expect(bench.asks.map(({ model }) => model)).toEqual([0, 1, 1, 1]);
  });

  test('when all fail twice: an apology, and the end', () => {
    const bench = opened(() => fails(100));
    bench.hears('hello?');
    bench.runUntil('the end', () => bench.ends.length > 0);
    expect(bench.asks).toHaveLength(4);
    expect(bench.said.at(-1)).toMatch(/technical problem/);
    expect(bench.ends).toMatchObject([{ reason: 'llm_error' }]);
    expect(bench.warnings.at(-1)).toBe('llm_lost');
  });

  test('when nobody ever answers: the same, within 10 s, with words into the silence', () => {
    const bench = opened(() => []);
    bench.hears('hello?');
    bench.runUntil('the end', () => bench.ends.length > 0, 14_000);
    expect(bench.said.length).toBeGreaterThan(4);
    expect(bench.ends).toMatchObject([{ reason: 'llm_error' }]);
  });

  test('an answer that breaks off is gone on with when it was heard', () => {
    const bench = opened((text) =>
      text === 'go'
        ? [{ afterMs: 100, chunk: { type: 'text', text: 'One two three. Four ' } }, ...fails(200)]
        : says('Four five.'),
    );
    bench.hears('go');
    bench.settle();
    expect(bench.said.slice(1)).toEqual(['One two three. ', 'Four five.']);
    expect(lastText(bench.asks.at(-1)!.request)).toContain('broke off');
  });

  test('a model that repeats itself, or never ends, is stopped', () => {
    const endless = opened(() => says('I can help. '.repeat(50)));
    endless.hears('hello?');
    endless.settle();
    expect(endless.said.at(-1)!.match(/help/g)).toHaveLength(2);
    const long = opened(() =>
      says(Array.from({ length: 400 }, (_, at) => `Sentence ${'abcdefghij'[at % 10]}${at}.`).join(' '), 100, 2),
    );
    long.hears('hello?');
    long.settle(60_000);
    expect(long.said.at(-1)!.length).toBeLessThan(3_000);
    expect(long.said.at(-1)).toMatch(/\.\s*$/);
    expect([...endless.warnings, ...long.warnings]).toEqual(['llm_endless', 'llm_endless']);
  });

  test('an answer of emoji alone is none: it says so', () => {
    const bench = opened(() => says('🙂 🙂'));
    bench.hears('hello?');
    bench.settle();
    expect(bench.said.at(-1)).toBe('Sorry, could you put that another way?');
  });
});

describe('tools', () => {
  const order = (text: string): Answer =>
    text.includes('Thursday') ? says('It comes on Thursday.') : uses(['lookup_order', { order: '42' }]);

  test('a use, its result, an answer; a filler of its own meanwhile', () => {
    const bench = opened(order);
    bench.tool = () => ({ afterMs: 2_000, answer: { ok: true, status: 200, result: { day: 'Thursday' } } });
    bench.hears('where is order 42');
    bench.settle();
    expect(bench.said.at(-1)).toBe('It comes on Thursday.');
    expect(bench.said).toHaveLength(3);
    expect(bench.actions.filter(({ type }) => type === 'tool')).toMatchObject([
      { name: 'lookup_order', arguments: { order: '42' } },
    ]);
  });

  test('parallel uses: one question when all results are there', () => {
    const bench = opened((text) =>
      text.includes('Thursday') ? says('Both.') : uses(['lookup_order', {}], ['lookup_order', { order: '2' }]),
    );
    bench.hears('both');
    bench.settle();
    expect(bench.asks).toHaveLength(2);
    expect(bench.lastMessages.filter(({ role }) => role === 'tool')).toHaveLength(2);
  });

  test('what a provider wants to see again with a use goes back with it, under our own id', () => {
    const marked = uses(['lookup_order', { order: '2' }]).map((step) =>
      step.chunk.type === 'use'
        ? { ...step, chunk: { ...step.chunk, use: { ...step.chunk.use, providerMark: 'seal' } } }
        : step,
    );
    const bench = opened((text) => (text.includes('Thursday') ? says('Yes.') : marked));
    bench.hears('where is it');
    bench.settle();
    const used = bench.lastMessages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolUses ?? []) : [],
    );
    expect(used).toMatchObject([{ useId: 'u00000001', name: 'lookup_order', providerMark: 'seal' }]);
  });

  test('an unknown tool and arguments that are no JSON are told to the model', () => {
    const bench = opened((text) =>
      text.includes('error') ? says('Sorry.') : uses(['fly', {}], ['lookup_order', '{"order":']),
    );
    bench.hears('go');
    bench.settle();
    const results = bench.lastMessages.flatMap((message) => (message.role === 'tool' ? [message.text] : []));
    expect(results[0]).toContain('unknown_tool');
    expect(results[1]).toContain('bad_arguments');
    expect(bench.said.at(-1)).toBe('Sorry.');
  });

  test('tools in a loop: after five rounds it must answer in words', () => {
    const bench = new AgentBench((request) =>
      request.toolChoice === 'none' ? says('Enough.') : uses(['lookup_order', {}]),
    );
    bench.settle();
    bench.hears('go');
    bench.runUntil('the answer', () => bench.said.includes('Enough.'), 30_000);
    expect(bench.asks.map(({ request }) => request.toolChoice)).toEqual([
      'auto',
      'auto',
      'auto',
      'auto',
      'auto',
      'none',
    ]);
  });

  test('one that uses tools even then says a word, and waits', () => {
    const bench = opened(() => uses(['lookup_order', {}]));
    bench.hears('go');
    bench.runUntil('a word', () => bench.said.at(-1) === 'Sorry, could you put that another way?', 30_000);
    bench.settle();
    expect(bench.ends).toEqual([]);
  });

  test('who speaks while a tool works is answered without tools, and told the result afterwards', () => {
    const bench = opened((text) =>
      text.includes('results of your tools')
        ? says('It is Thursday.')
        : text === 'hello?'
          ? says('Still looking.')
          : uses(['lookup_order', {}]),
    );
    bench.tool = () => ({ afterMs: 3_000, answer: { ok: true, status: 200, result: 'Thursday' } });
    bench.hears('where');
    bench.run(1_000);
    bench.hears('hello?');
    bench.settle();
    const fillers = ['Let me see.', 'One moment.', 'Just a second.'];
    expect(bench.said.slice(1).filter((text) => !fillers.includes(text))).toEqual([
      'Still looking.',
      'It is Thursday.',
    ]);
    expect(bench.asks.map(({ request }) => request.toolChoice)).toEqual(['auto', 'none', 'auto']);
  });

  test('keys are pressed as sound, and a number is marked for ever', () => {
    const bench = opened(
      (text) => (text === 'menu' ? uses(['send_digits', { digits: '1#' }], ['mark_do_not_call', {}]) : says('Done.')),
      { builtInTools: ['send_digits', 'mark_do_not_call'] },
    );
    bench.hears('menu');
    bench.settle();
    expect(bench.said.slice(1)).toEqual(['[keys 1 #]', 'Done.']);
    expect(bench.actions).toContainEqual({ type: 'step', stepId: 'do_not_call' });
    expect(bench.agent.variables()).toEqual({ do_not_call: 'true' });
  });
});

describe('the end', () => {
  const bye = (text: string): Answer =>
    text === 'that is all'
      ? [{ afterMs: 100, chunk: { type: 'text', text: 'Goodbye then.' } }, ...uses(['end_call', {}])]
      : says('Of course.');

  test('after the goodbye was heard, and a moment for the caller', () => {
    const bench = opened(bye);
    bench.hears('that is all');
    bench.runUntil('the end', () => bench.ends.length > 0);
    expect(bench.said).toEqual([HELLO, 'Goodbye then.']);
    expect(bench.ends).toMatchObject([{ reason: 'agent_hangup', error: null }]);
    expect(bench.nowMs - bench.soundAtMs).toBeGreaterThanOrEqual(500);
  });

  test('a caller who has more to say calls it off', () => {
    const bench = opened(bye);
    bench.hears('that is all');
    bench.runUntil('goodbye', () => bench.isSpeaking);
    bench.run(60);
    bench.interrupts('wait, one more question');
    bench.settle();
    bench.run(5_000);
    expect(bench.ends).toEqual([]);
    expect(bench.said.at(-1)).toBe('Of course.');
  });

  test('one who says goodbye too does not', () => {
    const bench = opened(bye);
    bench.hears('that is all');
    bench.runUntil('goodbye', () => bench.isSpeaking);
    bench.run(60);
    bench.interrupts('okay thanks, bye bye');
    bench.run(2_000);
    expect(bench.ends).toHaveLength(1);
  });

  test('a model that says nothing itself says the farewell of the agent', () => {
    const bench = opened(() => uses(['end_call', {}]), { end: { farewell: 'Take care.' } });
    bench.hears('bye');
    bench.runUntil('the end', () => bench.ends.length > 0);
    expect(bench.said.at(-1)).toBe('Take care.');
  });

  test('a model that ends the call beside other tools hears that their results come first', () => {
    const bench = opened((text) => (text === 'bye' ? uses(['end_call', {}], ['lookup_order', {}]) : says('Here.')));
    bench.hears('bye');
    bench.settle();
    expect(bench.lastMessages.find(({ role }) => role === 'tool')).toMatchObject({
      text: expect.stringContaining('not_now'),
    });
    expect([bench.said.at(-1), bench.ends]).toEqual(['Here.', []]);
  });

  test('a silent caller is asked, and then left', () => {
    const bench = opened(() => says('Fine.'));
    bench.runUntil('the end', () => bench.ends.length > 0, 60_000);
    expect(bench.said.slice(1)).toEqual([
      'Are you still there?',
      'Are you still there?',
      'Are you still there?',
      'Goodbye.',
    ]);
    expect(bench.ends).toMatchObject([{ reason: 'inactivity' }]);
    const prompts = bench.actions.filter((action) => action.type === 'say').slice(1, 4);
    expect(prompts.map((action) => action.isReply)).toEqual([undefined, undefined, undefined]);
  });

  test('a call that costs too much ends with words', () => {
    const bench = opened(() => says('Fine.'), { limits: { tokens: 200 } });
    for (const text of ['one', 'two', 'three']) {
      if (bench.ends.length === 0) bench.hears(text);
      bench.settle();
    }
    bench.run(5_000);
    expect(bench.said.at(-1)).toMatch(/have to end our call/);
    expect(bench.ends).toMatchObject([{ disposition: 'limit_reached' }]);
  });
});

describe('an operator’s whisper', () => {
  const WHISPERED = /^\[An instruction of the operator.*: offer \(them\) a refund\]\n(?:It is broken\.|it is broken)$/;

  test('is in the next question and in no words of the agent’s, and outlives the agent', () => {
    const bench = opened(() => says('Certainly.'));
    expect(bench.agent.instruct?.('offer [them] a refund', bench.nowMs)).toBe(true);
    bench.run(2_000);
    expect(bench.said).toEqual([HELLO]);
    bench.hears('It is broken.');
    expect(bench.lastMessages.at(-1)).toMatchObject({ role: 'user', text: expect.stringMatching(WHISPERED) });
    const next = new AgentBench(() => says('Yes.'), {}, JSON.parse(JSON.stringify(bench.agent.state())));
    next.settle();
    next.hears('Well?');
    expect(JSON.stringify(next.lastMessages)).toContain('offer (them) a refund');
  });

  test('makes nothing of an answer that was thought of before it', () => {
    const bench = opened(() => says('Certainly.'));
    bench.tell({ type: 'pause', atMs: bench.nowMs, text: 'it is broken' });
    bench.agent.instruct?.('offer [them] a refund', bench.nowMs);
    bench.hears('it is broken');
    expect(bench.lastMessages.at(-1)).toMatchObject({ text: expect.stringMatching(WHISPERED) });
  });
});

describe('a call that a person gives back', () => {
  test('goes on at once, with what was said and what the person told it alone', () => {
    const bench = opened((text) => says(text.includes('A colleague took the call') ? 'So, shall I book it?' : 'Fine.'));
    bench.hears('I want a person.');
    bench.settle();
    bench.tell({ type: 'muted', atMs: bench.nowMs, isMuted: true });
    bench.run(2_000);
    bench.tell({ type: 'muted', atMs: bench.nowMs, isMuted: false });
    bench.tell({
      type: 'handed_back',
      atMs: bench.nowMs,
      said: [
        { who: 'person', text: 'this is ann' },
        { who: 'caller', text: 'book [free of charge] for friday' },
      ],
      note: 'she is a regular',
    });
    bench.settle();
    expect(bench.said.at(-1)).toBe('So, shall I book it?');
    const told = lastText(bench.asks.at(-1)!.request);
    expect(told).toContain('Colleague: this is ann\nCaller: book (free of charge) for friday\n');
    expect(told).toContain('tells you alone: she is a regular');
    bench.hears('yes');
    expect(JSON.stringify(bench.lastMessages)).toContain('Colleague: this is ann');
  });
});

describe('after a death', () => {
  const kept = (bench: AgentBench): unknown => JSON.parse(JSON.stringify(bench.agent.state()));

  test('the cut sentence is said again, and nothing before it', () => {
    const bench = opened(() => says('One two three. Four five six. Seven eight.'));
    bench.hears('go');
    bench.runUntil('speech', () => bench.isSpeaking);
    bench.run(5 * 60);
    const next = new AgentBench(() => says('Yes.'), {}, kept(bench), {
      text: 'One two three. Four five six. Seven eight.',
      heardText: 'One two three. Four five',
    });
    next.settle();
    expect(next.said).toEqual([`${BRIDGE} Four five six. Seven eight.`]);
    next.hears('and?');
    expect(next.lastMessages.slice(2)).toEqual([
      { role: 'user', text: 'go' },
      { role: 'assistant', text: 'One two three. Four five six. Seven eight.' },
      { role: 'user', text: 'and?' },
    ]);
  });

  test('an answer that was still being written is gone on with', () => {
    const bench = opened(() => [{ afterMs: 100, chunk: { type: 'text', text: 'One two three. Four five six ' } }]);
    bench.hears('go');
    const state = kept(bench);
    const next = new AgentBench(() => says('Seven.'), {}, state, { text: 'One two three. ', heardText: 'One two' });
    next.settle();
    expect(next.said).toEqual([`${BRIDGE} One two three. `, 'Seven.']);
    expect(lastText(next.asks[0]!.request)).toContain('broke off');
  });

  test('an answer that was owed is given, uses of tools are used again', () => {
    const bench = opened(() => uses(['lookup_order', { order: '42' }]));
    bench.hears('go');
    const owed = new AgentBench(() => says('Here.'), {}, kept(bench));
    owed.settle();
    expect(owed.said).toEqual([`${BRIDGE} Here.`]);
    bench.run(400);
    const working = new AgentBench(() => says('Thursday.'), {}, kept(bench));
    working.settle();
    expect(working.actions.filter(({ type }) => type === 'tool')).toMatchObject([{ name: 'lookup_order' }]);
    expect(working.said.at(-1)).toBe('Thursday.');
  });
});

test('a long history is summarised in the background, and its requests stay within bounds', () => {
  const bench = new AgentBench((request) => {
    const [system] = request.messages;
    const isSummary = system?.role === 'system' && system.text.startsWith('You read');
    return says(isSummary ? 'They spoke of numbers.' : `Answer ${'word '.repeat(60)}.`, 50, 1);
  });
  bench.settle();
  for (let at = 0; at < 120; at++) {
    bench.hears(`question ${at} ${'about things '.repeat(20)}`);
    bench.settle(40_000);
  }
  const chars = JSON.stringify(bench.lastMessages).length;
  expect(chars).toBeLessThan(40_000);
  expect(JSON.stringify(bench.lastMessages)).toContain('They spoke of numbers.');
  expect(JSON.stringify(bench.agent.state()).length).toBeLessThan(60_000);
});

test('the chunk that ends an answer without words counts as a fault of the model', () => {
  const bench = opened((_text, model) => (model === 0 ? [{ afterMs: 50, chunk: done() }] : says('Here.')));
  bench.hears('hello');
  bench.settle();
  expect(bench.said.at(-1)).toBe('Here.');
});
