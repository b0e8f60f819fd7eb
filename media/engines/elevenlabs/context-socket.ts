/**
 * One socket of ElevenLabs' `multi-stream-input`, shared by what calls of one connection say in one voice. Each text is
 * a context: opened, given the whole text, flushed and closed for more; its end is its `isFinal`. A context takes its
 * place until then, also when nobody wants it any more. Sound of a context that is over is nobody's.
 */
import type { GuardedSocket, SocketEnd } from '../../net/guarded-socket.ts';
import { errorOfEnd, ProviderError } from '../provider/provider-error.ts';
import type { ServiceDeps } from '../provider/provider-service.ts';
import { errorOfMessage } from './api-error.ts';

export interface Speaker {
  /** What is to be said, from here on. */
  readonly rest: string;
  /** The service was given the text: it is paid for. */
  given(): void;
  sound(sound: Buffer, alignment: unknown): void;
  finished(): void;
  /** The socket was lost, or said nothing of it. */
  lost(error: ProviderError): void;
}

export interface ContextSocketOptions {
  url: string;
  apiKey: string;
  /** Of each context's first message. */
  voiceSettings: object | null;
  /** It takes no more contexts. */
  retired(socket: ContextSocket): void;
  /** There may be room. */
  changed(): void;
}

interface Context {
  speaker: Speaker;
  /** Clock time by which sound must come. */
  soundByMs: number;
}

const NAME = 'ElevenLabs';
/** Of five: one that nobody wants any more takes its place for a while. */
export const MOST_CONTEXTS = 3;
const CONNECT_MS = 4_000;
/** A message holds some seconds of sound at most. */
const MOST_MESSAGE_BYTES = 4 * 1024 * 1024;
const MOST_UNSENT_BYTES = 256 * 1024;
/** From the text to its first sound, when the socket stands. */
export const FIRST_SOUND_MS = 1_500;
/** Between sounds. */
const NEXT_SOUND_MS = 3_000;
/** An end that does not come. */
const ZOMBIE_MS = 5_000;
const WATCH_EVERY_MS = 100;
const KEEP_ALIVE_MS = 15_000;
/** Nobody speaks for so long: whoever does then dials anew. */
const IDLE_MS = 300_000;
const MOST_GARBAGE = 3;

let lastNumber = 0;

export class ContextSocket {
  readonly #options: ContextSocketOptions;
  readonly #deps: Pick<ServiceDeps, 'clock' | 'openSocket'>;
  readonly #socket: GuardedSocket;
  /** Ids of this socket alone begin with it. */
  readonly #prefix = `p${++lastNumber}-`;
  readonly #contexts = new Map<string, Context>();
  /** Nobody wants them; since when. */
  readonly #zombies = new Map<string, number>();
  #lastId = 0;
  #isOpen = false;
  #isRetired = false;
  #isOver = false;
  #garbage = 0;
  #lastUseAtMs: number;
  #lastSentAtMs: number;
  #cancelWatch: () => void = () => {};

