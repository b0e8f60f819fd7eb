/**
 * Worker thread that holds conversations, the composition root of `media/call`: it puts agents and engines behind their
 * ports. Its parent, the media process's I/O thread, gives it `workerData` as below, posts `ToPipeline` and reads
 * `FromPipeline`; audio goes through each call's rings. It is woken by `pipelineBell` and by a 20 ms tick on an
 * absolute schedule. A throw inside one call ends that call; anything else takes the thread down, and its parent puts
 * another in its place.
 */
import { join } from 'node:path';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { destination, pino } from 'pino';
import { loadOpusCodec, type OpusCodec } from '../audio/opus-codec.ts';
import { createResampler } from '../audio/resampler.ts';
import { createCallSession, type ListeningDeps } from '../call/call-session.ts';
import { listenRateOf } from '../call/hearing/frame-intake.ts';
import type { Session } from '../call/session.ts';
import { SessionRegistry } from '../call/session-registry.ts';
import { ClipCache } from '../call/speaking/clip-cache.ts';
import { fixedSentencesOf } from '../call/speaking/fixed-sentences.ts';
import { createFrameEncoder } from '../call/speaking/frame-encoder.ts';
import { GreetingCache } from '../call/speaking/greeting-cache.ts';
import { NothingKept } from '../call/speaking/greeting-files.ts';
import { PERSON_RATE_HZ } from '../call/takeover/person-voice.ts';
import { createClipSound } from '../clips/clip-sound.ts';
import { systemClock } from '../contract/clock.ts';
import type { CallUse, EngineChoice, EngineUse, VoiceUse } from '../contract/engine-kinds.ts';
import type { TextToSpeech } from '../contract/engines.ts';
import type { CallSetup } from '../contract/link-messages.ts';
import { safeLogOptions } from '../contract/log-safety.ts';
import type { LanguageModel } from '../contract/model.ts';
import type { FromPipeline, ToPipeline } from '../contract/thread-messages.ts';
import { loadVoiceActivity } from '../engines/local/voice-activity.ts';
import { VoiceActivityScoring } from '../engines/local/voice-activity-scoring.ts';
import { absentModel } from '../engines/provider/absent-model.ts';
import { type NamedVoice, StandbyVoice } from '../engines/standby-voice.ts';
import { VoiceTroubles } from '../engines/voice-troubles.ts';
import { nameThisThread, osThreadId } from '../io/threads/os-thread.ts';
import { Bell } from '../rings/bell.ts';
import { blockShapeOf, CallBlock } from '../rings/call-block.ts';
import { FeedBoard } from '../rings/feed-board.ts';
import { Suspect } from '../rings/suspect.ts';
import { agentKindOf } from './agent-kinds.ts';
import { callUseOf, ThreadEngines } from './thread-engines.ts';

/** An engine's, and what is kept of its speech. */
interface Voice {
  textToSpeech: TextToSpeech;
  greetings: GreetingCache;
  /** Of its call's. */
  troubles: VoiceTroubles;
}

/** Whose use of connections it is. */
type CallRights = Pick<CallSetup, 'callUuid' | 'granted'>;

export interface PipelineThreadData {
  threadIndex: number;
  dataDir: string;
  ioBell: SharedArrayBuffer;
  pipelineBell: SharedArrayBuffer;
  suspect: SharedArrayBuffer;
  board: SharedArrayBuffer;
  logLevel?: string;
}

const TICK_MS = 20;
const HEARTBEAT_MS = 100;
/** Calls that ring or talk with a voice of a connection; of those before them nobody needs the greeting any more. */
const MOST_CALL_VOICES = 256;
/** A bell that never stops ringing must not keep messages out for longer; who has slept has let them in. */
const YIELD_EVERY_MS = 10;
/** The neural voice-activity model hears telephone legs; a wider leg has the gate alone. */
const NEURAL_RATE_HZ = 8000;

if (parentPort === null) throw new Error('pipeline-thread is a worker thread: start it with new Worker(…)');
const parent = parentPort;
const data = workerData as PipelineThreadData;
nameThisThread(`pipeline-${data.threadIndex}`);
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
  new FeedBoard(data.board),
);
const send = (message: FromPipeline): void => registry.send(message);
const engines = new ThreadEngines();
/** By their engines; those with a connection by their call too. */
const voices = new Map<string, Voice>();
/** Keys of those with a connection, the oldest first. */
const callVoices: string[] = [];
/** Of agents that say nothing in words. */
const SPEECHLESS: TextToSpeech = {
  outputRateHz: 8000,
  voices: [],
  synthesize: () => Promise.reject(new Error('an agent of a kind without a voice engine wants to say words')),
};
const clipCache = new ClipCache(createClipSound(), logger);
let opus: OpusCodec | null = null;
/** Loaded by the first leg that speaks it. */
const opusNow = (): OpusCodec => (opus ??= loadOpusCodec());

