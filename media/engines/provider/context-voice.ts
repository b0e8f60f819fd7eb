/**
 * A voice over sockets with contexts, in a provider thread: each line says one text over a socket that calls of its
 * connection share. Where the socket is lost in mid-text, the words that were not said to their end are said over
 * another, once. Sockets are kept by connection, voice and form of sound.
 */
import type { ChunkWord } from '../../contract/engines.ts';
import { ContextSocket, type ContextWire, type Speaker } from './context-socket.ts';
import type { ProviderError } from './provider-error.ts';
import type { LineHandler, ProviderService, ServiceDeps, ServiceLine } from './provider-service.ts';
import type { SpeechOrder, SpeechReport } from './provider-voice.ts';

/** Of one connection, voice and form in a thread: three texts each at a time. */
const MOST_SOCKETS = 40;
/** Of a text. */
const MOST_TRIES = 2;
/** Of a text's sound, far above what the slowest voice needs: more is a provider that does not stop. */
const LONGEST_SOUND_MS = 30_000;
const LONGEST_CHARACTER_MS = 500;

/** When the words of a text sound, made of what the provider says of them. Times are those of the whole sound. */
export interface SpokenWords {
  /** All before it has begun to sound. */
  readonly charAt: number;
  /** Where to begin again, so that each word is said whole: the first whose end is not known. */
  readonly unsaidFrom: number;
  /** `atMs`: where the sound begins that came with `timing`. Gives the words whose end is known now. */
  take(timing: unknown, atMs: number, endMs: number): TimedWord[];
  /** The sound is over at `endMs`: what was not timed shares what is left. */
  finish(endMs: number): TimedWord[];
}

export interface TimedWord {
  charStart: number;
  charEnd: number;
  startMs: number;
  endMs: number;
}

/** A protocol of voices: how its sockets are opened, and what it tells of words. */
export interface ContextVoice {
  /** Of a voice in the form that is wanted; what is the same for two texts lets them share a socket. */
  wire(line: ServiceLine, order: SpeechOrder): ContextWire;
  /** Of samples; mu-law has 8 kHz. */
  pcmRateHz: number;
  modelOf(line: ServiceLine, order: SpeechOrder): string;
  /** Null: it tells nothing of words, and a text that was cut is not said from its middle. */
  words: ((text: string, charStart: number) => SpokenWords) | null;
}

export function contextVoiceService(voice: ContextVoice): (deps: ServiceDeps) => ProviderService {
  return (deps) => {
    const groups = new Map<string, SocketGroup>();
    return (line, body) => {
      const order = body as SpeechOrder;
      const wire = voice.wire(line, order);
      const key = JSON.stringify([line.pool, wire.url, line.settings, order.voice, order.takesMulaw]);
      const group = groups.get(key) ?? new SocketGroup(wire, deps, () => groups.delete(key));
      groups.set(key, group);
      return new Speech(voice, line, order, group);
    };
  };
}

/** Sockets that say the same in the same way. */
class SocketGroup {
  readonly #sockets = new Set<ContextSocket>();
  readonly #waiting = new Set<Speech>();
  readonly #open: () => ContextSocket;
  readonly #empty: () => void;

  constructor(wire: ContextWire, deps: ServiceDeps, empty: () => void) {
    this.#empty = empty;
    this.#open = () =>
      new ContextSocket(
        {
          wire,
          retired: (socket) => this.#sockets.delete(socket),
          changed: () => this.#serve(),
        },
        deps,
      );
  }

  join(speech: Speech): void {
    this.#waiting.add(speech);
    this.#serve();
  }

  leave(speech: Speech): void {
    this.#waiting.delete(speech);
  }

  #serve(): void {
    for (const speech of this.#waiting) {
      const socket = this.#roomy();
      if (socket === null) return;
      this.#waiting.delete(speech);
      socket.speak(speech);
    }
    if (this.#sockets.size === 0) this.#empty();
  }

  #roomy(): ContextSocket | null {
    for (const socket of this.#sockets) if (socket.hasRoom) return socket;
    if (this.#sockets.size >= MOST_SOCKETS) return null;
    const socket = this.#open();
    this.#sockets.add(socket);
    return socket;
  }
}

class Speech implements LineHandler, Speaker {
  readonly #voice: ContextVoice;
  readonly #line: ServiceLine;
  readonly #order: SpeechOrder;
  readonly #group: SocketGroup;
  #words: SpokenWords | null;
  /** Of the sound of this try. */
  #soundMs = 0;
  #oddByte: number | null = null;
  #takeBack: () => void = () => {};
  #tries = 0;
  /** In all tries. */
  #givenChars = 0;
  #isOver = false;

