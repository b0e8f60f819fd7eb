/**
 * One socket of a voice that speaks several texts over it at once, shared by what calls of one connection say in the
 * same way. Each text is a context with an id of its own: opened, given the whole text, closed for more. A context
 * takes its place until its end; where the provider cannot be told that nobody wants it any more, also then. Sound of a
 * context that is over is nobody's.
 */
import type { GuardedSocket, SocketEnd } from '../../net/guarded-socket.ts';
import { PongWatch } from './pong-watch.ts';
import { errorOfEnd, ProviderError } from './provider-error.ts';
import type { ServiceDeps } from './provider-service.ts';

export interface Speaker {
  /** What is to be said, from here on. */
  readonly rest: string;
  /** Before anything else of this try: what takes the text back. */
  over(takeBack: () => void): void;
  /** The service was given the text: it is paid for. */
  given(): void;
  sound(sound: Buffer, timing: unknown): void;
  finished(): void;
  /** The socket was lost, or said nothing of it. */
  lost(error: ProviderError): void;
}

/** What a message says: of a context, of the socket (`error` without an id), or nothing that is known here (null). */
export type ContextSaid =
  | { id: string; sound: Buffer | null; timing: unknown; isFinal: boolean }
  | { id: string | null; error: ProviderError }
  /** Of a socket that names no context: what it says now has come to its end, or what was taken back is done with. */
  | { ends: 'text' | 'cancel' | 'either' };

/** What sets one provider's socket apart from another's. */
export interface ContextWire {
  /** As people write it. */
  provider: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  /** At once. */
  mostContexts: number;
  /** It says one text at a time and names none; its sound comes in binary messages. */
  isSerial?: true;
  /** Over one socket; default: as many as come. */
  mostTextsAMinute?: number;
  /** Messages by which a text is said. */
  speak(id: string, text: string): readonly object[];
  /** Nobody wants it any more. Null: the provider cannot be told, and the context goes on until its end. */
  cancel(id: string): object | null;
  read(message: Record<string, unknown>): ContextSaid | null;
  /** Keeps the socket open, beside pings; null: they are enough. */
  keepAlive: object | null;
  /** Said before it is closed. Null: nothing is. */
  goodbye: object | null;
}

export interface ContextSocketOptions {
  wire: ContextWire;
  /** It takes no more contexts. */
  retired(socket: ContextSocket): void;
  /** There may be room. */
  changed(): void;
}

