/**
 * One call, whatever its agent: the map of both audio chains, top to bottom, and their life from start to stop. The
 * pipeline thread makes it, ticks it and stops it. It holds no policy: what sound and words mean is the conversation's
 * and the agent's business.
 *
 *   UPLINK    call.uplink ring → FrameIntake (gap fill → decode → voice-activity gate) → Hearing ─┬─ TurnTaker
 *                                                                                        └─ CallEar
 *   DOWNLINK  agent → text or sound → RenderedSpeech (voice engine → LegEncoder) → Speaker → call.downlink ring
 */
import type { Logger } from 'pino';
import type { OpusDecoder } from '../audio/opus-codec.ts';
import type { Resampler } from '../audio/resampler.ts';
import type { AgentKind } from '../contract/agent.ts';
import type { CallCommand } from '../contract/call-command.ts';
import type { Clock } from '../contract/clock.ts';
import type { EarFactory } from '../contract/ear.ts';
import type { TextToSpeech, VoiceActivity } from '../contract/engines.ts';
import type { CallSetup } from '../contract/link-messages.ts';
import type { LanguageModel } from '../contract/model.ts';
import type { ControlOutcome } from '../contract/operator-control.ts';
import type { FromPipeline } from '../contract/thread-messages.ts';
import type { CallBlock } from '../rings/call-block.ts';
import type { FrameRing } from '../rings/frame-ring.ts';
import { Conversation } from './conversation.ts';
import { discardFrames, FrameIntake } from './hearing/frame-intake.ts';
import { CallReporter } from './reporter.ts';
import type { Session } from './session.ts';
import type { ClipCache } from './speaking/clip-cache.ts';
import type { FrameEncoder } from './speaking/frame-encoder.ts';
import type { GreetingCache } from './speaking/greeting-cache.ts';

/** All of them at `listenRateOf(setup.format)`, made for this call; the session closes them. */
export interface ListeningDeps {
  ear: EarFactory;
  /** Another of its kind, for 16 kHz samples of who speaks in the agent's place. Absent: there is none. */
  personEar?: () => Promise<EarFactory>;
  voiceActivity: VoiceActivity;
  /** From the leg's rate to the recogniser's, where they differ. */
  resampler: Resampler | null;
  /** Of a leg that sends Opus. */
  opusDecoder?: OpusDecoder | null;
}

export interface CallSessionDeps {
  clock: Clock;
  /** A child with the call's id. */
  logger: Logger;
  /** Of `setup.agent`. */
  kind: AgentKind;
  /** Null: the agent does not listen. */
  listening: ListeningDeps | null;
  textToSpeech: TextToSpeech;
  /** By their place in what the kind names; absent: none. */
  models?: readonly LanguageModel[];
  /** Of a leg that hears Opus; the session closes it. */
  frameEncoder?: FrameEncoder | null;
  greetings: GreetingCache;
  clipCache?: ClipCache;
  ringIo: () => void;
  send: (message: FromPipeline) => void;
}

export function createCallSession(deps: CallSessionDeps, setup: CallSetup, call: CallBlock): Session {
  const { callUuid } = setup;
  const { clock, logger, kind, listening, textToSpeech, greetings, ringIo, send } = deps;
  const reporter = new CallReporter(setup, call, clock, send, kind.engines(setup.agent));
  const conversation = new Conversation(
    {
      call,
      clock,
      logger,
      kind,
      ear: listening?.ear ?? null,
      personEar: listening?.personEar ?? null,
      textToSpeech,
      greetings,
      ...(deps.clipCache === undefined ? {} : { clips: { cache: deps.clipCache, files: setup.clips ?? {} } }),
      reporter,
      tools: {
        ask: (ask, where) => send({ type: 'call.tool', callUuid, ask, ...where }),
        cancel: (toolCallId) => send({ type: 'call.tool.cancel', callUuid, toolCallId }),
      },
      models: deps.models ?? [],
      ringIo,
      encoder: deps.frameEncoder ?? null,
      hasPage: setup.web !== undefined,
      end: (reason, disposition, error) => send({ type: 'call.end', callUuid, reason, disposition, error }),
    },
    setup,
  );
  const intake = listening === null ? null : intakeOf(listening, { call, setup, clock, conversation });
  return new CallSession(callUuid, call.uplink, { conversation, intake, frameEncoder: deps.frameEncoder ?? null });
}

function intakeOf(
  { voiceActivity, resampler, opusDecoder }: ListeningDeps,
  of: { call: CallBlock; setup: CallSetup; clock: Clock; conversation: Conversation },
): FrameIntake {
  const { call, setup, clock, conversation } = of;
  const { hearing } = conversation;
  return new FrameIntake(call.uplink, setup.format, voiceActivity, resampler, clock, hearing, opusDecoder);
}

class CallSession implements Session {
  readonly callUuid: string;
  readonly #uplink: FrameRing;
  readonly #conversation: Conversation;
  readonly #intake: FrameIntake | null;
  readonly #frameEncoder: FrameEncoder | null;
  /** Sound is taken at each tick. What waits for time or for the far end can wait for the next: 40 ms. */
  #isOddTick = false;
  #isStopped = false;

  constructor(
    callUuid: string,
    uplink: FrameRing,
    parts: { conversation: Conversation; intake: FrameIntake | null; frameEncoder: FrameEncoder | null },
  ) {
    this.callUuid = callUuid;
    this.#uplink = uplink;
    this.#conversation = parts.conversation;
    this.#intake = parts.intake;
    this.#frameEncoder = parts.frameEncoder;
  }

  get listens(): boolean {
    return this.#intake !== null;
  }

  start(): void {
    this.#conversation.start(this.#intake);
  }

  tick(): void {
    this.#isOddTick = !this.#isOddTick;
    if (this.#intake !== null && !this.#conversation.ended) this.#intake.drain();
    else if (this.#isOddTick) discardFrames(this.#uplink);
    if (this.#isOddTick) this.#conversation.tick();
  }

  command(command: CallCommand): ControlOutcome | null {
    return this.#conversation.command(command);
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#conversation.close();
    this.#intake?.close();
    this.#frameEncoder?.close();
  }
}
