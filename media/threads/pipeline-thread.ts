/**
 * Worker thread that holds conversations: the composition root of `media/pipeline`. Its parent, the media process's I/O thread, gives it
 * `workerData` as below, posts `ToPipeline` and reads `FromPipeline`; audio goes through each call's rings. It is woken by `pipelineBell` and
 * by a 20 ms tick on an absolute schedule. A throw inside one call ends that call; anything else takes the thread down,
 * and its parent puts another in its place.
 */
import { join } from 'node:path';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { destination, pino } from 'pino';
import { loadOpusCodec, type OpusCodec } from '../audio/opus-codec.ts';
import { createResampler } from '../audio/resampler.ts';
import { createClipSound } from '../clips/clip-sound.ts';
import { type LegFormat, voiceFormatOf } from '../contract/audio-format.ts';
import { systemClock } from '../contract/clock.ts';
import type { SpeechToText, TextToSpeech } from '../contract/engines.ts';
import type { CallSetup } from '../contract/link-messages.ts';
import { safeLogOptions } from '../contract/log-safety.ts';
import type { SessionCommand } from '../contract/session-command.ts';
import type { FromPipeline, ToPipeline } from '../contract/thread-messages.ts';
import { NeuralVoices } from '../engines/local/neural-voices.ts';
import { createSpeechToTextClients } from '../engines/local/speech-to-text-client.ts';
import { createTextToSpeechClient } from '../engines/local/text-to-speech-client.ts';
import { loadVoiceActivity } from '../engines/local/voice-activity.ts';
import { osThreadId } from '../io/threads/os-thread.ts';
import { createCallSession } from '../pipeline/call-session.ts';
import { ScriptMachine } from '../pipeline/scripted/script-machine.ts';
import type { Session } from '../pipeline/session.ts';
import { SessionRegistry } from '../pipeline/session-registry.ts';
import { ClipShelf } from '../pipeline/speaking/clip-shelf.ts';
import { fixedSentences } from '../pipeline/speaking/fixed-sentences.ts';
import { createFrameEncoder } from '../pipeline/speaking/frame-encoder.ts';
import { GreetingCache } from '../pipeline/speaking/greeting-cache.ts';
import { createToneSession, toneLoop } from '../pipeline/tone/tone-session.ts';
import { listenRateOf } from '../pipeline/uplink/uplink.ts';
import { Bell } from '../rings/bell.ts';
import { blockShapeOf, CallBlock } from '../rings/call-block.ts';
import { Suspect } from '../rings/suspect.ts';

interface Engines {
  speechToText: Readonly<Record<8000 | 16000, SpeechToText>>;
  textToSpeech: TextToSpeech;
}

export interface PipelineThreadData {
  threadIndex: number;
  dataDir: string;
  ioBell: SharedArrayBuffer;
  pipelineBell: SharedArrayBuffer;
  suspect: SharedArrayBuffer;
  logLevel?: string;
}

const TICK_MS = 20;
const HEARTBEAT_MS = 100;
/** A bell that never stops ringing must not keep messages out for longer. */
const YIELD_EVERY_MS = 10;
/** The voice engine's rate; its resampler is made once at start, so that no call waits for the module to load. */
const VOICE_RATE_HZ = 16000;
const MOST_TONES = 16;

/** The neural voice model hears telephone legs; a wider leg has the gate alone. */
const NEURAL_RATE_HZ = 8000;

if (parentPort === null) throw new Error('pipeline-thread is a worker thread: start it with new Worker(…)');
const parent = parentPort;
const data = workerData as PipelineThreadData;
const clock = systemClock;
const logger = pino(
  { level: data.logLevel ?? 'info', base: { thread: `pipeline-${data.threadIndex}` }, ...safeLogOptions() },
  destination({ dest: 1, sync: false }),
);
const ioBell = new Bell(data.ioBell);
const pipelineBell = new Bell(data.pipelineBell);
const ringIo = (): void => ioBell.ring();
const registry = new SessionRegistry(
  logger,
  (message: FromPipeline) => parent.postMessage(message),
  new Suspect(data.suspect),
);
const send = (message: FromPipeline): void => registry.send(message);
const tones = new Map<string, Uint8Array>();
/** Calls whose session is being made, each with its start (a call may be stopped and started anew meanwhile) and with what it was asked. */
const starting = new Map<string, { memory: SharedArrayBuffer; commands: SessionCommand[] }>();
const speechToTextAt = (rateHz: 8000 | 16000): SpeechToText => ({
  inputRateHz: rateHz,
  open: (grammar, onResult, onError) => enginesNow().speechToText[rateHz].open(grammar, onResult, onError),
});
/** By the rate at which a leg is listened to. */
const speechToText = { 8000: speechToTextAt(8000), 16000: speechToTextAt(16000) };
const textToSpeech: TextToSpeech = {
  get outputRateHz() {
    return enginesNow().textToSpeech.outputRateHz;
  },
  get voices() {
    return enginesNow().textToSpeech.voices;
  },
  synthesize: (request, onChunk) => enginesNow().textToSpeech.synthesize(request, onChunk),
};
const greetings = new GreetingCache({ directory: join(data.dataDir, 'greetings'), clock, logger, textToSpeech });
const clipShelf = new ClipShelf(createClipSound(), logger);
let engines: Engines | null = null;
let opus: OpusCodec | null = null;
/** Loaded by the first leg that speaks it. */
const opusNow = (): OpusCodec => (opus ??= loadOpusCodec());

