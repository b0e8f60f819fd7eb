/** A person who takes a call over: who is heard, who is silent, what is written down, and what the agent is told. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { scriptedKind } from '../../../../media/agents/scripted/scripted-agent.ts';
import { decodeMulaw } from '../../../../media/audio/g711.ts';
import { createResampler } from '../../../../media/audio/resampler.ts';
import type { Agent, AgentEvent, AgentKind } from '../../../../media/contract/agent.ts';
import type { ScriptedAgent } from '../../../../media/contract/agent-definition.ts';
import { UNCLEAR_TEXT } from '../../../../media/contract/conversation.ts';
import { CONTROL_DONE, type ControlAction } from '../../../../media/contract/operator-control.ts';
import { grammarEarOf } from '../../../../media/engines/local/grammar-ear.ts';
import { type FakeCall, type FakeCallOptions, fakeCall } from '../../../support/fakes/fake-call.ts';
import { FakeSpeechToText } from '../../../support/fakes/scripted-engines.ts';

const GREETING = 'Hello Asha, this is the dental office.';
const QUESTION = 'Can you come on tuesday at three?';
const FRAME_SAMPLES = 320;
const PERSON_PEAK = 12_000;
const LOUD = Int16Array.from({ length: FRAME_SAMPLES }, (_, i) => PERSON_PEAK * Math.sin((i * 2 * Math.PI * 5) / 80));
const QUIET = new Int16Array(FRAME_SAMPLES);

let call: FakeCall;
let events: AgentEvent[];
// Its module is loaded once a thread, which takes no virtual time.
beforeAll(async () => (await createResampler(16_000, 8_000)).close());
afterEach(() => call.close());

/** A script that hears any words, and whose events are noted. */
const openKind: AgentKind<ScriptedAgent> = {
  ...scriptedKind,
  create(context): Agent {
    const inner = scriptedKind.create(context);
    return {
      get stepId() {
        return inner.stepId;
      },
      get patience() {
        return inner.patience;
      },
      handle(event) {
        if (event.type !== 'tick') events.push(structuredClone(event));
        return inner.handle(event);
      },
      hints: (agentSpeaks) => ({ ...inner.hints(agentSpeaks), isOpen: true }),
      sense: (words) => inner.sense(words),
      intentOf: (text) => inner.intentOf(text),
      instruct: (text, atMs) => inner.instruct?.(text, atMs) ?? false,
      state: () => inner.state(),
      variables: () => inner.variables(),
      close: () => inner.close(),
    };
  },
};

async function started(options: FakeCallOptions = {}): Promise<void> {
  events = [];
  call = await fakeCall({ kind: openKind, ...options });
  call.start();
}

const control = (action: ControlAction) => {
  call.registry.command('call-1', { type: 'control', controlId: 'c', action });
  const answer = call.sent.filter((message) => message.type === 'call.controlled').at(-1);
  return answer?.type === 'call.controlled' ? answer.outcome : null;
};

/** The person's microphone is open for so long. */
async function microphone(ms: number, samples: Int16Array): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 20) {
    call.registry.command('call-1', { type: 'person.sound', samples: samples.slice() });
    await call.run(20);
  }
}

/** The person says something, and is then silent for long enough. */
async function says(ms = 1_000): Promise<void> {
  await microphone(ms, LOUD);
  await microphone(1_000, QUIET);
}

function loudestSince(sent: number): number {
  const samples = new Int16Array(160);
  return Math.max(
    0,
    ...call.leg.sent.slice(sent).map(({ bytes }) => {
      decodeMulaw(bytes, 0, bytes.length, samples, 0);
      return Math.max(...samples);
    }),
  );
}

const takeovers = () =>
  call.conversationEvents.flatMap((event) => (event.type === 'takeover' ? [{ ...event, atMs: undefined }] : []));
const handedBack = () => events.find((event) => event.type === 'handed_back');

