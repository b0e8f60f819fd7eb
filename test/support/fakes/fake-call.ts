/**
 * A whole call of the pipeline on fakes and a virtual clock: leg, engines, session, and what it sent, in words that
 * tests can compare.
 */
import { pino } from 'pino';
import { scriptedKind } from '../../../media/agents/scripted/scripted-agent.ts';
import { createCallSession } from '../../../media/call/call-session.ts';
import type { Session } from '../../../media/call/session.ts';
import { SessionRegistry } from '../../../media/call/session-registry.ts';
import { ClipCache, type ClipSource } from '../../../media/call/speaking/clip-cache.ts';
import { GreetingCache } from '../../../media/call/speaking/greeting-cache.ts';
import type { AgentKind } from '../../../media/contract/agent.ts';
import type { ScriptedAgent } from '../../../media/contract/agent-definition.ts';
import { MULAW_8K } from '../../../media/contract/audio-format.ts';
import type { Checkpoint, StoredCheckpoint } from '../../../media/contract/checkpoint.ts';
import type { ConversationEvent, Turn } from '../../../media/contract/conversation.ts';
import type { EarFactory } from '../../../media/contract/ear.ts';
import type { CallSetup } from '../../../media/contract/link-messages.ts';
import type { LanguageModel } from '../../../media/contract/model.ts';
import type { FromPipeline } from '../../../media/contract/thread-messages.ts';
import { grammarEarOf } from '../../../media/engines/local/grammar-ear.ts';
import { sampleAgent } from '../sample-agent.ts';
import { VirtualClock } from '../virtual-clock.ts';
import { FakeLeg } from './fake-leg.ts';
import { FakeSpeechToText, FakeTextToSpeech, FakeVoiceActivity } from './scripted-engines.ts';
import { SpeechInMemory } from './speech-in-memory.ts';

export const ANSWERED_EPOCH_MS = Date.UTC(2026, 10, 21);

export function setupOf(agent: CallSetup['agent'], change: Partial<CallSetup> = {}): CallSetup {
  return {
    callUuid: 'call-1',
    epoch: 1,
    enterprise: 'acme',
    agentId: 'agent-1',
    agentVersion: 1,
    agent,
    placeholders: { customer_name: 'Asha' },
    carrier: 'plivo',
    carrierCallId: 'carrier-1',
    answeredAtEpochMs: ANSWERED_EPOCH_MS,
    maxDurationMs: 1_800_000,
    record: false,
    checkpoint: null,
    format: MULAW_8K,
    ...change,
  };
}

export interface FakeCallOptions {
  agent?: ScriptedAgent;
  /** Another agent behind the port, which is given the definition of a scripted one. */
  kind?: AgentKind<ScriptedAgent>;
  /** Another recogniser than the fake, over which `ear` then says nothing. */
  earOf?: EarFactory;
  /** What hears a person who speaks in the agent's place; default: nobody does. */
  personEar?: () => Promise<EarFactory>;
  checkpoint?: StoredCheckpoint;
  setup?: Partial<CallSetup>;
  /** Renders the greeting before the call, as `prepare` does. Default true. */
  prepared?: boolean;
  /** Where the sound of clips comes from. */
  clips?: ClipSource;
  /** Those that the agent may ask. */
  models?: readonly LanguageModel[];
}

export async function fakeCall(options: FakeCallOptions = {}): Promise<FakeCall> {
  const call = new FakeCall(options);
  if (options.prepared !== false) await call.prepare();
  return call;
}

export class FakeCall {
  readonly clock = new VirtualClock(ANSWERED_EPOCH_MS);
  readonly leg = new FakeLeg();
  readonly ear = new FakeSpeechToText(8000, this.clock);
  readonly voice = new FakeTextToSpeech(this.clock);
  readonly voiceActivity = new FakeVoiceActivity();
  readonly greetings: GreetingCache;
  readonly sent: FromPipeline[] = [];
  readonly registry: SessionRegistry;
  readonly session: Session;
  readonly agent: ScriptedAgent;
  ioRings = 0;