  constructor(options: ContextSocketOptions, deps: Pick<ServiceDeps, 'clock' | 'openSocket'>) {
    this.#options = options;
    this.#deps = deps;
    this.#lastUseAtMs = deps.clock.nowMs();
    this.#lastSentAtMs = this.#lastUseAtMs;
    this.#socket = deps.openSocket(
      {
        url: options.url,
        headers: { 'xi-api-key': options.apiKey },
        connectMs: CONNECT_MS,
        maxMessageBytes: MOST_MESSAGE_BYTES,
        maxUnsentBytes: MOST_UNSENT_BYTES,
      },
      {
        opened: () => this.#opened(),
        message: (data, isBinary) => {
          if (!isBinary) this.#said(data);
        },
        over: (end) => this.#over(end),
      },
    );
    this.#watch();
  }

  get hasRoom(): boolean {
    return !this.#isRetired && this.#contexts.size + this.#zombies.size < MOST_CONTEXTS;
  }

  get isIdle(): boolean {
    return this.#contexts.size + this.#zombies.size === 0;
  }

  /** Returns what takes the text back. */
  speak(speaker: Speaker): () => void {
    const id = `${this.#prefix}${++this.#lastId}`;
    this.#contexts.set(id, { speaker, soundByMs: Number.POSITIVE_INFINITY });
    this.#lastUseAtMs = this.#deps.clock.nowMs();
    if (this.#isOpen) this.#begin(id);
    return () => this.#takeBack(id);
  }

  /** At once, and nobody is told. */
  close(): void {
    if (this.#isOver) return;
    this.#end();
    this.#socket.terminate();
  }

  #opened(): void {
    this.#isOpen = true;
    for (const id of this.#contexts.keys()) this.#begin(id);
  }

  #begin(id: string): void {
    const context = this.#contexts.get(id)!;
    const nowMs = this.#deps.clock.nowMs();
    context.soundByMs = nowMs + FIRST_SOUND_MS;
    const { voiceSettings } = this.#options;
    const settings = voiceSettings === null ? {} : { voice_settings: voiceSettings };
    const isSent =
      this.#send({ text: ' ', context_id: id, ...settings }) &&
      this.#send({ text: `${context.speaker.rest.trimEnd()} `, context_id: id, flush: true }) &&
      this.#send({ context_id: id, close_context: true });
    if (isSent) context.speaker.given();
    else this.#lose(new ProviderError('failed', `${NAME} takes nothing any more`));
  }

  #takeBack(id: string): void {
    if (!this.#contexts.delete(id)) return;
    // It was told that no more text comes; what it makes until its end is dropped.
    if (this.#isOpen) this.#zombies.set(id, this.#deps.clock.nowMs());
    else this.#options.changed();
  }

  #send(message: object): boolean {
    this.#lastSentAtMs = this.#deps.clock.nowMs();
    return this.#socket.send(JSON.stringify(message));
  }

  // ── What it says ──────────────────────────────────────────────────────────────────────────────────────

  #said(data: Buffer): void {
    if (this.#isOver) return;
    const message = parsed(data);
    if (message === null) {
      if (++this.#garbage >= MOST_GARBAGE) this.#lose(new ProviderError('failed', `${NAME} says what cannot be read`));
      return;
    }
    this.#garbage = 0;
    if (typeof message['error'] === 'string') {
      this.#lose(errorOfMessage(message));
      return;
    }
    const id = message['contextId'] ?? message['context_id'];
    if (typeof id !== 'string') return;
    if (!id.startsWith(this.#prefix)) {
      this.#lose(new ProviderError('failed', `${NAME} answered for another context`));
      return;
    }
    this.#ofContext(id, message);
  }

  #ofContext(id: string, message: Record<string, unknown>): void {
    const context = this.#contexts.get(id);
    const isFinal = message['isFinal'] === true || message['is_final'] === true;
    const { audio } = message;
    this.#lastUseAtMs = this.#deps.clock.nowMs();
    if (context !== undefined && typeof audio === 'string' && audio !== '') {
      context.soundByMs = this.#lastUseAtMs + NEXT_SOUND_MS;
      context.speaker.sound(Buffer.from(audio, 'base64'), message['alignment']);
    }
    if (!isFinal) return;
    this.#zombies.delete(id);
    // Its speaker may have taken itself back just now.
    if (this.#contexts.delete(id)) context?.speaker.finished();
    this.#options.changed();
  }

  // ── Its end ───────────────────────────────────────────────────────────────────────────────────────────

  #watch(): void {
    this.#cancelWatch = this.#deps.clock.after(WATCH_EVERY_MS, () => {
      const nowMs = this.#deps.clock.nowMs();
      for (const { soundByMs } of this.#contexts.values()) {
        if (nowMs < soundByMs) continue;
        this.#lose(new ProviderError('timeout', `${NAME} gave no sound in time`));
        return;
      }
      for (const sinceMs of this.#zombies.values()) if (nowMs - sinceMs >= ZOMBIE_MS) this.#retire();
      if (this.#isRetired && this.#contexts.size === 0) this.#leave();
      else if (this.isIdle && nowMs - this.#lastUseAtMs >= IDLE_MS) {
        this.#retire();
        this.#leave();
      } else if (this.#isOpen && nowMs - this.#lastSentAtMs >= KEEP_ALIVE_MS) this.#send({ text: '' });
      if (!this.#isOver) this.#watch();
    });
  }

  #over(end: SocketEnd): void {
    this.#lose(errorOfEnd(NAME, end));
  }

  #lose(error: ProviderError): void {
    if (this.#isOver) return;
    this.#end();
    this.#socket.terminate();
    const lost = [...this.#contexts.values()];
    this.#contexts.clear();
    for (const { speaker } of lost) speaker.lost(error);
    this.#options.changed();
  }

  #leave(): void {
    this.#end();
    this.#socket.send('{"close_socket":true}');
    this.#socket.close();
  }

  #retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#options.retired(this);
  }

  #end(): void {
    this.#isOver = true;
    this.#cancelWatch();
    this.#retire();
    this.#zombies.clear();
  }
}

function parsed(data: Buffer): Record<string, unknown> | null {
  try {
    const message: unknown = JSON.parse(data.toString('utf8'));
    return typeof message === 'object' && message !== null ? (message as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
