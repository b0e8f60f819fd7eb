/**
 * One call of a scripted agent: the map of both audio chains, top to bottom, and their life from start to stop. The pipeline thread makes
 * it, ticks it and stops it. It holds no policy: what sound and words mean is the conversation's business.
 *
 *   UPLINK    call.uplink ring → Uplink (gap fill → decode → voice gate) → Hearing ─┬─ TurnTaker
 *                                                                                   └─ CallerTurn → recogniser
 *   DOWNLINK  ScriptMachine → renderSpeech (voice engine → LegEncoder) → RenderedSpeech → Speaker → call.downlink ring
 */
import type { Logger } from 'pino';
import type { OpusDecoder } from '../audio/opus-codec.ts';
import type { Resampler } from '../audio/resampler.ts';
import type { ScriptedAgent } from '../contract/agent-definition.ts';
import type { Clock } from '../contract/clock.ts';
import type { SpeechToText, TextToSpeech, VoiceActivity } from '../contract/engines.ts';
import type { CallSetup } from '../contract/link-messages.ts';
import type { FromPipeline } from '../contract/thread-messages.ts';
import type { CallBlock } from '../rings/call-block.ts';
import { Conversation } from './conversation.ts';
import type { Session } from './session.ts';
import type { ClipShelf } from './speaking/clip-shelf.ts';
import type { FrameEncoder } from './speaking/frame-encoder.ts';
import type { GreetingCache } from './speaking/greeting-cache.ts';
import { Transcript } from './transcript.ts';
import { Uplink } from './uplink/uplink.ts';

export interface CallSessionDeps {
  clock: Clock;
  /** A child with the call's id. */
  logger: Logger;
  /** Listens at `listenRateOf(setup.format)`. */
  speechToText: SpeechToText;
  textToSpeech: TextToSpeech;
  /** Made for this call, at `listenRateOf(setup.format)`; the session closes it. */
  voiceActivity: VoiceActivity;
  /** From the leg's rate to the recogniser's, where they differ; the session closes it. */
  resampler: Resampler | null;
  /** Of a leg that sends Opus, at `listenRateOf`; the session closes it. */
  opusDecoder?: OpusDecoder | null;
  /** Of a leg that hears Opus; the session closes it. */
  frameEncoder?: FrameEncoder | null;
  greetings: GreetingCache;
  clipShelf?: ClipShelf;
  ringIo: () => void;
  send: (message: FromPipeline) => void;
}

export function createCallSession(
  deps: CallSessionDeps,
  setup: CallSetup,
  agent: ScriptedAgent,
  call: CallBlock,
): Session {
  const { callUuid } = setup;
  const { clock, logger, speechToText, textToSpeech, greetings, ringIo, send } = deps;
  const transcript = new Transcript(setup, call, clock, send);
  const conversation = new Conversation(
    {
      call,
      clock,
      logger,
      speechToText,
      textToSpeech,
      greetings,
      ...(deps.clipShelf === undefined ? {} : { clips: { shelf: deps.clipShelf, files: setup.clips ?? {} } }),
      transcript,
      tools: {
        ask: (ask, where) => send({ type: 'call.tool', callUuid, ask, ...where }),
        cancel: (toolCallId) => send({ type: 'call.tool.cancel', callUuid, toolCallId }),
      },
      ringIo,
      web: setup.web === undefined ? null : { encoder: deps.frameEncoder ?? null },
      end: (reason, disposition, error) => send({ type: 'call.end', callUuid, reason, disposition, error }),
    },
    setup,
    agent,
  );
  const uplink = new Uplink(
    call.uplink,
    setup.format,
    deps.voiceActivity,
    deps.resampler,
    clock,
    conversation.hearing,
    deps.opusDecoder,
  );
  let stopped = false;

  return {
    callUuid,
    get hasInput() {
      return call.uplink.hasFrame;
    },
    start() {
      conversation.start(uplink);
    },
    tick() {
      if (conversation.ended) uplink.discard();
      else uplink.drain();
      conversation.tick();
    },
    pressed(key) {
      conversation.pressed(key);
    },
    control: (action) => conversation.control(action),
    command(command) {
      conversation.command(command);
    },
    toolAnswered(toolCallId, answer) {
      conversation.toolAnswered(toolCallId, answer);
    },
    stop() {
      if (stopped) return;
      stopped = true;
      conversation.close();
      uplink.close();
      deps.frameEncoder?.close();
    },
  };
}
