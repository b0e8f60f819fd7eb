/**
 * A recogniser's service on a virtual clock, without a network: the sockets that an ear opens, and the toy speech that
 * comes over them, frame by frame. Each fake provider says what it makes of it; each socket's time begins at 0.
 */
import { decodeMulaw } from '../../../media/audio/g711.ts';
import type { GuardedSocket, SocketListener, SocketRequest } from '../../../media/net/guarded-socket.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import { FakeSocket } from './fake-socket.ts';
import { toyWordOf } from './toy-speech.ts';

export const FRAME_MS = 20;

export abstract class FakeEars<Socket extends FakeEarSocket> {
  readonly clock: VirtualClock;
  /** All that were dialled, the refused ones too. */
  readonly sockets: Socket[] = [];
  /** What happens to the next dials, in turn: a status refuses them, `hang` answers nothing. */
  refusals: (number | 'hang')[] = [];
  latencyMs = 100;
  connectMs = 40;

  constructor(clock: VirtualClock) {
    this.clock = clock;
  }

  protected abstract socketOf(request: SocketRequest, listener: SocketListener, number: number): Socket;

  openSocket = (request: SocketRequest, listener: SocketListener): GuardedSocket => {
    const socket = this.socketOf(request, listener, this.sockets.length + 1);
    this.sockets.push(socket);
    const refusal = this.refusals.shift();
    if (refusal !== 'hang') this.clock.after(this.connectMs, () => socket.answer(refusal));
    return socket;
  };

  get last(): Socket {
    return this.sockets.at(-1)!;
  }

  get open(): number {
    return this.sockets.filter(({ isOpen }) => isOpen).length;
  }
}

export abstract class FakeEarSocket extends FakeSocket {
  /** Text messages, in order. */
  readonly told: Record<string, unknown>[] = [];
  /** All sound. */
  bytes: number[] = [];
  /** Clock time of each piece of sound, and its ms. */
  readonly batches: { atMs: number; ms: number }[] = [];
  pings = 0;
  /** Nothing leaves any more. */
  isStalled = false;
  /** Of sound so far. */
  protected nowMs = 0;
  readonly #fake: Pick<FakeEars<FakeEarSocket>, 'clock' | 'latencyMs'>;

  constructor(
    fake: Pick<FakeEars<FakeEarSocket>, 'clock' | 'latencyMs'>,
    request: SocketRequest,
    listener: SocketListener,
  ) {
    super(request, listener);
    this.#fake = fake;
  }

  protected abstract readonly sound: { isMulaw: boolean; rateHz: number };
  protected abstract welcome(): void;
  protected abstract command(message: Record<string, unknown>): void;
  /** 20 ms of a word, or of silence; `nowMs` lies behind it. */
  protected abstract frame(word: string | null): void;

  answer(refusal: number | undefined): void {
    if (this.isOver) return;
    if (refusal === undefined) this.welcome();
    else this.refused(refusal, '{"err_code":"X","err_msg":"No."}');
  }

  protected override heard(data: string | Uint8Array): void {
    if (typeof data === 'string') {
      const message = JSON.parse(data) as Record<string, unknown>;
      this.told.push(message);
      this.command(message);
    } else this.hear(data);
  }

  override ping(): void {
    this.pings++;
    if (this.answersPings) this.#fake.clock.after(20, () => this.isOver || this.listener.pong?.());
  }

  protected hear(data: Uint8Array): void {
    const { isMulaw, rateHz } = this.sound;
    const samples = new Int16Array(isMulaw ? data.length : data.length / 2);
    if (isMulaw) decodeMulaw(data, 0, data.length, samples, 0);
    else for (let i = 0; i < samples.length; i++) samples[i] = data[2 * i]! | (data[2 * i + 1]! << 8);
    this.bytes.push(...data);
    this.batches.push({ atMs: this.#fake.clock.nowMs(), ms: samples.length / (rateHz / 1000) });
    const frame = (rateHz * FRAME_MS) / 1000;
    for (let at = 0; at < samples.length; at += frame) {
      this.nowMs += FRAME_MS;
      this.frame(toyWordOf(samples[at]!));
    }
  }

  protected later(message: Record<string, unknown>): void {
    this.#fake.clock.after(this.#fake.latencyMs, () => {
      if (!this.isStalled) this.say(message);
    });
  }
}
