import { afterEach, describe, expect, test } from 'vitest';
import { BRIDGE } from '../../../../media/contract/agent.ts';
import { CONTROL_DONE, type ControlAction } from '../../../../media/contract/operator-control.ts';
import { type FakeCall, fakeCall } from '../../../support/fakes/fake-call.ts';

let call: FakeCall;
afterEach(() => call.close());

const GREETING = 'Hello Asha, this is the dental office.';
const QUESTION = 'Can you come on tuesday at three?';
const NOTE = 'One moment please.';

async function started(): Promise<void> {
  call = await fakeCall();
  call.start();
}

const control = (action: ControlAction, callUuid = 'call-1') => {
  call.registry.command(callUuid, { type: 'control', controlId: 'c', action });
  const answer = call.sent.filter((message) => message.type === 'call.controlled').at(-1);
  expect(answer).toMatchObject({ callUuid, controlId: 'c' });
  return answer?.type === 'call.controlled' ? answer.outcome : null;
};
const ask = (text: string, interrupt = false) => control({ type: 'say', text, interrupt });
const yes = { partials: [{ afterMs: 600, text: 'yes' }], final: { text: 'yes' } };

describe('saying what an operator asks for', () => {
  test('waits for the end of what is being said, and the conversation goes on where it was', async () => {
    await started();
    call.ear.turns = [yes];
    await call.run(300);
    expect(ask(NOTE)).toEqual(CONTROL_DONE);
    expect(ask('Here I am again.')).toEqual(CONTROL_DONE);
    await call.agentFinishes(QUESTION);
    await call.say(600);
    await call.agentFinishes('What is your order number?');
    expect(call.story()).toEqual([
      `agent: ${GREETING}`,
      `agent: ${NOTE}`,
      'agent: Here I am again.',
      `agent: ${QUESTION}`,
      'user: yes',
      'agent: What is your order number?',
    ]);
  });

  test('with interrupt cuts what is being said within a tick, keeps what was heard of it, and then listens for the answer', async () => {
    await started();
    call.ear.turns = [yes];
    await call.agentFinishes(GREETING);
    await call.agentStarts();
    await call.run(1_000);
    expect(ask(NOTE, true)).toEqual(CONTROL_DONE);
    await call.agentFinishes(NOTE);
    const cut = call.turns.find((turn) => turn.text === QUESTION)!;
    expect(cut.interrupted).toBe(true);
    expect(QUESTION.startsWith(cut.heardText)).toBe(true);
    expect(cut.heardText.length).toBeGreaterThan(5);
    await call.say(600);
    await call.agentFinishes('What is your order number?');
  });

  test('does not let the idle prompt talk into it, and gives the caller the whole time anew after it', async () => {
    await started();
    await call.agentFinishes(QUESTION);
    await call.run(7_000);
    ask(
      'This takes a little while longer than the eight seconds of the prompt would have been, so nothing must come between.',
    );
    const before = call.turns.length;
    await call.runUntil('its end', () => call.turns.length > before);
    const saidAtMs = call.leg.nowMs;
    await call.agentFinishes('Are you still there?');
    expect(call.turns.at(-2)).toMatchObject({ interrupted: false });
    expect(call.leg.nowMs - saidAtMs).toBeGreaterThanOrEqual(8_000);
  });

  test('can be interrupted by the caller, whose words reach the script', async () => {
    await started();
    call.ear.turns = [{ partials: [{ afterMs: 700, text: 'no thank you' }], final: { text: 'no thank you' } }];
    await call.agentFinishes(QUESTION);
    ask(
      'I will now read to you all of the terms and conditions that we have, one after the other, from first to last.',
    );
    await call.agentStarts();
    await call.run(1_000);
    await call.say(700);
    await call.agentFinishes('Goodbye.');
    expect(call.story().slice(-3)).toEqual([
      expect.stringMatching(/^agent: I will now.* \[cut\]$/),
      'user: no thank you',
      'agent: Goodbye.',
    ]);
  });

  test('is refused with a sixth text waiting, and after the last word', async () => {
    await started();
    for (let count = 0; count < 5; count++) expect(ask(`Text ${count}.`)).toEqual(CONTROL_DONE);
    expect(ask('One too many.')).toEqual({ done: false, why: 'queue_full' });
    call.ear.turns = [{ partials: [{ afterMs: 600, text: 'no' }], final: { text: 'no' } }];
    await call.agentFinishes(QUESTION);
    await call.say(600);
    await call.runUntil('the end', () => call.ends.length > 0);
    expect(ask(NOTE)).toEqual({ done: false, why: 'ending' });
    expect(control({ type: 'mute_agent' })).toEqual({ done: false, why: 'ending' });
  });
});

test('what is injected again and again while the line is dead: the last of it is answered, and the call goes on', async () => {
  await started();
  await call.agentFinishes(QUESTION);
  call.registry.command('call-1', { type: 'hold', held: true });
  for (let i = 0; i < 20; i++) expect(control({ type: 'inject', text: 'say that again' })).toEqual(CONTROL_DONE);
  expect(control({ type: 'inject', text: 'yes' })).toEqual(CONTROL_DONE);
  call.registry.command('call-1', { type: 'hold', held: false });
  await call.agentFinishes('What is your order number?');
  const said = call.turns.filter(({ role }) => role === 'agent').map(({ text }) => text);
  expect(said.slice(said.indexOf(QUESTION) + 1)).toEqual([BRIDGE, 'What is your order number?']);
});

