/**
 * Tools in a conversation on the virtual clock: what the agent says while one is at work, and
 * that each use has exactly one result.
 */
import { afterEach, describe, expect, test } from 'vitest';
import type { ConversationEvent } from '../../../../media/contract/conversation.ts';
import type { FromPipeline } from '../../../../media/contract/thread-messages.ts';
import { type ToolAnswer, toolFailed } from '../../../../media/contract/tools.ts';
import { type FakeCall, fakeCall } from '../../../support/fakes/fake-call.ts';
import { orderAgent } from '../../../support/order-agent.ts';

let call: FakeCall;
afterEach(() => call.close());

const FOUND: ToolAnswer = { ok: true, status: 200, result: { order: { day: 'Thursday' } } };

type Asked = Extract<FromPipeline, { type: 'call.tool' }>;
const asked = (of = call): Asked[] => of.sent.flatMap((one) => (one.type === 'call.tool' ? [one] : []));
const ends = (): Extract<ConversationEvent, { type: 'tool'; phase: 'end' }>[] =>
  call.conversationEvents.flatMap((event) => (event.type === 'tool' && event.phase === 'end' ? [event] : []));
const answer = (given: ToolAnswer = FOUND): void =>
  call.registry.command('call-1', { type: 'tool.answer', toolCallId: asked().at(-1)!.ask.toolCallId, answer: given });

/** To where the caller has said the order number and the tool is asked. */
async function untilAsked(options: Parameters<typeof fakeCall>[0] = {}): Promise<void> {
  call = await fakeCall({ agent: orderAgent({ voice: 'fake' }), ...options });
  call.start();
  await call.agentFinishes('What is your order number?');
  call.ear.turns = [{ partials: [{ afterMs: 600, text: 'four two' }], final: { text: 'four two' } }];
  await call.say(800);
  await call.runUntil('the tool', () => asked().length > 0);
}

/**
 * The longest time in which neither the agent nor the caller is heard, from `fromMs` to `untilMs`; the fake far end
 * plays 60 ms behind.
 */
function longestSilenceMs(fromMs: number, untilMs: number): number {
  const sounds = call.turns
    .map(({ startMs, endMs }) => ({ startMs, endMs }))
    .filter(({ endMs }) => endMs > fromMs)
    .sort((a, b) => a.startMs - b.startMs);
  let quietSinceMs = fromMs;
  let longest = 0;
  for (const { startMs, endMs } of sounds) {
    longest = Math.max(longest, Math.min(startMs, untilMs) - quietSinceMs);
    quietSinceMs = Math.max(quietSinceMs, endMs);
  }
  return Math.max(longest, untilMs - quietSinceMs);
}

describe('a tool step', () => {
  test('asks with what was heard, says its `saying` at once, and speaks the answer by a variable', async () => {
    await untilAsked();
    const [{ ask, atPage, timeoutMs }] = asked() as [Asked];
    expect(ask).toMatchObject({ name: 'lookup_order', arguments: { order: '42' } });
    expect(ask.toolCallId).toMatch(/^tc_[A-Za-z0-9]+_1_[0-9a-f]{8}$/);
    expect({ atPage, timeoutMs }).toEqual({ atPage: false, timeoutMs: 10_000 });
    expect(ask.expiresAtEpochMs).toBe(call.clock.epochMs() + 10_000);
    // Before the request left, whoever goes on after a death was told of it.
    const order = call.sent.map((one) => one.type).filter((type) => type === 'call.tool' || type === 'call.checkpoint');
    expect(order.slice(-2)).toEqual(['call.checkpoint', 'call.tool']);
    expect(call.checkpoints.at(-1)).toMatchObject({
      agent: { state: { stepId: 'lookup' } },
      tools: { begun: 1, waiting: true },
    });
    await call.run(200);
    answer();
    await call.agentFinishes('Order 42 arrives on Thursday. Anything else?');
    expect(call.story().slice(2)).toEqual([
      'user: four two',
      'agent: Let me see.',
      'agent: Order 42 arrives on Thursday. Anything else?',
    ]);
    expect(ends()).toMatchObject([{ name: 'lookup_order', outcome: 'ok', code: null, status: 200, ms: 200 }]);
    await call.run(20);
    expect(call.checkpoints.at(-1)).toMatchObject({
      agent: { state: { stepId: 'tell' } },
      tools: { begun: 1, waiting: false },
    });
  });

  test('placeholders of the result itself: `tool.NAME.result`, its fields and its status', async () => {
    const agent = orderAgent({ voice: 'fake' }, { responseVariables: {} });
    agent.steps[2]!.say =
      'It is {{tool.lookup_order.result.state}}, with {{tool.lookup_order.status}}. {{tool.lookup_order.error | fine}}';
    await untilAsked({ agent });
    answer({ ok: true, status: 201, result: { result: { state: 'on its way', lines: [1] } } });
    await call.agentFinishes('It is on its way, with 201. fine');
  });

  test('a value that holds braces is said as it is, and NUL characters are taken out', async () => {
    await untilAsked();
    answer({ ok: true, status: 200, result: { order: { day: '{{order}}\u0000 \ud800Friday' } } });
    await call.agentFinishes('Order 42 arrives on {{order}} Friday. Anything else?');
  });
});

