/**
 * What the agent port asks of an agent that is a sound alone, has no engines and obeys nobody. Used by
 * `agent-conformance.test.ts`.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { AgentAction, AgentEvent, AgentKind } from '../../../../media/contract/agent.ts';
import type { AgentDefinition, ScriptedAgent } from '../../../../media/contract/agent-definition.ts';
import type { ControlAction } from '../../../../media/contract/operator-control.ts';
import { type FakeCall, type FakeCallOptions, fakeCall } from '../../../support/fakes/fake-call.ts';
import { EVENTS } from './agent-conformance.ts';

export interface SoundCase {
  kind: AgentKind<never>;
  definition: AgentDefinition;
}

type Check = (one: SoundCase) => Promise<void>;

async function withCall(one: SoundCase, run: (call: FakeCall) => Promise<void>, options: FakeCallOptions = {}) {
  // The fakes are made for scripts; the setup carries the definition that the agent is given.
  const kind = one.kind as AgentKind as AgentKind<ScriptedAgent>;
  const setup = { agent: one.definition, ...options.setup };
  const call = await fakeCall({ prepared: false, ...options, kind, setup });
  try {
    call.start();
    await run(call);
  } finally {
    call.close();
  }
}

/** The far end is given a frame for each 20 ms. */
async function sounds(call: FakeCall, ms = 1_000): Promise<void> {
  const before = call.leg.sent.length;
  await call.run(ms);
  expect(call.leg.sent.length - before).toBeGreaterThanOrEqual(ms / 20 - 1);
  expect(call.turns).toEqual([]);
}

const outcomes = (call: FakeCall, action: ControlAction) => {
  call.registry.command('call-1', { type: 'control', controlId: 'c', action });
  return call.sent.flatMap((message) => (message.type === 'call.controlled' ? [message.outcome] : [])).at(-1);
};

export const SOUND_CHECKS: Record<string, Check> = {
  'start: it sounds at once, without a word': (one) =>
    withCall(one, async (call) => {
      await call.run(100);
      await sounds(call);
      expect(call.conversationEvents.filter(({ type }) => type === 'first_audio')).toHaveLength(1);
    }),

  'heard, cut, keys: whatever the caller does, it sounds on': (one) =>
    withCall(one, async (call) => {
      await call.run(200);
      call.leg.callerSpeaks = true;
      await sounds(call);
      call.registry.command('call-1', { type: 'key', key: '#' });
      call.registry.command('call-1', { type: 'interrupt' });
      await sounds(call);
    }),

  'operator, mute: it refuses, and sounds on': (one) =>
    withCall(one, async (call) => {
      await call.run(200);
      const actions: ControlAction[] = [
        { type: 'say', text: 'Hello.', interrupt: true },
        { type: 'inject', text: 'yes' },
        { type: 'mute_agent' },
      ];
      for (const action of actions) {
        expect(outcomes(call, action)).toEqual({ done: false, why: 'unsupported' });
        await sounds(call, 400);
      }
    }),

  'hold: a dead line that is back has its sound again': (one) =>
    withCall(one, async (call) => {
      await call.run(500);
      call.registry.command('call-1', { type: 'hold', held: true });
      await call.run(1_000);
      call.registry.command('call-1', { type: 'hold', held: false });
      await call.run(200);
      await sounds(call);
    }),

  'death at every point: a successor sounds, from whatever was kept': async (one) => {
    for (let livedMs = 0; livedMs <= 3_000; livedMs += 500) {
      let kept = null as FakeCall['checkpoints'][number] | null;
      await withCall(one, async (call) => {
        await call.run(livedMs);
        kept = call.checkpoints.at(-1) ?? null;
      });
      const options = kept === null ? {} : { checkpoint: JSON.parse(JSON.stringify(kept)) };
      await withCall(
        one,
        async (call) => {
          await call.run(100);
          await sounds(call);
          expect(call.ends).toEqual([]);
        },
        options,
      );
    }
  },

  'end: it ends the call by itself when its longest time is over, once': (one) =>
    withCall(
      one,
      async (call) => {
        await call.runUntil('the end', () => call.ends.length > 0, 4_000);
        expect(call.ends).toMatchObject([{ reason: 'max_duration_reached', error: null }]);
        const sent = call.leg.sent.length;
        await call.run(2_000);
        expect([call.leg.sent.length, call.ends.length]).toEqual([sent, 1]);
      },
      { setup: { maxDurationMs: 2_000 } },
    ),

  'any order of events: it neither throws nor acts without bound': async (one) => {
    const { kind, definition } = one;
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 60 }), (events) => {
        const actions: AgentAction[] = [];
        const sink = { act: (action: AgentAction) => void actions.push(action), after: () => () => {} };
        const rest = { placeholders: {}, maxDurationMs: 60_000, legRateHz: 8_000, sink };
        const agent = (kind as AgentKind).create({ definition, ...rest });
        for (const [at, event] of events.entries()) void agent.handle({ ...event, atMs: at * 20 } as AgentEvent);
        agent.close();
        expect(actions.length).toBeLessThanOrEqual(events.length);
      }),
    );
  },
};
