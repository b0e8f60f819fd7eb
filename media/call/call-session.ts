/**
 * One call, whatever its agent: the map of both audio chains, top to bottom, and their life from start to stop. The
 * pipeline thread makes it, ticks it and stops it. It holds no policy: what sound and words mean is the conversation's
 * and the agent's business.
 *
 *   UPLINK    call.uplink ring → FrameIntake (gap fill → decode → voice gate) → Hearing ─┬─ TurnTaker
 *                                                                                        └─ CallEar
 *   DOWNLINK  agent → text or sound → RenderedSpeech (voice engine → LegEncoder) → Speaker → call.downlink ring
 */
import type { Logger } from 'pino';
import type { OpusDecoder } from '../audio/opus-codec.ts';
import type { Resampler } from '../audio/resampler.ts';
import type { AgentKind } from '../contract/agent.ts';
import type { Clock } from '../contract/clock.ts';
import type { EarFactory } from '../contract/ear.ts';
import type { TextToSpeech, VoiceActivity } from '../contract/engines.ts';
import type { CallSetup } from '../contract/link-messages.ts';
import type { LanguageModel } from '../contract/model.ts';
import type { FromPipeline } from '../contract/thread-messages.ts';
import type { CallBlock } from '../rings/call-block.ts';
import { Conversation } from './conversation.ts';
import { discardFrames, FrameIntake } from './hearing/frame-intake.ts';
import { CallReporter } from './reporter.ts';
import type { Session } from './session.ts';
import type { ClipShelf } from './speaking/clip-shelf.ts';
import type { FrameEncoder } from './speaking/frame-encoder.ts';
import type { GreetingCache } from './speaking/greeting-cache.ts';

/** All of them at `listenRateOf(setup.format)`, made for this call; the session closes them. */
export interface ListeningDeps {
  ear: EarFactory;
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
  clipShelf?: ClipShelf;
  ringIo: () => void;
  send: (message: FromPipeline) => void;
}

export function createCallSession(deps: CallSessionDeps, setup: CallSetup, call: CallBlock): Session {
  const { callUuid } = setup;
  const { clock, logger, kind, listening, textToSpeech, greetings, ringIo, send } = deps;
  const reporter = new CallReporter(setup, call, clock, send);
  const conversation = new Conversation(
    {
      call,
      clock,
      logger,
      kind,
      ear: listening?.ear ?? null,
      textToSpeech,
      greetings,
      ...(deps.clipShelf === undefined ? {} : { clips: { shelf: deps.clipShelf, files: setup.clips ?? {} } }),
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
  const intake = listening === null ? null : intakeOf(listening);
  let stopped = false;

  function intakeOf({ voiceActivity, resampler, opusDecoder }: ListeningDeps): FrameIntake {
    return new FrameIntake(
      call.uplink,
      setup.format,
      voiceActivity,
      resampler,
      clock,
      conversation.hearing,
      opusDecoder,
    );
  }

  return {
    callUuid,
    get hasInput() {
      return call.uplink.hasFrame;
    },
    start() {
      conversation.start(intake);
    },
    tick() {
      if (intake === null || conversation.ended) discardFrames(call.uplink);
      else intake.drain();
      conversation.tick();
    },
    command: (command) => conversation.command(command),
    stop() {
      if (stopped) return;
      stopped = true;
      conversation.close();
      intake?.close();
      deps.frameEncoder?.close();
    },
  };
}