describe('while it is at work', () => {
  test('a tool that never answers: no silence of 2 s for 10 s, then a sentence about it, and one result `timeout`', async () => {
    await untilAsked();
    const askedAtMs = call.leg.nowMs;
    await call.agentFinishes('I can not see your order right now.');
    const failedAtMs = ends()[0]!.atMs;
    expect(failedAtMs - askedAtMs).toBeGreaterThanOrEqual(10_000);
    expect(failedAtMs - askedAtMs).toBeLessThanOrEqual(10_540);
    expect(ends()).toMatchObject([{ outcome: 'failed', code: 'timeout' }]);
    const user = call.turns.find((turn) => turn.role === 'user')!;
    const sorry = call.turns.find((turn) => turn.text.startsWith('I can not see'))!;
    expect(longestSilenceMs(user.endMs, sorry.startMs)).toBeLessThanOrEqual(2_000);
    expect(sorry.startMs - failedAtMs).toBeLessThanOrEqual(1_500);
    const fillers = call.story().filter((line) => /moment|still looking|waiting/.test(line));
    expect(fillers.length).toBeGreaterThanOrEqual(3);
    expect(call.sent.filter((one) => one.type === 'call.tool.cancel')).toHaveLength(1);
    // What comes later is dropped.
    answer();
    await call.agentFinishes('Goodbye.');
    expect(ends()).toHaveLength(1);
  });

  test('its own lines, in turn, after its own time; without `saying` it counts from the caller’s last sound, yet 300 ms belong to the tool', async () => {
    const agent = orderAgent(
      { voice: 'fake' },
      { speakDuring: ['Looking for {{order}}.', 'Nearly there.'], speakAfterMs: 600 },
    );
    delete agent.steps[1]!.tool!.saying;
    await untilAsked({ agent });
    const askedAtMs = call.leg.nowMs;
    await call.agentFinishes('Looking for 42.');
    const first = call.turns.at(-1)!;
    expect(first.startMs - askedAtMs).toBeGreaterThanOrEqual(300);
    expect(first.startMs - askedAtMs).toBeLessThanOrEqual(500);
    await call.agentFinishes('Nearly there.');
    const second = call.turns.at(-1)!;
    expect(second.startMs - first.endMs).toBeGreaterThanOrEqual(1_300);
    expect(second.startMs - first.endMs).toBeLessThanOrEqual(1_600);
    answer();
    await call.agentFinishes('Order 42 arrives on Thursday. Anything else?');
    // Said once the filler was over, if one had begun: never over it.
    expect(call.turns.every((turn) => !turn.interrupted)).toBe(true);
  });

  test('an answer within 300 ms is not kept waiting by a filler, though the caller has been silent for 1.2 s already', async () => {
    const agent = orderAgent({ voice: 'fake' });
    delete agent.steps[1]!.tool!.saying;
    await untilAsked({ agent });
    const askedAtMs = call.leg.nowMs;
    await call.run(200);
    answer();
    await call.agentStarts();
    expect(call.leg.nowMs - askedAtMs).toBeLessThanOrEqual(380);
    const latency = call.conversationEvents.findLast((event) => event.type === 'latency');
    expect(latency).toMatchObject({ latency: { turnId: 't4' } });
  });

  test('no idle prompt and no inactivity: 30 s of a slow tool are not the caller’s silence', async () => {
    await untilAsked({ agent: orderAgent({ voice: 'fake' }, { timeoutMs: 40_000 }) });
    await call.run(35_000);
    expect(call.ends).toEqual([]);
    expect(call.story().join()).not.toContain('still there');
    answer();
    await call.agentFinishes('Order 42 arrives on Thursday. Anything else?');
  });

  test('the caller who talks on is written down, and the result waits until they have finished', async () => {
    await untilAsked();
    await call.agentFinishes('Let me see.');
    call.ear.turns = [{ partials: [{ afterMs: 700, text: 'no thank you' }], final: { text: 'no thank you' } }];
    call.leg.callerSpeaks = true;
    await call.run(600);
    answer();
    await call.run(600);
    const spokenUntilMs = call.leg.nowMs;
    call.leg.callerSpeaks = false;
    await call.agentFinishes('Order 42 arrives on Thursday. Anything else?');
    expect(call.story().slice(-2)).toEqual([
      'user: no thank you',
      'agent: Order 42 arrives on Thursday. Anything else?',
    ]);
    expect(call.turns.at(-1)!.startMs).toBeGreaterThanOrEqual(spokenUntilMs);
    expect(call.bargeIns()).toEqual([]);
  });

  test('a filler can be interrupted: it stops, the words are written down, and the answer comes all the same', async () => {
    const agent = orderAgent(
      { voice: 'fake' },
      { speakDuring: ['One moment please while I am looking for your order.'] },
    );
    await untilAsked({ agent });
    await call.agentFinishes('Let me see.');
    await call.agentStarts();
    call.ear.turns = [{ partials: [{ afterMs: 650, text: 'stop' }], final: { text: 'stop' } }];
    await call.run(300);
    await call.say(500);
    await call.runUntil('the cut', () => call.bargeIns().includes('commit'));
    await call.run(400);
    expect(ends()).toEqual([]);
    answer();
    await call.agentFinishes('Order 42 arrives on Thursday. Anything else?');
    expect(call.story().filter((line) => line.includes('[cut]'))).toHaveLength(1);
    expect(call.story()).toContain('user (unclear): stop');
    expect(call.story().join()).not.toContain('did not get that');
  });

  test('an operator’s text is said meanwhile, and the result after it', async () => {
    await untilAsked();
    await call.agentFinishes('Let me see.');
    const action = { type: 'say', text: 'A colleague listens in now.', interrupt: false } as const;
    call.registry.command('call-1', { type: 'control', controlId: 'c', action });
    await call.run(200);
    answer();
    await call.agentFinishes('Order 42 arrives on Thursday. Anything else?');
    expect(call.story().slice(-2)).toEqual([
      'agent: A colleague listens in now.',
      'agent: Order 42 arrives on Thursday. Anything else?',
    ]);
  });

  test('time stands still for a tool while a web session is away', async () => {
    await untilAsked();
    await call.agentFinishes('Let me see.');
    call.registry.command('call-1', { type: 'hold', held: true });
    answer();
    await call.run(3_000);
    expect(call.turns.at(-1)!.text).toBe('Let me see.');
    call.registry.command('call-1', { type: 'hold', held: false });
    await call.agentFinishes('Order 42 arrives on Thursday. Anything else?');
  });
});

