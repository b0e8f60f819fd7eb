/** A reply is told step by step: what the hearing, the model, the voice and the leg took of it, and who served. */
import { afterEach, expect, test } from 'vitest';
import { replyStages } from '../../../../../media/call/reply-stages.ts';
import type { AgentContext, AgentEvent, AgentKind } from '../../../../../media/contract/agent.ts';
import type { ScriptedAgent } from '../../../../../media/contract/agent-definition.ts';
import type { ReplyStages } from '../../../../../media/contract/conversation.ts';
import { TextFeed } from '../../../../../media/contract/speech-source.ts';
import { type FakeCall, fakeCall } from '../../../../support/fakes/fake-call.ts';
import { FakeModel } from '../../../../support/fakes/fake-model.ts';
import { Echo, echoKind } from '../../agents/echo-agent.ts';

const OPENING = 'This is an echo, say something that I can say back.';
let call: FakeCall;
afterEach(() => call.close());

/** Asks a model for what it says, in the pause before the turn is over if `isAhead`. */
function askingKind(isAhead: boolean): AgentKind<ScriptedAgent> {
  class Asking extends Echo {
    readonly #sink: AgentContext['sink'];
    readonly #feed = new TextFeed();

    constructor(context: AgentContext<ScriptedAgent>) {
      super(context);
      this.#sink = context.sink;
    }

    override handle(event: AgentEvent): void {
      if (event.type === 'start') super.handle(event);
      if (event.type === (isAhead ? 'pause' : 'heard')) {
        const request = { messages: [], tools: [], toolChoice: 'none', maxTokens: 50 } as const;
        this.#sink.act({ type: 'ask', ref: 'a', model: 1, request });
      }
      if (event.type === 'heard') {
        const speech = { feed: this.#feed };
        this.#sink.act({ type: 'say', speech, stepId: null, interruptible: true, isReply: true, ref: 'a' });
      }
      if (event.type === 'model' && event.chunk.type === 'text') this.#feed.push(event.chunk.text);
      if (event.type === 'model' && event.chunk.type === 'done') this.#feed.finish();
    }
  }
  return {
    ...echoKind,
    engines: (agent) => ({
      ...echoKind.engines(agent),
      ear: { engine: 'deepgram', connection: 'ears', settings: { model: 'nova-3' } },
      models: [
        { engine: 'openai', connection: 'first', settings: { model: 'large' } },
        { engine: 'openai', connection: 'second', settings: { model: 'small' } },
      ],
    }),
    create: (context) => new Asking(context),
  };
}

async function stagesOf(isAhead: boolean): Promise<ReplyStages> {
  const models = [new FakeModel(), new FakeModel()];
  call = await fakeCall({ kind: askingKind(isAhead), prepared: false, models });
  call.start();
  await call.agentFinishes(OPENING);
  call.ear.turns = [{ partials: [{ afterMs: 400, text: 'yes' }], final: { text: 'yes' } }];
  await call.say(600);
  while (models[1]!.requests.length === 0) await call.run(20);
  await call.run(100);
  models[1]!.answer('It is open at nine.');
  await call.agentStarts();
  const told = call.conversationEvents.findLast((event) => event.type === 'latency');
  return told!.latency.stages!;
}

test('in the order in which a reply comes by, and by whom', async () => {
  const stages = await stagesOf(false);
  expect(stages).toMatchObject({
    listen: { provider: 'deepgram', connection: 'ears', model: 'nova-3' },
    think: { provider: 'openai', connection: 'second', model: 'small' },
    speak: { provider: 'local', connection: null, model: null },
  });
  const { decidedMs, finalWordsMs, askedMs, firstTokenMs, firstClauseMs, firstAudioMs, ringMs, firstFrameMs } = stages;
  const steps = [decidedMs, finalWordsMs, askedMs, firstTokenMs, firstClauseMs, firstAudioMs, ringMs, firstFrameMs];
  expect(steps).not.toContain(null);
  expect(steps).toEqual([...steps].sort((a, b) => a! - b!));
  // The model took 100 ms.
  expect(firstTokenMs! - askedMs!).toBe(100);
  expect(decidedMs).toBeGreaterThan(0);
});

test('with a word that was there before the turn was decided', async () => {
  const { askedMs, decidedMs, firstClauseMs } = await stagesOf(true);
  expect(askedMs).toBeLessThan(decidedMs);
  expect(firstClauseMs).toBeGreaterThanOrEqual(decidedMs);
});

test('once a turn of the caller: what is said later, of its own accord, answers nobody', async () => {
  class Asks extends Echo {
    #askAtMs = Number.POSITIVE_INFINITY;

    override handle(event: AgentEvent): void {
      super.handle(event);
      if (event.type === 'heard') this.#askAtMs = event.atMs + 6_000;
      if (event.type !== 'tick' || event.atMs < this.#askAtMs) return;
      this.#askAtMs = Number.POSITIVE_INFINITY;
      this.answer('Are you still there?');
    }
  }
  call = await fakeCall({ kind: { ...echoKind, create: (context) => new Asks(context) }, prepared: false });
  call.start();
  await call.agentFinishes(OPENING);
  call.ear.turns = [{ partials: [{ afterMs: 400, text: 'yes' }], final: { text: 'yes' } }];
  await call.say(600);
  await call.agentFinishes('You said yes. Is that right?');
  await call.agentFinishes('Are you still there?');
  expect(call.conversationEvents.filter(({ type }) => type === 'latency')).toHaveLength(1);
});

test('a voice that stood in is named, not the one that it stood in for', () => {
  const anchor = { speechEndMs: 0, decidedAtMs: 1, recognisedAtMs: 1 };
  const times = { clauseAtMs: 2, audioAtMs: 3, ringAtMs: 4, frameAtMs: 5 };
  const choice = {
    ear: null,
    voice: { engine: 'elevenlabs', connection: 'voice', name: 'v' },
    standbyVoices: [{ engine: 'local', name: 'slt' }],
    voiceActivity: 'gate',
  } as const;
  const speaks = (voice: number) => replyStages(anchor, null, { ...times, voice }, choice).speak?.provider;
  expect([speaks(0), speaks(1)]).toEqual(['elevenlabs', 'local']);
});
