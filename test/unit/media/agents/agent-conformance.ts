/**
 * What every agent behind the agent port must do, seen from a whole call on fakes. Each check fails by throwing;
 * `agent-conformance.test.ts` runs them for the agents that there are, and shows that wrong agents fail.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { AgentAction, AgentEvent, AgentKind } from '../../../../media/contract/agent.ts';
import type { ScriptedAgent } from '../../../../media/contract/agent-definition.ts';
import type { Checkpoint } from '../../../../media/contract/checkpoint.ts';
import type { LanguageModel } from '../../../../media/contract/model.ts';
import type { ControlAction } from '../../../../media/contract/operator-control.ts';
import { type FakeCall, type FakeCallOptions, fakeCall } from '../../../support/fakes/fake-call.ts';
import { type Left, leftBy } from './left-by-death.ts';

export interface AgentCase {
  kind: AgentKind<ScriptedAgent>;
  definition: ScriptedAgent;
  /** What it has said when it first waits for the caller, the last of it long enough to be interrupted. */
  opening: string[];
  /** Words that it answers, whenever it waits for the caller. */
  words: string;
  /** Words that make it use a tool that works while it waits. */
  toolWords: string;
  /** It asks models: for a call, one that answers. Absent: it asks none. */
  answeringModel?: () => LanguageModel & { readonly openAsks: number };
}

type Check = (one: AgentCase) => Promise<void>;

async function withCall(one: AgentCase, run: (call: FakeCall) => Promise<void>, options: FakeCallOptions = {}) {
  const models = one.answeringModel === undefined ? [] : [one.answeringModel()];
  const call = await fakeCall({ kind: one.kind, agent: one.definition, prepared: false, models, ...options });
  try {
    call.start();
    await run(call);
  } finally {
    call.close();
  }
}

const agentTurns = (call: FakeCall) => call.turns.filter(({ role }) => role === 'agent');
const opened = async (call: FakeCall, { opening }: AgentCase) => {
  for (const text of opening) await call.agentFinishes(text);
};
const isSilent = (call: FakeCall): boolean => {
  const phases = call.conversationEvents.flatMap((event) =>
    event.type === 'speech' && event.who === 'agent' ? [event.phase] : [],
  );
  return phases.at(-1) !== 'start';
};
const control = (call: FakeCall, action: ControlAction) =>
  call.registry.command('call-1', { type: 'control', controlId: 'c', action });

async function says(call: FakeCall, text: string): Promise<void> {
  call.ear.turns.push({ final: { text } });
  await call.say(600);
}

/** The caller speaks, and the agent says something new to its end. */
async function answers(call: FakeCall, text: string): Promise<void> {
  await call.run(400);
  const before = agentTurns(call).length;
  await says(call, text);
  await call.runUntil(`an answer to '${text}'`, () => agentTurns(call).length > before, 12_000);
  expect(agentTurns(call).at(-1)).toMatchObject({ interrupted: false });
  expect(call.turns.some((turn) => turn.role === 'user' && turn.text === text)).toBe(true);
}