describe('exactly one result', () => {
  test('the caller hangs up: the request is called off, and its result is that it was', async () => {
    await untilAsked();
    const { toolCallId } = asked()[0]!.ask;
    call.registry.stop('call-1');
    expect(call.sent).toContainEqual({ type: 'call.tool.cancel', callUuid: 'call-1', toolCallId });
    expect(ends()).toMatchObject([{ toolCallId, outcome: 'cancelled', code: 'cancelled' }]);
    answer();
    expect(ends()).toHaveLength(1);
  });

  test('an answer that comes twice, or of another use, counts once', async () => {
    await untilAsked();
    call.registry.command('call-1', { type: 'tool.answer', toolCallId: 'tc_other', answer: FOUND });
    expect(ends()).toEqual([]);
    answer();
    answer(toolFailed('timeout', 'late'));
    await call.agentFinishes('Order 42 arrives on Thursday. Anything else?');
    expect(ends()).toHaveLength(1);
  });

  test.each([
    ['a tool that the agent does not have', { tools: [] }, 'unknown_tool'],
    ['a tool of a page, on the telephone', { tools: [{ kind: 'client', name: 'lookup_order' }] }, 'unsupported'],
  ] as const)('%s fails at once, and is spoken of', async (_what, change, code) => {
    const agent = orderAgent({ voice: 'fake', ...(change as object) });
    call = await fakeCall({ agent });
    call.start();
    await call.agentFinishes('What is your order number?');
    call.ear.turns = [{ final: { text: 'four two' } }];
    await call.say(800);
    await call.agentFinishes('I can not see your order right now.');
    expect(asked()).toEqual([]);
    expect(ends()).toMatchObject([{ outcome: 'failed', code }]);
  });

  test('without `onError` the agent says that it is sorry and goes to the fallback', async () => {
    const agent = orderAgent({ voice: 'fake' });
    delete agent.steps[1]!.tool!.onError;
    await untilAsked({ agent: { ...agent, steps: agent.steps.filter(({ id }) => id !== 'sorry') } });
    answer(toolFailed('redirected', 'It answered 302.', 302));
    const saidAtMs = call.leg.nowMs;
    await call.agentFinishes('I am sorry, I can not look that up right now. Goodbye.');
    // `saying` may be said to its end.
    expect(call.turns.at(-1)!.startMs - saidAtMs).toBeLessThanOrEqual(2_000);
  });

  test('what the settings say about a failure is said, in turn, before the step that follows', async () => {
    const agent = orderAgent({ voice: 'fake' }, { speakOnError: ['Our system is slow today.'] });
    await untilAsked({ agent });
    answer(toolFailed('http_error', 'It answered 500.', 500));
    await call.agentFinishes('Our system is slow today. I can not see your order right now.');
  });

  test('variables of an earlier success do not outlive a failure', async () => {
    const agent = orderAgent({ voice: 'fake' });
    agent.steps[3] = {
      id: 'sorry',
      say: 'Day {{day | unknown}}, {{tool.lookup_order.error}}.',
      expect: 'none',
      goto: 'bye',
    };
    await untilAsked({ agent });
    answer();
    await call.agentFinishes('Order 42 arrives on Thursday. Anything else?');
    call.ear.turns = [{ final: { text: 'yes' } }, { final: { text: 'seven' } }];
    await call.say(400);
    await call.runUntil('the question', () => call.turns.filter(({ text }) => text.startsWith('What is')).length === 2);
    await call.say(600);
    await call.runUntil('the second ask', () => asked().length === 2);
    expect(asked()[1]!.ask).toMatchObject({ arguments: { order: '7' } });
    answer(toolFailed('failed', 'No.'));
    await call.agentFinishes('Day unknown, failed.');
  });
});