const createVoiceActivity = await loadVoiceActivity();
const neuralVoices = new NeuralVoices({
  gate: createVoiceActivity,
  rateHz: NEURAL_RATE_HZ,
  attach: (shape, memory) => send({ type: 'scoring.attach', shape, memory }),
});
(await createResampler(VOICE_RATE_HZ, 8000)).close();

parent.on('message', (message: ToPipeline<MessagePort>) => {
  switch (message.type) {
    case 'engines':
      engines = enginesOf(message.speechToText, message.textToSpeech);
      break;
    case 'call.start':
      startCall(message.setup, message.call);
      break;
    case 'call.dtmf':
      registry.pressed(message.callUuid, message.digit);
      break;
    case 'call.control': {
      const { callUuid, controlId, action } = message;
      send({ type: 'call.controlled', callUuid, controlId, outcome: registry.control(callUuid, action) });
      break;
    }
    case 'call.command':
      if (starting.has(message.callUuid)) starting.get(message.callUuid)!.commands.push(message.command);
      else registry.command(message.callUuid, message.command);
      break;
    case 'call.tool.answer':
      registry.toolAnswered(message.callUuid, message.toolCallId, message.answer);
      break;
    case 'call.stop':
      starting.delete(message.callUuid);
      registry.stop(message.callUuid);
      break;
    case 'scoring.failed':
      neuralVoices.failed(message.why);
      break;
    case 'prepare':
      prepare(message);
      break;
  }
});

/** What calls hold on to: it leads to the engines of now, so that new ports, after an engine thread's death, serve calls that go on. */
function enginesOf(listenPort: MessagePort, speechPort: MessagePort): Engines {
  const at = createSpeechToTextClients(listenPort);
  return { speechToText: { 8000: at(8000), 16000: at(16000) }, textToSpeech: createTextToSpeechClient(speechPort) };
}

function enginesNow(): Engines {
  if (engines === null) throw new Error('the pipeline thread was given work before its engines');
  return engines;
}

function prepare({ callUuid, agent, clips, placeholders, format }: Extract<ToPipeline, { type: 'prepare' }>): void {
  if (agent.kind !== 'scripted') return;
  if (agent.voiceActivity === 'neural') neuralVoices.warm();
  const { text, clip } = ScriptMachine.greetingOf(agent, placeholders);
  if (clip !== undefined) {
    const file = clips?.[clip];
    if (file !== undefined) clipShelf.obtain(file, text, format);
    return;
  }
  if (engines === null)
    logger.warn({ callUuid }, 'pipeline: asked to prepare a greeting before the engines were there');
  else if (text !== '')
    greetings.obtain({ text, voice: agent.voice, format, ahead: true, fixed: fixedSentences(agent) });
}

function startCall(setup: CallSetup, memory: SharedArrayBuffer): void {
  const { callUuid } = setup;
  const start = { memory, commands: [] as SessionCommand[] };
  starting.set(callUuid, start);
  const isStillWanted = (): boolean => starting.get(callUuid) === start && starting.delete(callUuid);
  createSession(setup, memory).then(
    (session) => {
      if (!isStillWanted()) return session.stop();
      registry.start(session);
      for (const command of start.commands) registry.command(callUuid, command);
      // The loop may be asleep for as long as a heartbeat.
      pipelineBell.ring();
    },
    (error: unknown) => {
      logger.error({ err: error, callUuid }, 'pipeline: a call could not be started');
      const reason = error instanceof Error ? error.message : String(error);
      if (isStillWanted()) {
        send({ type: 'call.end', callUuid, reason: 'internal_error', disposition: null, error: reason });
      }
    },
  );
}