  constructor(voice: ContextVoice, line: ServiceLine, order: SpeechOrder, group: SocketGroup) {
    this.#voice = voice;
    this.#line = line;
    this.#order = order;
    this.#group = group;
    this.#words = voice.words?.(order.text, 0) ?? null;
    this.#try();
  }

  get rest(): string {
    return this.#order.text.slice(this.#words?.unsaidFrom ?? 0);
  }

  given(): void {
    this.#givenChars += this.rest.length;
  }

  over(takeBack: () => void): void {
    this.#takeBack = takeBack;
  }

  closed(): void {
    if (!this.#finish()) return;
    this.#group.leave(this);
    this.#takeBack();
  }

  sound(sound: Buffer, timing: unknown): void {
    if (this.#isOver) return;
    const { takesMulaw } = this.#order;
    const bytes = this.#whole(sound);
    const atMs = this.#soundMs;
    this.#soundMs += bytes.length / (takesMulaw ? 8 : (this.#voice.pcmRateHz * 2) / 1000);
    if (this.#soundMs > LONGEST_SOUND_MS + this.#order.text.length * LONGEST_CHARACTER_MS) {
      this.#fail('failed', 'the speech never ends');
      this.#takeBack();
      return;
    }
    const spoken = this.#words;
    if (spoken === null) {
      if (bytes.length > 0) this.#report({ sound: bytes, isMulaw: takesMulaw, charStart: 0, charEnd: 0 });
      return;
    }
    const charStart = spoken.charAt;
    const words = spoken.take(timing, atMs, this.#soundMs);
    if (bytes.length > 0 || words.length > 0) this.#say(bytes, charStart, spoken.charAt, words, atMs);
  }

  finished(): void {
    if (this.#isOver) return;
    if (this.#soundMs === 0) {
      this.#fail('failed', 'the provider made no sound of the text');
      return;
    }
    if (this.#words !== null) this.#tellRest(this.#words);
    this.#finish();
    this.#line.end();
  }

  #tellRest(spoken: SpokenWords): void {
    const charStart = spoken.charAt;
    const words = spoken.finish(this.#soundMs);
    const { length } = this.#order.text;
    if (words.length > 0 || charStart < length) this.#say(new Uint8Array(0), charStart, length, words, this.#soundMs);
  }

  lost(error: ProviderError): void {
    if (this.#isOver) return;
    const isCut = this.#words === null && this.#soundMs > 0;
    if (isCut || error.fault === 'refused' || error.fault === 'throttled' || this.#tries >= MOST_TRIES) {
      this.#fail(error.fault, error.message);
    } else if (this.rest.trim() === '') this.finished();
    else this.#again();
  }

  /** What was cut is said from the beginning of its word. */
  #again(): void {
    this.#words = this.#voice.words?.(this.#order.text, this.#words?.unsaidFrom ?? 0) ?? null;
    this.#soundMs = 0;
    this.#oddByte = null;
    this.#try();
  }

  #try(): void {
    this.#tries++;
    this.#group.join(this);
  }

  /** No word sounds where there is no sound, whatever the provider says. */
  #say(sound: Uint8Array<ArrayBuffer>, charStart: number, charEnd: number, words: TimedWord[], atMs: number): void {
    const within = (ms: number): number =>
      Number.isNaN(ms) ? this.#soundMs : Math.max(0, Math.min(ms, this.#soundMs));
    const told: ChunkWord[] = words.map((word) => ({
      ...word,
      startMs: within(word.startMs) - atMs,
      endMs: within(word.endMs) - atMs,
    }));
    this.#report({ sound, isMulaw: this.#order.takesMulaw, charStart, charEnd, words: told });
  }

  #report(report: SpeechReport): void {
    this.#line.say(report, [report.sound.buffer]);
  }

  /** A copy; samples are not torn apart. */
  #whole(sound: Buffer): Uint8Array<ArrayBuffer> {
    if (this.#order.takesMulaw) return Uint8Array.from(sound);
    const odd = this.#oddByte;
    const all = odd === null ? sound : Buffer.concat([Buffer.from([odd]), sound]);
    this.#oddByte = all.length % 2 === 1 ? all[all.length - 1]! : null;
    return Uint8Array.from(all.subarray(0, all.length & ~1));
  }

  #fail(fault: ProviderError['fault'], message: string): void {
    if (!this.#finish()) return;
    this.#line.end(fault, message);
  }

  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    // The provider counts what it was given, said or not.
    this.#line.used(this.#voice.modelOf(this.#line, this.#order), [
      { unit: 'characters', quantity: this.#givenChars, speculative: false },
    ]);
    return true;
  }
}
