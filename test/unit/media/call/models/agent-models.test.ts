/**
 * An agent in a call asks models and is told of pauses: what comes of it is in order and bounded, and what goes wrong
 * ends its own call.
 */
import { afterEach, describe, expect, test } from 'vitest';
import type { AgentAction, AgentContext, AgentEvent, AgentKind } from '../../../../../media/contract/agent.ts';
import type { ScriptedAgent } from '../../../../../media/contract/agent-definition.ts';
import type { ModelChunk, ModelRequest } from '../../../../../media/contract/model.ts';
import { TextFeed } from '../../../../../media/contract/speech-source.ts';
import { type FakeCall, fakeCall } from '../../../../support/fakes/fake-call.ts';
import { FakeModel } from '../../../../support/fakes/fake-model.ts';
import { Echo, echoKind } from '../../agents/echo-agent.ts';

const OPENING = 'This is an echo, say something that I can say back.';
const REQUEST: ModelRequest = {
  messages: [{ role: 'user', text: 'Hi' }],
  tools: [],
  toolChoice: 'none',
  maxTokens: 50,
};
const DONE: ModelChunk = { type: 'done', stop: 'end', usage: null };

let call: FakeCall;
let model: FakeModel;
let sink: AgentContext['sink'];
const told: AgentEvent[] = [];
let inEvent = (_event: AgentEvent): void => {};
afterEach(() => {
  inEvent = () => {};
  call.close();
});

/** Does what the test says. */
class Told extends Echo {
  constructor(context: AgentContext<ScriptedAgent>) {
    super(context);
    sink = context.sink;
  }
  override handle(event: AgentEvent): void {
    if (['model', 'pause', 'went_on', 'heard', 'end'].includes(event.type)) told.push({ ...event });
    if (event.type !== 'heard') super.handle(event);
    inEvent(event);
  }
}
const kind: AgentKind<ScriptedAgent> = { ...echoKind, create: (context) => new Told(context) };

async function opened(): Promise<void> {
  told.length = 0;
  model = new FakeModel();
  call = await fakeCall({ kind, prepared: false, models: [model] });
  call.start();
  await call.agentFinishes(OPENING);
}
const ask = (ref: string, number = 0): AgentAction => ({ type: 'ask', ref, model: number, request: REQUEST });
const chunks = (ref: string) =>
  told.flatMap((event) => (event.type === 'model' && event.ref === ref ? [event.chunk] : []));

describe('a question to a model', () => {
  test('is answered as the answer comes, and what it says can be spoken from its first words on', async () => {
    await opened();
    sink.act(ask('a'));
    const feed = new TextFeed();
    inEvent = (event) => {
      if (event.type !== 'model') return;
      if (event.chunk.type === 'text') feed.push(event.chunk.text);
      else feed.finish();
    };
    sink.act({ type: 'say', speech: { feed }, stepId: null, interruptible: true, isReply: true });
    model.say({ type: 'text', text: 'It is ' });
    model.say({ type: 'text', text: 'open at nine. Come ' });
    await call.agentStarts();
    model.say({ type: 'text', text: 'by.' });
    model.say(DONE);
    await call.agentFinishes('It is open at nine. Come by.');
    expect(model.requests).toEqual([REQUEST]);
    expect(chunks('a').map(({ type }) => type)).toEqual(['text', 'text', 'text', 'done']);
  });

  test('tells nothing after its end, after it was taken back, and after the call', async () => {
    await opened();
    for (const ref of ['a', 'b', 'c']) sink.act(ask(ref));
    model.say(DONE, 0);
    model.say({ type: 'text', text: 'late' }, 0);
    sink.act({ type: 'unask', ref: 'b' });
    sink.act({ type: 'unask', ref: 'b' });
    sink.act({ type: 'unask', ref: 'never asked' });
    model.say({ type: 'text', text: 'late' }, 1);
    call.close();
    model.say({ type: 'text', text: 'late' }, 2);
    expect(told.filter(({ type }) => type === 'model')).toMatchObject([{ ref: 'a', chunk: DONE }]);
    expect(model.takenBack).toEqual([1, 2]);
  });

  test('may have the name of one that is over', async () => {
    await opened();
    sink.act(ask('a'));
    sink.act({ type: 'unask', ref: 'a' });
    sink.act(ask('a'));
    model.say({ type: 'text', text: 'old' }, 0);
    model.say({ type: 'text', text: 'new' }, 1);
    expect(chunks('a')).toEqual([{ type: 'text', text: 'new' }]);
  });

  test('that never ends is cut where nobody could speak it', async () => {
    await opened();
    sink.act(ask('a'));
    for (let i = 0; i < 300; i++) model.say({ type: 'text', text: 'x'.repeat(1_000) });
    expect(chunks('a')).toHaveLength(201);
    expect(chunks('a').at(-1)).toEqual({ type: 'done', stop: 'length', usage: null });
    expect(model.takenBack).toEqual([0]);
    expect(call.ends).toEqual([]);
  });

  test.each([
    ['to a model that it does not have', [ask('a', 1)], 'the agent asks model 1, and it has 1'],
    ['under a name that is in use', [ask('a'), ask('a')], "the agent asks under 'a', which is in use"],
    [
      'beside ten others',
      Array.from({ length: 11 }, (_, i) => ask(`${i}`)),
      'the agent asks more than 10 models at once',
    ],
  ])('%s ends the call', async (_name, actions, error) => {
    await opened();
    for (const action of actions) sink.act(action);
    expect(call.ends).toMatchObject([{ reason: 'internal_error', error }]);
  });

  test('whose answer the agent cannot take ends the call, and is no throw for who brings it', async () => {
    await opened();
    sink.act(ask('a'));
    inEvent = () => {
      throw new Error('it broke');
    };
    expect(() => model.say({ type: 'text', text: 'x' })).not.toThrow();
    expect(call.ends).toMatchObject([{ reason: 'internal_error', error: 'it broke' }]);
    expect(model.takenBack).toEqual([0]);
  });
});

describe('a pause', () => {
  const pauses = () => told.flatMap((event) => (event.type === 'pause' ? [`pause ${event.text}`] : [event.type]));

  test('is told with the words so far, once, before they are heard', async () => {
    await opened();
    call.ear.turns.push({ partials: [{ afterMs: 200, text: 'good morning' }], final: { text: 'good morning' } });
    await call.say(600);
    await call.run(3_000);
    expect(pauses()).toEqual(['pause good morning', 'heard']);
  });

  test('that was a pause only is taken back', async () => {
    await opened();
    call.ear.turns.push({ partials: [{ afterMs: 200, text: 'good morning' }], final: { text: 'good morning doctor' } });
    await call.say(600);
    await call.run(280);
    expect(pauses()).toEqual(['pause good morning']);
    await call.say(600);
    expect(pauses().slice(1)).toEqual(['went_on']);
    await call.run(3_000);
    expect(pauses().slice(2)).toEqual(['pause good morning', 'heard']);
  });

  test('without words is none', async () => {
    await opened();
    call.ear.turns.push({ final: { text: '', rejected: true } });
    await call.say(600);
    await call.run(3_000);
    expect(pauses()).toEqual([]);
  });
});