const createVoiceActivity = await loadVoiceActivity();
const voiceActivityScoring = new VoiceActivityScoring({
  gate: createVoiceActivity,
  rateHz: NEURAL_RATE_HZ,
  clock,
  attach: (shape, memory) => send({ type: 'scoring.attach', shape, memory }),
});

parent.on('message', (message: ToPipeline<MessagePort>) => {
  switch (message.type) {
    case 'engines':
      engines
        .usePorts(message.ports)
        .catch((error: unknown) => logger.error({ err: error }, 'pipeline: an engine could not be loaded'));
      break;
    case 'call.start':
      startCall(message);
      break;
    case 'call.command':
      registry.command(message.callUuid, message.command);
      break;
    case 'call.stop':
      registry.stop(message.callUuid);
      break;
    case 'scoring.failed':
      voiceActivityScoring.failed(message.why);
      break;
    case 'prepare':
      prepare(message).catch((error: unknown) =>
        logger.warn({ err: error, callUuid: message.callUuid }, 'pipeline: a greeting could not be prepared'),
      );
      break;
  }
});

async function voiceOf({ voice, standbyVoices = [] }: EngineChoice, call: CallRights): Promise<Voice> {
  const uses = voice === null ? [] : [voice, ...standbyVoices];
  const callUses = uses.map((use) => callUseOf(use, call));
  // What one connection speaks is its own workspace's: it is kept for its call, in memory alone.
  const isShared = uses.length <= 1 && callUses.every(({ connection }) => connection === null);
  const key = isShared ? (voice?.engine ?? '') : JSON.stringify([uses.map(({ engine }) => engine), callUses]);
  const known = voices.get(key);
  if (known !== undefined) return known;
  const troubles = new VoiceTroubles();
  const textToSpeech = await speakingWith(uses, callUses, troubles);
  const meanwhile = voices.get(key);
  if (meanwhile !== undefined) return meanwhile;
  const directory = isShared ? join(data.dataDir, 'greetings') : new NothingKept();
  const greetings = new GreetingCache({ directory, clock, logger, textToSpeech, engine: voice?.engine ?? '' });
  const made = { textToSpeech, greetings, troubles };
  voices.set(key, made);
  if (!isShared) callVoices.push(key);
  if (callVoices.length > MOST_CALL_VOICES) voices.delete(callVoices.shift()!);
  return made;
}

/** A voice that cannot be had is no reason not to speak with another, if there is one. */
async function speakingWith(
  uses: readonly VoiceUse[],
  callUses: readonly CallUse[],
  troubles: VoiceTroubles,
): Promise<TextToSpeech> {
  const [first, ...others] = uses;
  if (first === undefined) return SPEECHLESS;
  if (others.length === 0) return engines.voice(first.engine, callUses[0]);
  const all = await Promise.allSettled(uses.map(({ engine }, at) => engines.voice(engine, callUses[at])));
  const named: NamedVoice[] = [];
  for (const [at, one] of all.entries()) {
    const { engine, name, connection } = uses[at]!;
    const label = connection === undefined ? engine : `${connection} (${engine})`;
    if (one.status === 'fulfilled') named.push({ textToSpeech: one.value, name, label });
    else troubles.told({ kind: 'failed', label, message: (one.reason as Error).message, afterMs: 0 });
  }
  if (named.length === 0) throw (all[0] as PromiseRejectedResult).reason;
  return new StandbyVoice({ voices: named, clock, told: (trouble) => troubles.told(trouble) });
}

async function prepare(message: Extract<ToPipeline, { type: 'prepare' }>): Promise<void> {
  const { agent, clips, placeholders, format } = message;
  const kind = agentKindOf(agent);
  const choice = kind.engines(agent);
  if (choice.voiceActivity === 'neural') voiceActivityScoring.warm();
  if (choice.ear !== null && choice.ear.connection !== undefined) await prepareEar(choice.ear, message);
  const opening = kind.opening(agent, placeholders);
  if (opening === null) return;
  const { text, clip } = opening;
  if (clip !== undefined) {
    const file = clips?.[clip];
    if (file !== undefined) clipCache.obtain(file, text, format);
    return;
  }
  if (choice.voice === null) return;
  const { greetings } = await voiceOf(choice, message);
  const fixed = fixedSentencesOf(kind.fixedTexts(agent));
  greetings.obtain({ text, voice: choice.voice.name, format, ahead: true, fixed });
}

