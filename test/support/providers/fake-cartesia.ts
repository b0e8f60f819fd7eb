/**
 * Cartesia on a virtual clock, without a network: its WebSocket, as a voice opens it. Each character of the text sounds
 * for 50 ms, a space is silent; times of words come ahead of their sound, or as `wordTimes` has them.
 */
import type { GuardedSocket, SocketListener, SocketRequest } from '../../../media/net/guarded-socket.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import { FakeSocket } from './fake-socket.ts';
import { CHAR_MS, soundOfChars } from './toy-speech.ts';

const CHUNK_CHARS = 4;

interface Request {
  context_id: string;
  transcript?: string;
  cancel?: boolean;
  voice?: { id: string };
  output_format?: { encoding: string };
}

export class FakeCartesia {
  readonly clock: VirtualClock;
  readonly sockets: FakeCartesiaSocket[] = [];
  readonly voices: readonly string[] = ['sonic-ann', 'sonic-ben'];
  /** What is made of the times of words before they leave. */
  wordTimes: (times: { words: string[]; start: number[]; end: number[] }) => object = (times) => times;

  constructor(clock: VirtualClock) {
    this.clock = clock;
  }

  openSocket = (request: SocketRequest, listener: SocketListener): GuardedSocket => {
    const socket = new FakeCartesiaSocket(this, request, listener);
    this.sockets.push(socket);
    this.clock.after(40, () => socket.open());
    return socket;
  };

  get last(): FakeCartesiaSocket {
    return this.sockets.at(-1)!;
  }
}

export class FakeCartesiaSocket extends FakeSocket {
  readonly told: Request[] = [];
  readonly #fake: FakeCartesia;

  constructor(fake: FakeCartesia, request: SocketRequest, listener: SocketListener) {
    super(request, listener);
    this.#fake = fake;
  }

  open(): void {
    if (!this.isOver) this.opened();
  }

  protected override heard(data: string | Uint8Array): void {
    const request = JSON.parse(data as string) as Request;
    this.told.push(request);
    // What was cancelled is spoken on all the same: late sound is for nobody.
    if (request.cancel === true) return;
    if (this.#fake.voices.includes(request.voice!.id)) this.#speak(request);
    else this.refuse(request.context_id, 404, 'voice_not_found');
  }

  refuse(context_id: string | undefined, status_code: number, error_code: string): void {
    this.say({ type: 'error', context_id, done: true, status_code, error_code, title: 'No', message: 'No.' });
  }

  #speak({ context_id, transcript = '', output_format }: Request): void {
    const chars = [...transcript];
    const found = [...transcript.matchAll(/\S+/g)];
    const times = this.#fake.wordTimes({
      words: found.map(([word]) => word),
      start: found.map(({ index }) => (index * CHAR_MS) / 1000),
      end: found.map(({ index, 0: word }) => ((index + word.length) * CHAR_MS) / 1000),
    });
    const of = { context_id, done: false, status_code: 206 };
    let dueMs = 100;
    this.#fake.clock.after(dueMs, () => this.say({ type: 'timestamps', ...of, word_timestamps: times }));
    for (let at = 0; at < chars.length; at += CHUNK_CHARS) {
      const data = soundOfChars(chars.slice(at, at + CHUNK_CHARS), output_format!.encoding === 'pcm_mulaw').toString(
        'base64',
      );
      this.#fake.clock.after(dueMs, () => this.say({ type: 'chunk', ...of, data, step_time: 5 }));
      dueMs += 20;
    }
    this.#fake.clock.after(dueMs, () => this.say({ type: 'done', context_id, done: true, status_code: 200 }));
  }
}