describe('a thread that goes on for a dead one', () => {
  test('asks for the same use under the same id, and speaks its answer', async () => {
    await untilAsked();
    const first = asked()[0]!.ask;
    const checkpoint = call.checkpoints.at(-1)!;
    call.close();
    call = await fakeCall({ agent: orderAgent({ voice: 'fake' }), checkpoint });
    call.start();
    expect(asked().map(({ ask }) => [ask.toolCallId, ask.arguments])).toEqual([[first.toolCallId, first.arguments]]);
    answer();
    await call.agentFinishes('Order 42 arrives on Thursday. Anything else?');
    expect(call.story()[0]).toBe('agent: Sorry, I lost you for a moment. Let me see.');
  });

  test('from an older checkpoint, another number is another use: a stored answer of the first is not taken for it', async () => {
    await untilAsked();
    const stands = (stepId: string) => expect.objectContaining({ stepId });
    const before = call.checkpoints.find(({ agent }) => stands('number').asymmetricMatch(agent?.state))!;
    const first = asked()[0]!.ask.toolCallId;
    call.close();
    call = await fakeCall({ agent: orderAgent({ voice: 'fake' }), checkpoint: before });
    call.start();
    await call.agentFinishes('Sorry, I lost you for a moment. What is your order number?');
    call.ear.turns = [{ final: { text: 'seven' } }];
    await call.say(600);
    await call.runUntil('the tool', () => asked().length > 0);
    expect(asked()[0]!.ask.toolCallId).not.toBe(first);
  });
});