  constructor({
    agent = sampleAgent({ voice: 'fake' }),
    kind = scriptedKind,
    earOf = grammarEarOf(this.ear),
    personEar,
    checkpoint,
    setup,
    clips,
    models = [],
  }: FakeCallOptions) {
    this.agent = agent;
    const logger = pino({ level: 'silent' });
    this.greetings = new GreetingCache({
      directory: new SpeechInMemory(),
      clock: this.clock,
      logger,
      textToSpeech: this.voice,
    });
    this.registry = new SessionRegistry(logger, (message) => this.sent.push(message));
    this.session = createCallSession(
      {
        clock: this.clock,
        logger,
        kind: kind as AgentKind,
        listening:
          kind.engines(agent).ear === null
            ? null
            : {
                ear: earOf,
                voiceActivity: this.voiceActivity,
                resampler: null,
                ...(personEar === undefined ? {} : { personEar }),
              },
        textToSpeech: this.voice,
        greetings: this.greetings,
        models,
        ...(clips === undefined ? {} : { clipCache: new ClipCache(clips, logger) }),
        ringIo: () => {
          this.ioRings++;
        },
        send: (message) => this.registry.send(message),
      },
      setupOf(agent, { checkpoint: checkpoint ?? null, ...setup }),
      this.leg.block,
    );
  }

  /** As while the phone rings: the greeting of `sampleAgent` for Asha is in memory when it returns. */
  async prepare(): Promise<void> {
    const speech = this.greetings.obtain({
      text: 'Hello Asha, this is the dental office.',
      voice: this.agent.voice,
      format: MULAW_8K,
    });
    while (!speech.complete) {
      this.clock.advanceMs(20);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await this.greetings.settled();
    this.clock.setEpochMs(ANSWERED_EPOCH_MS);
  }

  start(): void {
    this.registry.start(this.session);
  }

  /** Lets `ms` of the call pass, in steps of 20 ms. */
  async run(ms: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += 20) {
      this.clock.advanceMs(20);
      // Engines answer between two wakes of the thread.
      await new Promise((resolve) => setImmediate(resolve));
      this.leg.step();
      this.registry.tick(true);
    }
  }

  /** Runs until `done`, at most `limitMs`; fails then, naming what it waited for. */
  async runUntil(what: string, done: () => boolean, limitMs = 30_000): Promise<void> {
    for (let passedMs = 0; !done(); passedMs += 20) {
      if (passedMs >= limitMs) throw new Error(`${what} did not come within ${limitMs} ms`);
      await this.run(20);
    }
  }

  async say(ms: number): Promise<void> {
    this.leg.callerSpeaks = true;
    await this.run(ms);
    this.leg.callerSpeaks = false;
  }

  /** Runs until the agent has said this many utterances to their end. */
  async agentFinishes(text: string): Promise<void> {
    await this.runUntil(`the end of '${text}'`, () => this.turns.some((turn) => turn.text === text));
  }

  async agentStarts(): Promise<void> {
    const before = this.conversationEvents.filter(
      (event) => event.type === 'speech' && event.who === 'agent' && event.phase === 'start',
    ).length;
    const count = () =>
      this.conversationEvents.filter(
        (event) => event.type === 'speech' && event.who === 'agent' && event.phase === 'start',
      ).length;
    await this.runUntil('agent speech', () => count() > before);
  }

  get conversationEvents(): ConversationEvent[] {
    return this.sent.flatMap((message) => (message.type === 'call.event' ? [message.event] : []));
  }

  get turns(): Turn[] {
    return this.conversationEvents.flatMap((event) => (event.type === 'turn' ? [event.turn] : []));
  }

  get checkpoints(): Checkpoint[] {
    return this.sent.flatMap((message) => (message.type === 'call.checkpoint' ? [message.checkpoint] : []));
  }

  get ends(): Extract<FromPipeline, { type: 'call.end' }>[] {
    return this.sent.flatMap((message) => (message.type === 'call.end' ? [message] : []));
  }

  bargeIns(): string[] {
    return this.conversationEvents.flatMap((event) => (event.type === 'barge_in' ? [event.phase] : []));
  }

  /** `agent: text` or `user (kind): text`, in the order in which they were sent. */
  story(): string[] {
    return this.turns.map((turn) => {
      const kind = turn.kind === undefined || turn.kind === 'speech' ? '' : ` (${turn.kind})`;
      return `${turn.role}${kind}: ${turn.heardText}${turn.interrupted ? ' [cut]' : ''}`;
    });
  }

  close(): void {
    this.registry.stop(this.session.callUuid);
  }
}
