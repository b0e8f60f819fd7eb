/**
 * ElevenLabs' speech sockets (`multi-stream-input` and `stream-input`), as cheap as they can be: each text becomes a
 * tone of its length with the times of its characters, made once and kept. One object a socket; knows no transport.
 */
import { encodeMulaw } from '../../../media/audio/g711.ts';
import { LATENCIES } from '../conversation.ts';
import { Schedule } from './schedule.ts';

export interface VoiceOptions {
  /** `ulaw_8000`, `pcm_8000` and the like. */
  format: string;
  /** Each message is spoken at once. */
  isAuto: boolean;
  /** `stream-input`: one text a socket, without contexts. */
  isSingle: boolean;
  say(message: string): void;
  close(): void;
}

interface ClientMessage {
  text?: string;
  context_id?: string;
  flush?: boolean;
  close_context?: boolean;
  close_socket?: boolean;
  try_trigger_generation?: boolean;
}

interface Context {
  text: string;
  schedule: Schedule;
  /** When all that was asked for has left. */
  freeAtMs: number;
}

const CHARACTER_MS = 55;
const FIRST_CHUNK_MS = 100;
const CHUNK_MS = 400;
/** Sound comes faster than it lasts. */
const CHUNK_EVERY_MS = 60;
const TONE_HZ = 250;
const TONE_PEAK = 8_000;

/** What follows differs by the context alone. */
const spoken = new Map<string, readonly string[]>();

export class VoiceSocket {
  readonly #options: VoiceOptions;
  readonly #contexts = new Map<string, Context>();
  #isClosed = false;

  constructor(options: VoiceOptions) {
    this.#options = options;
  }

  message(text: string): void {
    const message = JSON.parse(text) as ClientMessage;
    if (message.close_socket === true) {
      this.#options.close();
      return;
    }
    const id = message.context_id ?? '';
    const isOver = message.close_context === true || (this.#options.isSingle && message.text === '');
    let context = this.#contexts.get(id);
    if (context === undefined) {
      if (isOver) return;
      // An empty text without a context keeps the socket.
      if (id === '' && !this.#options.isSingle) return;
      context = { text: '', schedule: new Schedule(), freeAtMs: 0 };
      this.#contexts.set(id, context);
    }
    context.text += message.text ?? '';
    const isAsked = message.flush === true || message.try_trigger_generation === true || isOver || this.#options.isAuto;
    if (isAsked && context.text.trim() !== '') this.#speak(id, context);
    if (isOver) {
      this.#contexts.delete(id);
      context.schedule.at(Math.max(performance.now(), context.freeAtMs), () => {
        this.#say(this.#options.isSingle ? '{"isFinal":true}' : `{"isFinal":true,"contextId":"${id}"}`);
      });
    }
  }

  closed(): void {
    this.#isClosed = true;
  }

  #speak(id: string, context: Context): void {
    const { format } = this.#options;
    const text = context.text.trim();
    context.text = '';
    const key = `${format} ${text}`;
    const parts = spoken.get(key) ?? partsOf(format, text);
    spoken.set(key, parts);
    const firstAtMs = Math.max(performance.now() + LATENCIES.firstAudioMs, context.freeAtMs);
    context.freeAtMs = firstAtMs + parts.length * CHUNK_EVERY_MS;
    const tail = this.#options.isSingle ? '}' : `,"contextId":"${id}"}`;
    for (const [index, part] of parts.entries()) {
      context.schedule.at(firstAtMs + index * CHUNK_EVERY_MS, () => this.#say(part + tail));
    }
  }

  #say(message: string): void {
    if (!this.#isClosed) this.#options.say(message);
  }
}

/** Messages without their end. */
function partsOf(format: string, text: string): string[] {
  const rateHz = Number(format.split('_')[1]);
  const characters = [...text];
  const parts: string[] = [];
  const lengthMs = characters.length * CHARACTER_MS;
  for (let fromMs = 0; fromMs < lengthMs; ) {
    const toMs = Math.min(lengthMs, fromMs + (fromMs === 0 ? FIRST_CHUNK_MS : CHUNK_MS));
    const first = Math.ceil(fromMs / CHARACTER_MS);
    const chars = characters.slice(first, Math.ceil(toMs / CHARACTER_MS));
    const starts = chars.map((_, index) => (first + index) * CHARACTER_MS - fromMs);
    const durations = chars.map(() => CHARACTER_MS);
    const alignment = JSON.stringify({ chars, charStartTimesMs: starts, charDurationsMs: durations });
    const audio = tone(format, Math.round((rateHz * (toMs - fromMs)) / 1_000), rateHz).toString('base64');
    parts.push(`{"audio":"${audio}","isFinal":null,"alignment":${alignment},"normalizedAlignment":${alignment}`);
    fromMs = toMs;
  }
  return parts;
}

function tone(format: string, samples: number, rateHz: number): Buffer {
  const pcm = Int16Array.from(
    { length: samples },
    (_, i) => TONE_PEAK * Math.sin((2 * Math.PI * TONE_HZ * i) / rateHz),
  );
  if (format.startsWith('pcm')) return Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  const mulaw = Buffer.alloc(samples);
  encodeMulaw(pcm, 0, samples, mulaw, 0);
  return mulaw;
}
