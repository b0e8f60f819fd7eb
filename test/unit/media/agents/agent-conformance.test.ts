/**
 * The agents that there are do what the port asks; agents that are wrong on purpose are found out, and cost their own
 * call only.
 */
import { describe, expect, test } from 'vitest';
import { cascadeKind } from '../../../../media/agents/cascade/cascade-kind.ts';
import { scriptedKind } from '../../../../media/agents/scripted/scripted-agent.ts';
import { toneKind } from '../../../../media/agents/tone/tone-agent.ts';
import type { AgentContext, AgentEvent, AgentKind } from '../../../../media/contract/agent.ts';
import type { AgentDefinition, ScriptedAgent } from '../../../../media/contract/agent-definition.ts';
import type { ModelChunk, ModelRequest } from '../../../../media/contract/model.ts';
import { fakeCall } from '../../../support/fakes/fake-call.ts';
import { AnsweringModel } from '../../../support/fakes/fake-model.ts';
import { orderAgent } from '../../../support/order-agent.ts';
import { AGENT_CHECKS, type AgentCase } from './agent-conformance.ts';
import { conversingAgent } from './cascade/agent-bench.ts';
import { Echo, echoKind } from './echo-agent.ts';
import { SOUND_CHECKS, type SoundCase } from './sound-agent-checks.ts';
import { thinkingEchoKind } from './thinking-echo.ts';

const definition = orderAgent({ voice: 'fake' });
const SCRIPTED: AgentCase = {
  kind: scriptedKind,
  definition,
  opening: ['Hello Asha, this is the dental office.', 'What is your order number?'],
  words: 'four two',
  toolWords: 'four two',
};
const ECHO: AgentCase = {
  kind: echoKind,
  definition,
  opening: ['This is an echo, say something that I can say back.'],
  words: 'good morning',
  toolWords: 'find',
};

const THINKING: AgentCase = { ...ECHO, kind: thinkingEchoKind, answeringModel: () => new AnsweringModel() };
/** Looks an order up when it hears "find", tells what came of it, and says back all else. */
class OrderModel extends AnsweringModel {
  override ask(request: ModelRequest, onChunk: (chunk: ModelChunk) => void): () => void {
    const last = request.messages.at(-1)!;
    if (last.role === 'user' && last.text !== 'find') return super.ask(request, onChunk);
    const use = { useId: 'call_1', name: 'lookup_order', argumentsText: '{"order":"42"}' };
    const isFound = last.role === 'tool';
    this.openAsks++;
    let isOver = false;
    const over = (): void => {
      if (!isOver) this.openAsks--;
      isOver = true;
    };
    setImmediate(() => {
      if (isOver) return;
      onChunk(isFound ? { type: 'text', text: 'I have found it.' } : { type: 'use', use });
      over();
      onChunk({ type: 'done', stop: isFound ? 'end' : 'tools', usage: null });
    });
    return over;
  }
}
const CONVERSING: AgentCase = {
  // The fakes are made for scripts; the call never asks which kind it has.
  kind: cascadeKind as AgentKind as AgentKind<ScriptedAgent>,
  definition: conversingAgent({
    firstMessage: 'Hello {{customer_name}}, this is the order desk, what can I do for you?',
    think: [{ connection: 'primary', model: 'big' }],
    ...(definition.tools === undefined ? {} : { tools: definition.tools }),
  }) as AgentDefinition as ScriptedAgent,
  opening: ['Hello Asha, this is the order desk, what can I do for you?'],
  words: 'good morning',
  toolWords: 'find',
  answeringModel: () => new OrderModel(),
};

describe.each([
  ['the scripted agent', SCRIPTED],
  ['an agent that converses', CONVERSING],
  ['an echo that streams its answers', ECHO],
  ['an echo that asks a model', THINKING],
])('%s', (_name, one) => {
  test.each(Object.entries(AGENT_CHECKS))('%s', (_check, check) => check(one));
});

const TONE: SoundCase = {
  kind: toneKind as AgentKind<never>,
  definition: { kind: 'tone', name: 'Tone', direction: 'any', toneHz: 440 },
};

describe('the tone agent', () => {
  test.each(Object.entries(SOUND_CHECKS))('%s', (_check, check) => check(TONE));
});

/** An echo with something wrong. */
function wrong(Wrong: new (context: AgentContext<ScriptedAgent>) => Echo): AgentCase {
  return { ...ECHO, kind: { ...echoKind, create: (context) => new Wrong(context) } };
}