interface Context {
  speaker: Speaker;
  /** Clock times: since when sound is waited for, and by when it must come. */
  sinceMs: number;
  soundByMs: number;
}

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
const MINUTE_MS = 60_000;
const MOST_GARBAGE = 3;
const NO_SOUND = Buffer.alloc(0);

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
  /** What binary sound belongs to: the context that was begun last. */
  #current: string | null = null;
  /** Clock times of texts in the last minute. */
  #begunAtMs: number[] = [];
  #isOpen = false;
  #isRetired = false;
  #isOver = false;
  #garbage = 0;
  #lastUseAtMs: number;
  #lastSentAtMs: number;
  #lastSaidAtMs = Number.NEGATIVE_INFINITY;
  readonly #pong = new PongWatch();
  #cancelWatch: () => void = () => {};

  constructor(options: ContextSocketOptions, deps: Pick<ServiceDeps, 'clock' | 'openSocket'>) {
    this.#options = options;
    this.#deps = deps;
    this.#lastUseAtMs = deps.clock.nowMs();
    this.#lastSentAtMs = this.#lastUseAtMs;
    this.#socket = deps.openSocket(
      {
        url: options.wire.url,
        headers: options.wire.headers,
        connectMs: CONNECT_MS,
        maxMessageBytes: MOST_MESSAGE_BYTES,
        maxUnsentBytes: MOST_UNSENT_BYTES,
      },
      {
        opened: () => this.#opened(),
        message: (data, isBinary) => {
          this.#lastSaidAtMs = deps.clock.nowMs();
          if (isBinary) this.#heard(data);
          else this.#said(data);
        },
        pong: () => this.#pong.answered(),
        over: (end) => this.#over(end),
      },
    );
    this.#watch();
  }

  get hasRoom(): boolean {
    const { mostContexts, mostTextsAMinute = Number.POSITIVE_INFINITY } = this.#options.wire;
    const sinceMs = this.#deps.clock.nowMs() - MINUTE_MS;
    while (this.#begunAtMs.length > 0 && this.#begunAtMs[0]! < sinceMs) this.#begunAtMs.shift();
    const isFull = this.#contexts.size + this.#zombies.size >= mostContexts;
    return !this.#isRetired && !isFull && this.#begunAtMs.length < mostTextsAMinute;
  }

  get isIdle(): boolean {
    return this.#contexts.size + this.#zombies.size === 0;
  }

  speak(speaker: Speaker): void {
    const id = `${this.#prefix}${++this.#lastId}`;
    this.#contexts.set(id, { speaker, sinceMs: Number.POSITIVE_INFINITY, soundByMs: Number.POSITIVE_INFINITY });
    speaker.over(() => this.#takeBack(id));
    this.#lastUseAtMs = this.#deps.clock.nowMs();
    this.#begunAtMs.push(this.#lastUseAtMs);
    if (this.#isOpen) this.#begin(id);
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
    context.sinceMs = nowMs;
    context.soundByMs = nowMs + FIRST_SOUND_MS;
    this.#current = id;
    const { wire } = this.#options;
    const isSent = wire.speak(id, context.speaker.rest).every((message) => this.#send(message));
    if (isSent) context.speaker.given();
    else this.#lose(new ProviderError('failed', `${wire.provider} takes nothing any more`));
  }

  #takeBack(id: string): void {
    if (!this.#contexts.delete(id)) return;
    const { wire } = this.#options;
    const cancel = wire.cancel(id);
    if (this.#isOpen && cancel !== null) this.#send(cancel);
    // What it makes until its end, or until it confirms, is dropped.
    const isAwaited = cancel === null || wire.isSerial === true;
    if (this.#isOpen && isAwaited) this.#zombies.set(id, this.#deps.clock.nowMs());
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
      if (++this.#garbage >= MOST_GARBAGE)
        this.#lose(new ProviderError('failed', `${this.#options.wire.provider} says what cannot be read`));
      return;
    }
    this.#garbage = 0;
    const { wire } = this.#options;
    const said = wire.read(message);
    if (said === null) return;
    if ('ends' in said) this.#ends(said.ends);
    else if (said.id !== null && !said.id.startsWith(this.#prefix)) {
      this.#lose(new ProviderError('failed', `${wire.provider} answered for another context`));
    } else if (!('error' in said)) this.#ofContext(said);
    else if (said.id === null) this.#lose(said.error);
    else this.#failed(said.id, said.error);
  }

  /** Of a socket that names no context. */
  #heard(sound: Buffer): void {
    const id = this.#current;
    if (this.#isOver || id === null || !this.#contexts.has(id)) return;
    this.#ofContext({ id, sound, timing: null, isFinal: false });
  }

  #ends(what: 'text' | 'cancel' | 'either'): void {
    const id = this.#current;
    if (id === null || what === (this.#zombies.has(id) ? 'text' : 'cancel')) return;
    this.#ofContext({ id, sound: null, timing: null, isFinal: true });
  }

  #ofContext({ id, sound, timing, isFinal }: Extract<ContextSaid, { sound: Buffer | null }>): void {
    const context = this.#contexts.get(id);
    this.#lastUseAtMs = this.#deps.clock.nowMs();
    if (context !== undefined && (sound !== null || timing !== null)) {
      if (sound !== null) {
        context.sinceMs = this.#lastUseAtMs;
        context.soundByMs = this.#lastUseAtMs + NEXT_SOUND_MS;
      }
      context.speaker.sound(sound ?? NO_SOUND, timing);
    }
    if (!isFinal) return;
    this.#zombies.delete(id);
    // Its speaker may have taken itself back just now.
    if (this.#contexts.delete(id)) context?.speaker.finished();
    this.#options.changed();
  }

  /** One text alone. */
  #failed(id: string, error: ProviderError): void {
    const context = this.#contexts.get(id);
    this.#zombies.delete(id);
    this.#contexts.delete(id);
    context?.speaker.lost(error);
    this.#options.changed();
  }

  // ── Its end ───────────────────────────────────────────────────────────────────────────────────────────

  #watch(): void {
    this.#cancelWatch = this.#deps.clock.after(WATCH_EVERY_MS, () => {
      const nowMs = this.#deps.clock.nowMs();
      for (const id of [...this.#contexts.keys()]) this.#giveUpLate(id, nowMs);
      const fault = this.#pong.fault(this.#options.wire.provider, nowMs);
      if (fault !== null) this.#lose(fault);
      if (this.#isOver) return;
      for (const sinceMs of this.#zombies.values()) if (nowMs - sinceMs >= ZOMBIE_MS) this.#retire();
      if (this.#isRetired && this.#contexts.size === 0) this.#leave();
      else if (this.isIdle && nowMs - this.#lastUseAtMs >= IDLE_MS) {
        this.#retire();
        this.#leave();
      } else if (this.#isOpen && nowMs - this.#lastSentAtMs >= KEEP_ALIVE_MS) this.#keepAlive();
      if (!this.#isOver) this.#watch();
    });
  }

  /** One text alone, where the socket has said something since: the others are no worse for it. */
  #giveUpLate(id: string, nowMs: number): void {
    const context = this.#contexts.get(id);
    if (context === undefined || nowMs < context.soundByMs) return;
    const error = new ProviderError('timeout', `${this.#options.wire.provider} gave no sound in time`);
    if (this.#contexts.size === 1 || this.#lastSaidAtMs < context.sinceMs) this.#lose(error);
    else {
      // It may hang from now on: the second try goes over another, and what sounds here goes on.
      this.#retire();
      this.#takeBack(id);
      context.speaker.lost(error);
    }
  }

  #keepAlive(): void {
    const { keepAlive } = this.#options.wire;
    const nowMs = this.#deps.clock.nowMs();
    if (keepAlive !== null) this.#send(keepAlive);
    this.#lastSentAtMs = nowMs;
    this.#pong.pinged(nowMs);
    this.#socket.ping();
  }

  #over(end: SocketEnd): void {
    this.#lose(errorOfEnd(this.#options.wire.provider, end));
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
    const { goodbye } = this.#options.wire;
    if (goodbye !== null) this.#socket.send(JSON.stringify(goodbye));
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