describe('a person who has taken the call over', () => {
  test('is heard in place of the agent, which is cut where it was; then the agent is told what was said and goes on', async () => {
    const stt = new FakeSpeechToText(16_000);
    stt.turns = [{ final: { text: 'this is ann speaking' } }, { final: { text: 'I hand you back' } }];
    await started({ personEar: async () => grammarEarOf(stt) });
    call.ear.turns = [{ final: { text: 'no' } }];
    await call.agentFinishes(GREETING);
    await call.agentStarts();
    await call.run(400);
    const sent = call.leg.sent.length;
    expect(control({ type: 'takeover' })).toEqual(CONTROL_DONE);
    await microphone(200, QUIET);
    expect(call.leg.sent.length - sent).toBeLessThanOrEqual(1);
    await says();
    const heard = call.leg.sent.slice(sent).length * 20;
    expect(loudestSince(sent)).toBeGreaterThan(PERSON_PEAK * 0.8);
    expect(heard).toBeGreaterThanOrEqual(1_000);
    expect(heard).toBeLessThanOrEqual(1_000 + 100 + 700 + 40);
    // The caller answers the person; the script says nothing to it.
    call.leg.callerSpeaks = true;
    await microphone(600, QUIET);
    call.leg.callerSpeaks = false;
    await microphone(2_000, QUIET);
    await says();
    expect(control({ type: 'handback', note: 'she is angry' })).toEqual(CONTROL_DONE);
    await call.runUntil('its turn', () => handedBack() !== undefined, 1_000);
    expect(handedBack()).toMatchObject({
      said: [
        { who: 'person', text: 'this is ann speaking' },
        { who: 'caller', text: 'no' },
        { who: 'person', text: 'I hand you back' },
      ],
      note: 'she is angry',
    });
    await call.runUntil(
      'the question anew',
      () => call.turns.at(-1)?.text === QUESTION && !call.turns.at(-1)!.interrupted,
    );
    expect(call.turns.map(({ role, by, text }) => [by ?? role, text])).toEqual([
      ['agent', GREETING],
      ['agent', QUESTION],
      ['person', 'this is ann speaking'],
      ['user', 'no'],
      ['person', 'I hand you back'],
      ['agent', QUESTION],
    ]);
    expect(takeovers()).toMatchObject([{ phase: 'began' }, { phase: 'ended', why: 'asked' }]);
    expect(new Set(call.turns.map(({ turnId }) => turnId)).size).toBe(6);
  });

  test('has no words where the recogniser hears a grammar alone, and the caller’s are known all the same', async () => {
    await started({ kind: scriptedKind });
    await call.agentFinishes(QUESTION);
    control({ type: 'takeover' });
    await says();
    control({ type: 'handback', note: null });
    await call.runUntil('its turn', () => takeovers().length === 2, 1_000);
    expect(call.turns.at(-1)).toMatchObject({ by: 'person', role: 'agent', text: UNCLEAR_TEXT });
  });

  test('talks with the caller, not with the agent: what steers it is refused, one at a time has the call', async () => {
    await started();
    await call.agentFinishes(QUESTION);
    expect(control({ type: 'handback', note: null })).toEqual({ done: false, why: 'not_taken' });
    control({ type: 'takeover' });
    for (const type of ['takeover', 'mute_agent', 'unmute_agent'] as const) {
      expect(control({ type }), type).toEqual({ done: false, why: 'taken' });
    }
    expect(control({ type: 'say', text: 'Hello.', interrupt: false })).toEqual({ done: false, why: 'taken' });
    expect(control({ type: 'inject', text: 'yes' })).toEqual({ done: false, why: 'taken' });
    expect(control({ type: 'whisper', text: 'name' })).toEqual(CONTROL_DONE);
    control({ type: 'handback', note: null });
    await call.agentFinishes('And your name?');
  });

  test('who is gone leaves nobody in silence: at once when the line is known to be, else after five seconds', async () => {
    await started();
    await call.agentFinishes(QUESTION);
    control({ type: 'takeover' });
    await microphone(1_000, QUIET);
    call.registry.command('call-1', { type: 'person.gone' });
    await call.runUntil('the agent', () => takeovers().length === 2, 1_000);
    control({ type: 'takeover' });
    await microphone(1_000, QUIET);
    await call.run(4_900);
    expect(takeovers()).toHaveLength(3);
    await call.run(1_000);
    expect(takeovers()).toMatchObject([
      { phase: 'began' },
      { phase: 'ended', why: 'gone' },
      { phase: 'began' },
      { phase: 'ended', why: 'silent' },
    ]);
    expect(takeovers()).toHaveLength(4);
  });

  test('is still there after the death of the thread, and the agent is told all of it', async () => {
    await started();
    await call.agentFinishes(QUESTION);
    control({ type: 'takeover' });
    await says();
    const checkpoint = call.checkpoints.at(-1)!;
    expect(checkpoint.takenOver).toEqual({ said: [{ who: 'person', text: UNCLEAR_TEXT }] });
    call.close();

    await started({ checkpoint });
    await says();
    expect(call.leg.sent.length).toBeGreaterThan(40);
    control({ type: 'handback', note: null });
    await call.runUntil('its turn', () => handedBack() !== undefined, 1_000);
    expect(handedBack()).toMatchObject({ said: [{ who: 'person' }, { who: 'person' }] });
    await call.agentFinishes(QUESTION);
    expect(call.checkpoints.at(-1)).not.toHaveProperty('takenOver');
    expect(call.checkpoints.at(-1)).not.toHaveProperty('muted');
  });

  test('the call’s end writes down what was being said', async () => {
    await started();
    await call.agentFinishes(QUESTION);
    control({ type: 'takeover' });
    await microphone(600, LOUD);
    call.close();
    expect(call.turns.at(-1)).toMatchObject({ by: 'person' });
  });
});