/** What cannot be had is told where the call begins. */
async function prepareEar(use: EngineUse, message: Extract<ToPipeline, { type: 'prepare' }>): Promise<void> {
  const { callUuid, format } = message;
  try {
    await engines.prepareEar(use.engine, listenRateOf(format), callUseOf(use, message), format.codec);
  } catch (error) {
    logger.warn({ err: error, callUuid }, 'pipeline: a recogniser could not be prepared');
  }
}

function startCall({ setup, call, seat }: Extract<ToPipeline, { type: 'call.start' }>): void {
  const { callUuid } = setup;
  const start = registry.starting(callUuid);
  createSession(setup, call).then(
    (session) => {
      if (!registry.isWanted(callUuid, start)) return session.stop();
      registry.start(session, seat);
      // The loop may be asleep for as long as a heartbeat.
      pipelineBell.ring();
    },
    (error: unknown) => {
      logger.error({ err: error, callUuid }, 'pipeline: a call could not be started');
      if (registry.isWanted(callUuid, start))
        registry.gaveUp(callUuid, error instanceof Error ? error.message : String(error));
    },
  );
}

async function createSession(setup: CallSetup, memory: SharedArrayBuffer): Promise<Session> {
  const { callUuid, agent, format } = setup;
  const call = CallBlock.attach(memory, blockShapeOf(setup));
  const kind = agentKindOf(agent);
  const choice = kind.engines(agent);
  const { ear, voiceActivity, models = [] } = choice;
  const { troubles, ...speaking } = await voiceOf(choice, setup);
  troubles.tellTo((event) => send({ type: 'call.event', callUuid, event: { ...event, atMs: call.streamMs } }));
  const frameEncoder = createFrameEncoder(setup.outputFormat ?? format, opusNow);
  return createCallSession(
    {
      clock,
      logger: logger.child({ callUuid }),
      kind,
      // Last: what it makes is the session's to close, and nobody's if there is none.
      listening: ear === null ? null : await listeningTo(setup, call, ear, voiceActivity),
      ...speaking,
      models: await Promise.all(models.map((use) => modelOf(use, setup))),
      frameEncoder,
      clipCache,
      ringIo,
      send,
    },
    setup,
    call,
  );
}

async function listeningTo(
  setup: CallSetup,
  call: CallBlock,
  use: EngineUse,
  voiceActivity: EngineChoice['voiceActivity'],
): Promise<ListeningDeps> {
  const { callUuid, format } = setup;
  const rateHz = listenRateOf(format);
  const isOpus = format.codec === 'opus';
  return {
    ear: await engines.ear(use.engine, rateHz, callUseOf(use, setup), format.codec),
    personEar: () => engines.ear(use.engine, PERSON_RATE_HZ, callUseOf(use, setup)),
    // Opus is decoded at the rate that is listened to, whatever the sender's was.
    resampler: !isOpus && format.rateHz > rateHz ? await createResampler(format.rateHz, rateHz) : null,
    opusDecoder: isOpus ? opusNow().createDecoder({ rateHz, channels: 1 }) : null,
    voiceActivity:
      voiceActivity === 'neural' && rateHz === NEURAL_RATE_HZ
        ? voiceActivityScoring.create((why) => warnOfGateAlone(callUuid, call, why))
        : createVoiceActivity(rateHz),
  };
}

/** The call goes on; its entry and the log say that it hears less well than was asked for. */
function warnOfGateAlone(callUuid: string, call: CallBlock, why: string): void {
  logger.warn({ callUuid, why }, 'pipeline: no neural voice activity; the gate alone decides');
  const message = `No neural voice activity; the gate alone decides: ${why}`;
  send({
    type: 'call.event',
    callUuid,
    event: { type: 'warning', code: 'neural_voice_activity_unavailable', message, atMs: call.streamMs },
  });
}

/** One that cannot be had is no reason not to ask another: each question to it fails. */
async function modelOf(use: EngineUse, setup: CallSetup): Promise<LanguageModel> {
  try {
    return await engines.model(use.engine, callUseOf(use, setup));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    logger.warn({ callUuid: setup.callUuid, why: message }, 'pipeline: a language model cannot be had');
    return absentModel(message);
  }
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
      const hasSlept = await pipelineBell.wait(waitMs);
      const wokenAtMs = clock.nowMs();
      waitedMs += wokenAtMs - fromMs;
      if (hasSlept) yieldedAtMs = wokenAtMs;
    }
  }
}

parent.postMessage({ type: 'ready', osThreadId: osThreadId() } satisfies FromPipeline);
await loop();
