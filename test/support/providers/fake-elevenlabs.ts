/**
 * ElevenLabs on a virtual clock, without a network: `multi-stream-input` over the sockets that a voice opens. Each
 * character of the text sounds for 50 ms, a space is silent; sound leaves faster than it is spoken.
 */
import { encodeMulaw } from '../../../media/audio/g711.ts';
import type { GuardedSocket, SocketListener, SocketRequest } from '../../../media/net/guarded-socket.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import { FakeSocket } from './fake-socket.ts';

export const CHAR_MS = 50;
const CHUNK_CHARS = 4;
const MOST_CONTEXTS = 5;

export class FakeElevenLabs {
  readonly clock: VirtualClock;
  readonly sockets: FakeElevenLabsSocket[] = [];
  readonly voices: readonly string[] = ['rachel', 'adam'];
  refusals: number[] = [];
  firstSoundMs = 100;
  chunkEveryMs = 20;
  /** Sockets from now on stand and say nothing. */
  isStalled = false;
  /** Nothing comes of these texts, the first time. */
  readonly unheard = new Set<string>();
  /** Without the times of characters. */
  isUntimed = false;
  /** What is made of the time of a character before it leaves. */
  charTime: (startMs: number) => number = (startMs) => startMs;

  constructor(clock: VirtualClock) {
    this.clock = clock;
  }

  openSocket = (request: SocketRequest, listener: SocketListener): GuardedSocket => {
    const socket = new FakeElevenLabsSocket(this, request, listener);
    this.sockets.push(socket);
    this.clock.after(40, () => socket.answer(this.refusals.shift()));
    return socket;
  };

  get last(): FakeElevenLabsSocket {
    return this.sockets.at(-1)!;
  }

  /** Texts that it was given, by all sockets. */
  get texts(): string[] {
    return this.sockets.flatMap(({ texts }) => texts);
  }
}

export class FakeElevenLabsSocket extends FakeSocket {
  readonly told: Record<string, unknown>[] = [];
  readonly texts: string[] = [];
  isStalled: boolean;
  isForeign = false;
  /** Contexts whose end has not been told; and the most at once. */
  readonly contexts = new Set<string>();
  mostContexts = 0;
  readonly #fake: FakeElevenLabs;

  constructor(fake: FakeElevenLabs, request: SocketRequest, listener: SocketListener) {
    super(request, listener);
    this.#fake = fake;
    this.isStalled = fake.isStalled;
  }

  answer(refusal: number | undefined): void {
    if (this.isOver) return;
    if (refusal !== undefined) {
      this.refused(refusal, '{"detail":{"message":"No."}}');
      return;
    }
    this.opened();
    const voice = decodeURIComponent(this.url.pathname.split('/')[3]!);
    if (!this.#fake.voices.includes(voice)) this.refuse('voice_id_does_not_exist', `There is no voice ${voice}.`);
  }

  refuse(error: string, message: string): void {
    this.say({ error, message, code: 1008 });
    this.#fake.clock.after(200, () => this.end({ kind: 'closed', code: 1008, reason: message }));
  }

  override say(message: object): void {
    const foreign = 'contextId' in message && this.isForeign ? { contextId: 'context-of-another' } : {};
    if (!this.isStalled) super.say({ ...message, ...foreign });
  }

  protected override heard(data: string | Uint8Array): void {
    const message = JSON.parse(data as string) as Record<string, unknown>;
    this.told.push(message);
    const { context_id: id, text, flush } = message;
    if (typeof id !== 'string') return;
    if (text === ' ') {
      this.contexts.add(id);
      this.mostContexts = Math.max(this.mostContexts, this.contexts.size);
      if (this.contexts.size > MOST_CONTEXTS) this.refuse('max_active_conversations', 'Too many contexts.');
    } else if (flush === true) this.#speak(id, String(text));
  }

  #speak(id: string, text: string): void {
    this.texts.push(text);
    if (this.#fake.unheard.delete(text.trim())) return;
    const chars = [...text];
    let dueMs = this.#fake.firstSoundMs;
    for (let at = 0; at < chars.length; at += CHUNK_CHARS) {
      const part = chars.slice(at, at + CHUNK_CHARS);
      this.#fake.clock.after(dueMs, () => this.say({ ...this.#chunk(part), contextId: id }));
      dueMs += this.#fake.chunkEveryMs;
    }
    this.#fake.clock.after(dueMs, () => {
      if (this.isStalled) return;
      this.contexts.delete(id);
      this.say({ audio: null, isFinal: true, alignment: null, contextId: id });
    });
  }

  #chunk(chars: string[]): object {
    const isMulaw = this.url.searchParams.get('output_format') === 'ulaw_8000';
    const perChar = ((isMulaw ? 8000 : 16_000) * CHAR_MS) / 1000;
    const samples = new Int16Array(chars.length * perChar);
    chars.forEach((char, i) => {
      if (char !== ' ') samples.fill(8_000, i * perChar, (i + 1) * perChar);
    });
    const bytes = Buffer.alloc(isMulaw ? samples.length : samples.length * 2);
    if (isMulaw) encodeMulaw(samples, 0, samples.length, bytes, 0);
    else for (let i = 0; i < samples.length; i++) bytes.writeInt16LE(samples[i]!, 2 * i);
    const alignment = {
      chars,
      charStartTimesMs: chars.map((_char, i) => this.#fake.charTime(i * CHAR_MS)),
      charDurationsMs: chars.map(() => CHAR_MS),
    };
    return { audio: bytes.toString('base64'), isFinal: null, alignment: this.#fake.isUntimed ? null : alignment };
  }
}