async function createSession(setup: CallSetup, memory: SharedArrayBuffer): Promise<Session> {
  const { agent, format } = setup;
  const output = setup.outputFormat ?? format;
  const call = CallBlock.attach(memory, blockShapeOf(setup));
  if (agent.kind === 'tone') {
    const loop = toneOf(agent.toneHz, voiceFormatOf(output));
    const encoder = createFrameEncoder(output, opusNow);
    return createToneSession({ clock, loop, encoder, ringIo, send }, setup, agent, call);
  }
  enginesNow();
  const rateHz = listenRateOf(format);
  const isOpus = format.codec === 'opus';
  // Opus is decoded at the rate that is listened to, whatever the sender's was.
  const resampler = !isOpus && format.rateHz > rateHz ? await createResampler(format.rateHz, rateHz) : null;
  return createCallSession(
    {
      clock,
      logger: logger.child({ callUuid: setup.callUuid }),
      speechToText: speechToText[rateHz],
      textToSpeech,
      voiceActivity:
        agent.voiceActivity === 'neural' && rateHz === NEURAL_RATE_HZ
          ? neuralVoices.create((why) => warnOfGateAlone(setup.callUuid, call, why))
          : createVoiceActivity(rateHz),
      resampler,
      opusDecoder: isOpus ? opusNow().createDecoder({ rateHz, channels: 1 }) : null,
      frameEncoder: createFrameEncoder(output, opusNow),
      greetings,
      clipShelf,
      ringIo,
      send,
    },
    setup,
    agent,
    call,
  );
}

/** The call goes on; its entry and the log say that it hears less well than was asked for. */
function warnOfGateAlone(callUuid: string, call: CallBlock, why: string): void {
  logger.warn({ callUuid, why }, 'pipeline: no neural voice activity; the gate alone decides');
  const message = `No neural voice activity; the gate alone decides: ${why}`;
  send({
    type: 'call.live',
    callUuid,
    event: { type: 'warning', code: 'neural_voice_activity_unavailable', message, atMs: call.streamMs },
  });
}

function toneOf(toneHz: number, format: LegFormat): Uint8Array {
  const key = `${toneHz} ${format.codec} ${format.rateHz}`;
  const loop = tones.get(key) ?? toneLoop(toneHz, format);
  if (tones.size >= MOST_TONES) tones.clear();
  tones.set(key, loop);
  return loop;
}

async function loop(): Promise<never> {
  let nextTickMs = clock.nowMs();
  let nextHeartbeatMs = nextTickMs;
  let yieldedAtMs = nextTickMs;
  let waitedMs = 0;
  let lateMs = 0;
  /** Calls wait for the next tick; without any the thread sleeps over it. */
  let isTicking = false;
  for (;;) {
    const nowMs = clock.nowMs();
    if (nowMs >= nextTickMs) {
      if (isTicking) lateMs = Math.max(lateMs, nowMs - nextTickMs);
      registry.tick(true);
      // An absolute schedule; ticks that a stall swallowed are skipped, for one tick does the work of many.
      nextTickMs += TICK_MS * Math.ceil((nowMs - nextTickMs + 1) / TICK_MS);
    } else {
      registry.tick(false);
    }
    if (nowMs >= nextHeartbeatMs) {
      const sinceMs = nowMs - nextHeartbeatMs + HEARTBEAT_MS;
      nextHeartbeatMs = nowMs + HEARTBEAT_MS;
      send({ type: 'heartbeat', calls: registry.calls, busyRatio: Math.max(0, 1 - waitedMs / sinceMs), lateMs });
      waitedMs = 0;
      lateMs = 0;
    }
    if (nowMs - yieldedAtMs >= YIELD_EVERY_MS) {
      await new Promise(setImmediate);
      yieldedAtMs = clock.nowMs();
    }
    isTicking = registry.calls > 0;
    const untilMs = isTicking ? Math.min(nextTickMs, nextHeartbeatMs) : nextHeartbeatMs;
    const waitMs = untilMs - clock.nowMs();
    if (waitMs > 0) {
      const fromMs = clock.nowMs();
      await pipelineBell.wait(waitMs);
      waitedMs += clock.nowMs() - fromMs;
    }
  }
}

parent.postMessage({ type: 'ready', osThreadId: osThreadId() } satisfies FromPipeline);
await loop();
