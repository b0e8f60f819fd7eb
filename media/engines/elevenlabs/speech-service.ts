/**
 * ElevenLabs as a voice, in a provider thread: each line says one text over a socket that calls of its connection
 * share. Where the socket is lost in mid-text, the words that were not said to their end are said over another, once.
 * Sockets are kept by connection, voice and form of sound.
 */
import type { ChunkWord } from '../../contract/engines.ts';
import type { ProviderError } from '../provider/provider-error.ts';
import type { LineHandler, ProviderService, ServiceDeps, ServiceLine } from '../provider/provider-service.ts';
import type { SpeechOrder, SpeechReport } from '../provider/provider-voice.ts';
import { CharWords, type TimedWord } from './char-words.ts';
import { ContextSocket, type Speaker } from './context-socket.ts';
import { DEFAULT_MODEL, type ElevenLabsSettings, PCM_RATE_HZ, speakUrl, voiceSettings } from './speak-url.ts';

/** Of one connection, voice and form in a thread: three texts each at a time. */
const MOST_SOCKETS = 40;
/** Of a text. */
const MOST_TRIES = 2;

export function createElevenLabsService(deps: ServiceDeps): ProviderService {
  const groups = new Map<string, SocketGroup>();
  return (line, body) => {
    const order = body as SpeechOrder;
    const settings = line.settings as ElevenLabsSettings;
    const url = speakUrl(line.grant, settings, order.voice, order.takesMulaw);
    const key = JSON.stringify([line.pool, url, voiceSettings(settings)]);
    const group = groups.get(key) ?? new SocketGroup(line, url, deps, () => groups.delete(key));
    groups.set(key, group);
    return new Speech(line, order, group);
  };
}

/** Sockets that say the same in the same way. */
class SocketGroup {
  readonly #sockets = new Set<ContextSocket>();
  readonly #waiting = new Set<Speech>();
  readonly #open: () => ContextSocket;
  readonly #empty: () => void;

  constructor(line: ServiceLine, url: string, deps: ServiceDeps, empty: () => void) {
    this.#empty = empty;
    const apiKey = line.grant.credentials['apiKey'] ?? '';
    const settings = voiceSettings(line.settings as ElevenLabsSettings);
    this.#open = () =>
      new ContextSocket(
        {
          url,
          apiKey,
          voiceSettings: settings,
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
      speech.over(socket.speak(speech));
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
  readonly #line: ServiceLine;
  readonly #order: SpeechOrder;
  readonly #group: SocketGroup;
  #words: CharWords;
  /** Of the sound of this try. */
  #soundMs = 0;
  #oddByte: number | null = null;
  #takeBack: () => void = () => {};
  #tries = 0;
  /** In all tries. */
  #givenChars = 0;
  #isOver = false;

  constructor(line: ServiceLine, order: SpeechOrder, group: SocketGroup) {
    this.#line = line;
    this.#order = order;
    this.#group = group;
    this.#words = new CharWords(order.text);
    this.#try();
  }

  get rest(): string {
    return this.#order.text.slice(this.#words.unsaidFrom);
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

  sound(sound: Buffer, alignment: unknown): void {
    if (this.#isOver) return;
    const { takesMulaw } = this.#order;
    const bytes = this.#whole(sound);
    const charStart = this.#words.charAt;
    const atMs = this.#soundMs;
    const words = this.#words.take(alignment, atMs);
    this.#soundMs += bytes.length / (takesMulaw ? 8 : (PCM_RATE_HZ * 2) / 1000);
    this.#say(bytes, charStart, this.#words.charAt, words, atMs);
  }

  finished(): void {
    if (this.#isOver) return;
    const charStart = this.#words.charAt;
    if (this.#soundMs === 0) {
      this.#fail('failed', 'ElevenLabs made no sound of the text');
      return;
    }
    const words = this.#words.finish(this.#soundMs);
    const { length } = this.#order.text;
    if (words.length > 0 || charStart < length) this.#say(new Uint8Array(0), charStart, length, words, this.#soundMs);
    this.#finish();
    this.#line.end();
  }

  lost(error: ProviderError): void {
    if (this.#isOver) return;
    if (error.fault === 'refused' || error.fault === 'throttled' || this.#tries >= MOST_TRIES) {
      this.#fail(error.fault, error.message);
    } else if (this.rest.trim() === '') this.finished();
    else this.#again();
  }

  /** What was cut is said from the beginning of its word. */
  #again(): void {
    this.#words = new CharWords(this.#order.text, this.#words.unsaidFrom);
    this.#soundMs = 0;
    this.#oddByte = null;
    this.#try();
  }

  #try(): void {
    this.#tries++;
    this.#group.join(this);
  }

  #say(sound: Uint8Array<ArrayBuffer>, charStart: number, charEnd: number, words: TimedWord[], atMs: number): void {
    const told: ChunkWord[] = words.map((word) => ({
      ...word,
      startMs: word.startMs - atMs,
      endMs: word.endMs - atMs,
    }));
    const report: SpeechReport = { sound, isMulaw: this.#order.takesMulaw, charStart, charEnd, words: told };
    this.#line.say(report, [sound.buffer]);
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
    const { model = DEFAULT_MODEL } = this.#line.settings as ElevenLabsSettings;
    // The provider counts what it was given, said or not.
    this.#line.used(model, [{ unit: 'characters', quantity: this.#givenChars, speculative: false }]);
    return true;
  }
}
