/**
 * Deepgram's speech on a virtual clock, without a network: the wire of `/v1/speak` (Aura) and `/v2/speak` (Flux), as a
 * voice opens it. Each character of the text sounds for 50 ms, a space is silent.
 */
import type { GuardedSocket, SocketListener, SocketRequest } from '../../../media/net/guarded-socket.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import { FakeSocket } from './fake-socket.ts';
import { soundOfChars } from './toy-speech.ts';

const CHUNK_CHARS = 4;
const CHUNK_EVERY_MS = 20;

export class FakeDeepgramSpeech {
  readonly clock: VirtualClock;
  readonly sockets: FakeSpeechSocket[] = [];
  readonly voices: readonly string[] = ['flux-ann-en', 'aura-2-ben-en'];

  constructor(clock: VirtualClock) {
    this.clock = clock;
  }

  openSocket = (request: SocketRequest, listener: SocketListener): GuardedSocket => {
    const socket = new FakeSpeechSocket(this, request, listener);
    this.sockets.push(socket);
    this.clock.after(40, () => socket.answer());
    return socket;
  };

  get last(): FakeSpeechSocket {
    return this.sockets.at(-1)!;
  }
}

export class FakeSpeechSocket extends FakeSocket {
  readonly told: Record<string, unknown>[] = [];
  /** Nothing leaves any more. */
  isStalled = false;
  readonly #fake: FakeDeepgramSpeech;
  readonly #isFlux: boolean;
  readonly #isMulaw: boolean;
  #text = '';
  /** Raised by what calls off; sound of before leaves up to the confirmation. */
  #calledOff = 0;
  #speaking = 0;

  constructor(fake: FakeDeepgramSpeech, request: SocketRequest, listener: SocketListener) {
    super(request, listener);
    this.#fake = fake;
    this.#isFlux = this.url.pathname === '/v2/speak';
    this.#isMulaw = this.url.searchParams.get('encoding') === 'mulaw';
  }

  answer(): void {
    if (this.isOver) return;
    const model = this.url.searchParams.get('model')!;
    if (!this.#fake.voices.includes(model)) {
      this.refused(400, '{"err_code":"X","err_msg":"No such model."}');
      return;
    }
    this.opened();
    this.#later({ type: this.#isFlux ? 'Connected' : 'Metadata', request_id: 'r' }, 0);
  }

  protected override heard(data: string | Uint8Array): void {
    const message = JSON.parse(data as string) as Record<string, unknown>;
    this.told.push(message);
    if (message['type'] === 'Speak') this.#text += String(message['text']);
    else if (message['type'] === 'Flush') this.#flush();
    else if (message['type'] === 'Clear' || message['type'] === 'Interrupt') this.#callOff();
  }

  #flush(): void {
    const chars = [...this.#text];
    const of = this.#calledOff;
    this.#text = '';
    this.#speaking++;
    let dueMs = 100;
    for (let at = 0; at < chars.length; at += CHUNK_CHARS) {
      const sound = soundOfChars(chars.slice(at, at + CHUNK_CHARS), this.#isMulaw);
      this.#fake.clock.after(dueMs, () => {
        if (!this.isStalled && !this.isOver && of === this.#calledOff) this.listener.message(sound, true);
      });
      dueMs += CHUNK_EVERY_MS;
    }
    this.#fake.clock.after(dueMs, () => {
      if (of !== this.#calledOff) return;
      this.#speaking--;
      this.#later(this.#isFlux ? { type: 'SpeechMetadata', speech_id: 's' } : { type: 'Flushed', sequence_id: 0 }, 0);
    });
  }

  /** What is on its way comes before it is confirmed. */
  #callOff(): void {
    if (this.#isFlux && this.#speaking === 0) {
      this.#later({ type: 'Warning', code: 'NO_ACTIVE_SPEECH' }, 40);
      return;
    }
    this.#fake.clock.after(60, () => {
      this.#calledOff++;
      this.#speaking = 0;
      this.#later(this.#isFlux ? { type: 'SpeechInterrupted' } : { type: 'Cleared', sequence_id: 1 }, 0);
    });
  }

  #later(message: object, ms: number): void {
    this.#fake.clock.after(ms, () => {
      if (!this.isStalled) this.say(message);
    });
  }
}