test('what is injected works as the caller’s words would, and is in no turn', async () => {
  await started();
  await call.agentFinishes(QUESTION);
  expect(control({ type: 'inject', text: 'no thank you' })).toEqual(CONTROL_DONE);
  await call.agentFinishes('Goodbye.');
  expect(call.story()).toEqual([`agent: ${GREETING}`, `agent: ${QUESTION}`, 'agent: Goodbye.']);
});

describe('whispering to a script', () => {
  const whisper = (text: string) => control({ type: 'whisper', text });

  test('names the step to go to: what is being said is said to its end, and nothing of the whisper is heard or written', async () => {
    await started();
    await call.agentFinishes(GREETING);
    await call.agentStarts();
    expect(whisper(' name ')).toEqual(CONTROL_DONE);
    await call.agentFinishes('And your name?');
    expect(call.story()).toEqual([`agent: ${GREETING}`, `agent: ${QUESTION}`, 'agent: And your name?']);
    expect(call.checkpoints.at(-1)?.agent?.state).toMatchObject({ stepId: 'name' });
  });

  test('is refused where there is no such step, and the script stays where it is', async () => {
    await started();
    await call.agentFinishes(QUESTION);
    expect(whisper('be kind to them')).toEqual({ done: false, why: 'not_followed' });
    call.ear.turns = [yes];
    await call.say(600);
    await call.agentFinishes('What is your order number?');
  });

  test('moves a muted script too, which speaks when it may', async () => {
    await started();
    await call.agentFinishes(QUESTION);
    control({ type: 'mute_agent' });
    expect(whisper('bye')).toEqual(CONTROL_DONE);
    await call.run(2_000);
    expect(call.story()).toHaveLength(2);
    control({ type: 'unmute_agent' });
    await call.agentFinishes('Goodbye.');
  });
});

describe('a muted agent', () => {
  test('falls silent within 40 ms, stays so, and goes on from the word that was cut when it is unmuted', async () => {
    await started();
    await call.run(500);
    const mutedAtMs = call.leg.nowMs;
    expect(control({ type: 'mute_agent' })).toEqual(CONTROL_DONE);
    expect(control({ type: 'mute_agent' })).toEqual(CONTROL_DONE);
    expect(ask(NOTE)).toEqual({ done: false, why: 'muted' });
    await call.run(20_000);
    expect(call.leg.sent.filter((frame) => frame.atMs > mutedAtMs + 40)).toEqual([]);
    expect(call.turns).toEqual([]);
    control({ type: 'unmute_agent' });
    expect(control({ type: 'unmute_agent' })).toEqual(CONTROL_DONE);
    await call.agentFinishes(GREETING);
    expect(call.story()[0]).toBe(`agent: ${GREETING}`);
    await call.agentFinishes(QUESTION);
  });

  test('writes down what the caller says and answers nothing, then waits for an answer anew', async () => {
    await started();
    call.ear.turns = [yes, yes];
    await call.agentFinishes(QUESTION);
    control({ type: 'mute_agent' });
    await call.say(600);
    await call.run(60_000);
    expect(call.story().slice(2)).toEqual(['user: yes']);
    expect(call.ends).toEqual([]);
    control({ type: 'unmute_agent' });
    await call.run(1_000);
    expect(call.story()).toHaveLength(3);
    await call.say(600);
    await call.agentFinishes('What is your order number?');
  });

  test('does not go on when the caller only murmurs into its silence', async () => {
    await started();
    call.ear.turns = [{ partials: [{ afterMs: 650, text: 'uh huh' }], final: { text: 'uh huh' } }];
    await call.run(500);
    control({ type: 'mute_agent' });
    const mutedAtMs = call.leg.nowMs;
    await call.say(400);
    await call.run(5_000);
    expect(call.leg.sent.filter((frame) => frame.atMs > mutedAtMs + 40)).toEqual([]);
    control({ type: 'unmute_agent' });
    await call.agentFinishes(GREETING);
  });
});

test('a mute is in the next checkpoint, and whoever goes on from it stays silent until it is lifted', async () => {
  await started();
  await call.agentFinishes(GREETING);
  control({ type: 'mute_agent' });
  await call.run(40);
  const checkpoint = call.checkpoints.at(-1)!;
  expect(checkpoint.muted).toBe(true);
  control({ type: 'unmute_agent' });
  await call.run(40);
  expect(call.checkpoints.at(-1)).not.toHaveProperty('muted');
  call.close();

  call = await fakeCall({ checkpoint });
  call.start();
  await call.run(20_000);
  expect(call.leg.sent).toEqual([]);
  expect(call.story()).toEqual([]);
  control({ type: 'unmute_agent' });
  await call.agentFinishes(`Sorry, I lost you for a moment. ${QUESTION}`);
  expect(call.checkpoints.at(-1)).not.toHaveProperty('muted');
});

test('a call that this thread does not know refuses', async () => {
  await started();
  expect(control({ type: 'mute_agent' }, 'call-2')).toEqual({ done: false, why: 'not_here' });
});