describe('a wrong agent fails', () => {
  const checks = Object.entries(AGENT_CHECKS);
  const failed = async (one: AgentCase, named: string): Promise<string> => {
    const [, check] = checks.find(([name]) => name.startsWith(named))!;
    return check(one).then(
      () => 'passed',
      (error: Error) => error.message,
    );
  };

  test.each([
    [
      'that keeps nothing',
      ['death', 'state'],
      class extends Echo {
        override state = () => null;
        override handle(event: AgentEvent) {
          super.handle(event.type === 'start' ? { ...event, isResumed: false } : event);
        }
      },
    ],
    [
      'that says anew what was cut',
      ['cut'],
      class extends Echo {
        override handle(event: AgentEvent) {
          if (event.type === 'cut')
            super.handle({ type: 'start', atMs: event.atMs, isResumed: false, state: null, variables: {} });
          else super.handle(event);
        }
      },
    ],
    [
      'that is deaf',
      ['heard', 'tool', 'operator', 'mute', 'takeover', 'hold'],
      class extends Echo {
        override handle(event: AgentEvent) {
          if (event.type !== 'heard') super.handle(event);
        }
      },
    ],
    [
      'that throws at words',
      ['heard', 'any order'],
      class extends Echo {
        override handle(event: AgentEvent) {
          if (event.type === 'heard') throw new Error('broken');
          super.handle(event);
        }
      },
    ],
  ])('%s: in %j', async (_name, named, Wrong) => {
    for (const one of named) expect([one, await failed(wrong(Wrong), one)]).not.toEqual([one, 'passed']);
  });
});

describe('a wrong agent of sound fails', () => {
  test.each([
    ['that falls silent after a second', 'start', { type: 'hush' }],
    ['that ends too early', 'hold', { type: 'end', reason: 'agent_hangup', disposition: null, error: null }],
  ] as const)('%s: in %s', async (_name, named, action) => {
    const create: AgentKind['create'] = (context) => {
      const agent = (toneKind as AgentKind<never> as AgentKind).create(context);
      const handle = (event: AgentEvent) => {
        if (event.type === 'tick' && event.atMs >= 600) context.sink.act(action);
        return agent.handle(event);
      };
      return Object.assign(Object.create(agent), { handle, patience: agent.patience, stepId: null });
    };
    const kind = { ...toneKind, create } as AgentKind as AgentKind<never>;
    const [, check] = Object.entries(SOUND_CHECKS).find(([name]) => name.startsWith(named))!;
    await expect(check({ ...TONE, kind })).rejects.toThrow();
  });
});

describe('what an agent does wrong ends its own call, with the reason', () => {
  async function endOf(handle: (event: AgentEvent, context: AgentContext<ScriptedAgent>) => unknown, state?: unknown) {
    class Wrong extends Echo {
      readonly #own: AgentContext<ScriptedAgent>;
      constructor(context: AgentContext<ScriptedAgent>) {
        super(context);
        this.#own = context;
      }
      override handle(event: AgentEvent) {
        super.handle(event);
        return handle(event, this.#own) as undefined;
      }
      override state = () => state ?? { answers: 1 };
    }
    const call = await fakeCall({ kind: wrong(Wrong).kind, agent: definition, prepared: false });
    call.start();
    await call.runUntil('the end', () => call.ends.length > 0, 10_000);
    const ends = call.ends;
    call.close();
    return ends;
  }
  const once = { reason: 'internal_error', disposition: null };

  test('a throw', async () => {
    const ends = await endOf((event) => {
      if (event.type === 'said') throw new Error('it broke');
    });
    expect(ends).toMatchObject([{ ...once, error: 'it broke' }]);
  });

  test('a promise that is rejected, and a timer that throws', async () => {
    const rejected = await endOf((event) => (event.type === 'said' ? Promise.reject(new Error('late')) : undefined));
    expect(rejected).toMatchObject([{ ...once, error: 'late' }]);
    const timer = await endOf((event, { sink }) => {
      if (event.type !== 'start') return;
      sink.after(500, () => {
        throw new Error('later');
      });
    });
    expect(timer).toMatchObject([{ ...once, error: 'later' }]);
  });

  test('actions, sayings and a state without bound', async () => {
    const actions = await endOf((event, { sink }) => {
      if (event.type === 'said') for (let i = 0; i < 5_000; i++) sink.act({ type: 'keep' });
    });
    expect(actions).toMatchObject([{ ...once, error: 'the agent wants more than 1000 actions in a second' }]);
    const sayings = await endOf((_event, { sink }) =>
      sink.act({ type: 'say', speech: { text: 'More.' }, stepId: null, interruptible: true }),
    );
    expect(sayings).toMatchObject([{ ...once, error: 'the agent has 16 sayings that wait, and adds one' }]);
    const state = await endOf(() => undefined, { text: 'x'.repeat(3_000_000) });
    expect(state).toMatchObject([{ ...once, error: expect.stringContaining('may be kept') }]);
  });
});

test('a checkpoint of another kind, or of a later version, ends the call with the reason', async () => {
  const state = { kind: 'echo', version: 2, state: {} };
  const checkpoint = { agent: state, variables: {}, nextTurnNumber: 3, atMs: 4_000 };
  for (const [kind, reads] of [
    [echoKind, "agents of kind 'echo' read: 1"],
    [scriptedKind, "agents of kind 'scripted' read: 1"],
  ] as [AgentKind<ScriptedAgent>, string][]) {
    const call = await fakeCall({ kind, agent: definition, prepared: false, checkpoint });
    call.start();
    const error = `the checkpoint is of version 2 of 'echo', and ${reads}`;
    expect(call.ends).toMatchObject([{ reason: 'internal_error', error }]);
    call.close();
  }
});
