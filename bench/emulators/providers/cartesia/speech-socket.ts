/**
 * `/tts/websocket` of the emulated Cartesia: contexts side by side, each spoken in order, with the times of its words
 * from the context's beginning. A cancelled context says nothing more but what was on its way. Made once an upgrade.
 */
import { randomUUID } from 'node:crypto';
import { sentencePieces } from '../../../../media/engines/local/sentence-pieces.ts';
import type { SocketExchange } from '../provider.ts';
import type { EmulatedVoice, Speech } from '../voice/emulated-voice.ts';
import { bytesPerMs } from '../voice/sound-format.ts';
import { type Generation, type Refusal, readClientMessage } from './generation-request.ts';

export interface Latencies {
  /** From the text to its first sound. */
  firstAudioMs: number;
  /** Of sound in one message. */
  chunkMs: number;
  /** Between messages. */
  chunkEveryMs: number;
}

export const DEFAULT_LATENCIES: Latencies = { firstAudioMs: 90, chunkMs: 200, chunkEveryMs: 20 };

export interface SpeechSocketOptions {
  voice: EmulatedVoice;
  latencies: Latencies;
  /** Contexts that speak at once, of the account. */
  mostContexts: number;
}

interface Context {
  id: string;
  /** Text that waits for more. */
  text: string;
  isCancelled: boolean;
  isEnding: boolean;
  saidMs: number;
  last: Promise<void>;
}

export function openSpeechSocket(socket: SocketExchange, options: SpeechSocketOptions): void {
  const contexts = new Map<string, Context>();
  const { latencies } = options;

  socket.onMessage((message) => {
    const read = readClientMessage(message);
    if ('refused' in read) refuse(read.refused);
    else if ('cancels' in read) cancel(read.cancels);
    else take(read);
  });

  function take(generation: Generation): void {
    const id = generation.contextId;
    let context = contexts.get(id);
    if (context === undefined) {
      if (contexts.size >= options.mostContexts) {
        const message = 'You have reached the limit of concurrent contexts of your plan.';
        refuse({ status: 429, code: 'concurrency_limited', title: 'Too many contexts', message, contextId: id });
        return;
      }
      context = { id, text: '', isCancelled: false, isEnding: false, saidMs: 0, last: Promise.resolve() };
      contexts.set(id, context);
      socket.note('context', { contextId: id, open: contexts.size });
    }
    context.text += generation.text;
    if (generation.continues && !generation.flushes) return;
    const { text } = context;
    context.text = '';
    context.isEnding = !generation.continues;
    context.last = context.last.then(() => speak(context, text, generation));
  }

  function cancel(id: string): void {
    const context = contexts.get(id);
    if (context !== undefined) context.isCancelled = true;
    contexts.delete(id);
  }

  async function speak(context: Context, text: string, generation: Generation): Promise<void> {
    const dueAtMs = socket.timetable.nowMs() + latencies.firstAudioMs;
    const { voice, speed, format } = generation;
    const pieces = text.trim() === '' ? [] : sentencePieces(`${text.trimEnd()} `);
    const speeches = pieces.map((piece) => options.voice.speak({ text: piece.text, voice, speed, format }));
    for (const speech of speeches) speech.catch(() => {});
    const order = socket.timetable.apart();
    try {
      for (const [index, speech] of speeches.entries())
        await send(context, pieces[index]!.text, await speech, generation, order, dueAtMs);
    } catch (error) {
      socket.note('warning', { message: (error as Error).message });
      refuse({ status: 500, code: 'internal', title: 'Internal', message: 'It failed.', contextId: context.id });
      return;
    }
    if (context.isCancelled || !context.isEnding) return;
    contexts.delete(context.id);
    socket.send({ type: 'done', context_id: context.id, done: true, status_code: 200 });
  }

  /** Resolves when the last chunk of the piece has left. */
  function send(
    context: Context,
    text: string,
    speech: Speech,
    { format, tellsWords }: Generation,
    order: SocketExchange['timetable'],
    dueAtMs: number,
  ): Promise<void> {
    const perMs = bytesPerMs(format);
    const step = Math.round(latencies.chunkMs * perMs) & ~1;
    const fromMs = context.saidMs;
    context.saidMs += speech.bytes.length / perMs;
    const of = { context_id: context.id, done: false, status_code: 206 };
    let sentBytes = 0;
    return new Promise((resolve) => {
      const next = (atMs: number): void => {
        order.at(atMs, () => {
          if (context.isCancelled || sentBytes >= speech.bytes.length) return resolve();
          // Times of a piece come with its first sound.
          if (sentBytes === 0 && tellsWords)
            socket.send({ type: 'timestamps', ...of, word_timestamps: wordTimes(text, speech, fromMs) });
          const data = speech.bytes.subarray(sentBytes, sentBytes + step).toString('base64');
          socket.send({ type: 'chunk', ...of, data, step_time: latencies.chunkEveryMs });
          sentBytes += step;
          next(Math.max(atMs, dueAtMs) + latencies.chunkEveryMs);
        });
      };
      next(Math.max(dueAtMs, socket.timetable.nowMs()));
    });
  }

  function refuse({ status, code, title, message, contextId }: Refusal): void {
    if (contextId !== null) cancel(contextId);
    const of = contextId === null ? {} : { context_id: contextId };
    const error = { type: 'error', ...of, done: true, status_code: status, error_code: code, title, message };
    socket.send({ ...error, request_id: randomUUID(), doc_url: 'https://docs.cartesia.ai' });
  }
}

/** Seconds from the context's beginning. */
function wordTimes(text: string, { times }: Speech, fromMs: number): object {
  const words = [...text.matchAll(/\S+/g)];
  const seconds = (ms: number): number => Math.round(fromMs + ms) / 1000;
  return {
    words: words.map(([word]) => word),
    start: words.map(({ index }) => seconds(times.startMs[index] ?? 0)),
    end: words.map(({ index, 0: word }) => seconds(times.endMs[index + word.length - 1] ?? 0)),
  };
}