export const AGENT_CHECKS: Record<string, Check> = {
  'models: after a pause that was none it answers the words that were heard, once, and asks nothing in vain': async (
    one,
  ) => {
    const model = one.answeringModel?.();
    await withCall(
      one,
      async (call) => {
        await opened(call, one);
        await call.run(400);
        const before = agentTurns(call).length;
        call.ear.turns.push({ partials: [{ afterMs: 200, text: 'perhaps' }], final: { text: one.words } });
        await call.say(600);
        await call.run(240);
        await call.say(600);
        await call.runUntil('an answer', () => agentTurns(call).length > before, 12_000);
        await call.run(1_000);
        expect(agentTurns(call)).toHaveLength(before + 1);
      },
      model === undefined ? {} : { models: [model] },
    );
    expect(model?.openAsks ?? 0).toBe(0);
  },
  'start: it opens the call by itself': (one) => withCall(one, (call) => opened(call, one)),

  'heard: it answers, with a latency': (one) =>
    withCall(one, async (call) => {
      await opened(call, one);
      await answers(call, one.words);
      expect(call.conversationEvents.filter(({ type }) => type === 'latency')).toHaveLength(1);
    }),

  'cut: what was not heard is not said, and the words that cut it are answered': (one) =>
    withCall(one, async (call) => {
      for (const text of one.opening.slice(0, -1)) await call.agentFinishes(text);
      await call.agentStarts();
      await call.run(400);
      call.ear.turns.push({ partials: [{ afterMs: 600, text: one.words }], final: { text: one.words } });
      await call.say(600);
      await call.runUntil('the cut', () => call.bargeIns().includes('commit'));
      const cut = agentTurns(call).at(-1)!;
      const last = one.opening.at(-1)!;
      expect(cut.interrupted).toBe(true);
      expect(cut.heardText.length).toBeLessThan(last.length);
      await call.runUntil('the answer', () => agentTurns(call).at(-1) !== cut && !agentTurns(call).at(-1)!.interrupted);
      expect(
        agentTurns(call)
          .slice(one.opening.length)
          .map(({ text }) => text),
      ).not.toContain(last);
    }),

  'tool: it uses one, and says something of its result': (one) =>
    withCall(one, async (call) => {
      const asks = () => call.sent.flatMap((message) => (message.type === 'call.tool' ? [message.ask] : []));
      await opened(call, one);
      await says(call, one.toolWords);
      await call.runUntil('the tool', () => asks().length > 0);
      const answer = { ok: true, status: 200, result: { arrives: 'Thursday' } } as const;
      call.registry.command('call-1', { type: 'tool.answer', toolCallId: asks()[0]!.toolCallId, answer });
      const before = agentTurns(call).length;
      await call.runUntil('word of the result', () => agentTurns(call).length > before);
      expect(asks()).toHaveLength(1);
    }),

  'operator: somebody else’s words are not its own, and it goes on after them': (one) =>
    withCall(one, async (call) => {
      await opened(call, one);
      control(call, { type: 'say', text: 'A colleague listens in.', interrupt: false });
      await call.agentFinishes('A colleague listens in.');
      await answers(call, one.words);
    }),

  'mute: it says nothing while it is silenced, and answers again afterwards': (one) =>
    withCall(one, async (call) => {
      await opened(call, one);
      control(call, { type: 'mute_agent' });
      const before = agentTurns(call).length;
      await says(call, one.words);
      await call.run(4_000);
      expect(agentTurns(call)).toHaveLength(before);
      control(call, { type: 'unmute_agent' });
      await answers(call, one.words);
    }),

  'takeover: it says nothing while a person has the call, and answers again when it is given back': (one) =>
    withCall(one, async (call) => {
      await opened(call, one);
      control(call, { type: 'takeover' });
      const before = agentTurns(call).length;
      await says(call, one.words);
      await call.run(3_000);
      expect(agentTurns(call)).toHaveLength(before);
      control(call, { type: 'handback', note: null });
      // It may go on by itself.
      await call.run(2_000);
      await call.runUntil('its silence', () => isSilent(call));
      await answers(call, one.words);
    }),

  'hold: a dead line is bridged, and the conversation goes on': (one) =>
    withCall(one, async (call) => {
      for (const text of one.opening.slice(0, -1)) await call.agentFinishes(text);
      await call.agentStarts();
      await call.run(300);
      call.registry.command('call-1', { type: 'hold', held: true });
      await call.run(2_000);
      call.registry.command('call-1', { type: 'hold', held: false });
      await call.runUntil('the bridge', () =>
        agentTurns(call).some(({ text }) => text.startsWith('Sorry, I lost you')),
      );
      await answers(call, one.words);
    }),

  'death at every point: another agent of its kind goes on, and what was heard of an open utterance is kept': async (
    one,
  ) => {
    let cutInWords = 0;
    for (let livedMs = 0; livedMs <= 9_000; livedMs += 600) {
      let left: Left | null = null;
      await withCall(one, async (call) => {
        call.ear.turns.push({ final: { text: one.words } });
        for (let ms = 0; ms < livedMs; ms += 20) {
          call.leg.callerSpeaks = ms >= 5_000 && ms < 5_600;
          await call.run(20);
        }
        left = leftBy(call);
      });
      const { turns: told, checkpoint } = left as unknown as Left;
      const last = told.at(-1);
      if (last?.role === 'agent' && last.interrupted && last.heardText !== '') cutInWords++;
      if (checkpoint === null) continue;
      await withCall(
        one,
        async (call) => {
          await call.runUntil('words of the successor', () => agentTurns(call).length > 0, 12_000);
          expect(agentTurns(call)[0]!.text).not.toBe(one.opening[0]);
          const numbers = [...told, ...call.turns].map(({ turnId }) => turnId);
          expect(new Set(numbers).size).toBe(numbers.length);
          await answers(call, one.words);
          const last = call.checkpoints.at(-1)!;
          const { kind, stateVersion } = one.kind;
          expect(last.agent).toMatchObject({ kind, version: stateVersion });
          expect(JSON.parse(JSON.stringify(last.agent!.state))).toEqual(last.agent!.state);
        },
        { checkpoint: JSON.parse(JSON.stringify(checkpoint)) as Checkpoint },
      );
    }
    expect(cutInWords).toBeGreaterThan(1);
  },

  'state: what is kept of what happened is not nothing, and a successor keeps it': (one) =>
    withCall(one, async (call) => {
      await opened(call, one);
      const before = JSON.stringify(call.checkpoints.at(-1)?.agent?.state);
      await answers(call, one.words);
      const { agent } = call.checkpoints.at(-1)!;
      expect(JSON.stringify(agent?.state)).not.toBe(before);
      expect(agent?.state).not.toBeNull();
    }),

  'end: it ends the call by itself when its longest time is over, once, and says nothing more': (one) =>
    withCall(
      one,
      async (call) => {
        await call.runUntil('the end', () => call.ends.length > 0, 11_900);
        expect(call.ends).toMatchObject([{ reason: 'max_duration_reached', error: null }]);
        const turns = call.turns.length;
        await says(call, one.words);
        await call.run(3_000);
        expect([call.turns.length, call.ends.length]).toEqual([turns, 1]);
      },
      { setup: { maxDurationMs: 6_000 } },
    ),

  'any order of events: it neither throws nor acts without bound': async (one) => {
    const arbitrary = fc.array(fc.tuple(fc.constantFrom(...EVENTS), fc.integer({ min: 0, max: 3_000 })), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(arbitrary, (steps) => {
        const actions: AgentAction[] = [];
        const sink = { act: (action: AgentAction) => void actions.push(action), after: () => () => {} };
        const context = { definition: one.definition, placeholders: {}, maxDurationMs: 60_000, legRateHz: 8_000, sink };
        const agent = one.kind.create(context);
        let atMs = 0;
        for (const [event, ms] of steps) {
          atMs += ms;
          void agent.handle({ ...event, atMs } as AgentEvent);
          agent.sense({ text: one.words, rejected: false, how: 'spoken' });
          agent.hints(true);
        }
        agent.close();
        expect(actions.length).toBeLessThan(20 * (steps.length + 1));
        expect(actions.filter(({ type }) => type === 'end').length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 100 },
    );
  },
};

/** One of each kind. */
export const EVENTS = [
  { type: 'start', isResumed: false, state: null },
  { type: 'start', isResumed: true, state: null },
  { type: 'said' },
  { type: 'cut', heardText: '' },
  { type: 'heard', text: 'yes', how: 'spoken' },
  { type: 'heard', text: '42', how: 'keys' },
  { type: 'pause', text: 'yes' },
  { type: 'went_on' },
  { type: 'model', ref: 'ask1', chunk: { type: 'text', text: 'Well. ' } },
  {
    type: 'model',
    ref: 'ask1',
    chunk: { type: 'use', use: { useId: 'c', name: 'lookup_order', argumentsText: '{}' } },
  },
  { type: 'model', ref: 'ask2', chunk: { type: 'done', stop: 'end', usage: null } },
  { type: 'model', ref: 'ask3', chunk: { type: 'failed', fault: 'failed', message: 'broken' } },
  { type: 'unclear' },
  { type: 'wait', why: 'caller' },
  { type: 'filled' },
  { type: 'caller', speaking: true },
  { type: 'caller', speaking: false },
  { type: 'key', key: '4' },
  { type: 'muted', isMuted: true },
  { type: 'handed_back', said: [{ who: 'person', text: 'hello' }], note: null },
  { type: 'line', isHeld: true },
] as const;
