/**
 * Deepgram on a virtual clock, without a network: speaks the wire of `listen` v1 and of Flux over the sockets that an
 * ear opens. It hears toy speech, and nothing but what it was sent; each socket's time begins at 0.
 */
import { decodeMulaw } from '../../../media/audio/g711.ts';
import type { GuardedSocket, SocketListener, SocketRequest } from '../../../media/net/guarded-socket.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import { FakeSocket } from './fake-socket.ts';
import { toyWordOf } from './toy-speech.ts';

const FRAME_MS = 20;

export class FakeDeepgram {
  readonly clock: VirtualClock;
  /** All that were dialled, the refused ones too. */
  readonly sockets: FakeDeepgramSocket[] = [];
  /** What happens to the next dials, in turn: a status refuses them, `hang` answers nothing. */
  refusals: (number | 'hang')[] = [];
  latencyMs = 100;
  connectMs = 40;

  constructor(clock: VirtualClock) {
    this.clock = clock;
  }

  openSocket = (request: SocketRequest, listener: SocketListener): GuardedSocket => {
    const socket = new FakeDeepgramSocket(this, request, listener, this.sockets.length + 1);
    this.sockets.push(socket);
    const refusal = this.refusals.shift();
    if (refusal !== 'hang') this.clock.after(this.connectMs, () => socket.answer(refusal));
    return socket;
  };

  get last(): FakeDeepgramSocket {
    return this.sockets.at(-1)!;
  }

  get open(): number {
    return this.sockets.filter(({ isOpen }) => isOpen).length;
  }
}

interface FakeWord {
  word: string;
  start: number;
  end: number;
  confidence: number;
}

export class FakeDeepgramSocket extends FakeSocket {
  /** Text messages, in order. */
  readonly told: Record<string, unknown>[] = [];
  /** All sound. */
  bytes: number[] = [];
  /** Clock time of each binary message, and its ms. */
  readonly batches: { atMs: number; ms: number }[] = [];
  pings = 0;
  /** Nothing leaves any more. */
  isStalled = false;
  answersPings = true;
  /** Answers of another request. */
  isForeign = false;
  readonly id: string;
  readonly #fake: FakeDeepgram;
  readonly #isFlux: boolean;
  readonly #isMulaw: boolean;
  readonly #rateHz: number;
  #ms = 0;
  /** Of words that were not settled. */
  #words: FakeWord[] = [];
  #settledMs = 0;
  #toldMs = 0;
  #silentMs = 0;
  #current: string | null = null;
  #turn = 0;
  #state: 'initial' | 'open' | 'eager' = 'initial';

  constructor(fake: FakeDeepgram, request: SocketRequest, listener: SocketListener, number: number) {
    super(request, listener);
    this.#fake = fake;
    this.id = `request-${number}`;
    this.#isFlux = this.url.pathname === '/v2/listen';
    this.#isMulaw = this.url.searchParams.get('encoding') === 'mulaw';
    this.#rateHz = Number(this.url.searchParams.get('sample_rate'));
  }

  answer(refusal: number | undefined): void {
    if (this.isOver) return;
    if (refusal !== undefined) {
      this.refused(refusal, '{"err_code":"X","err_msg":"No."}');
      return;
    }
    this.opened({ 'dg-request-id': this.id });
    if (this.#isFlux) this.#later({ type: 'Connected' });
  }

  protected override heard(data: string | Uint8Array): void {
    if (typeof data === 'string') this.#command(JSON.parse(data) as Record<string, unknown>);
    else this.#hear(data);
  }

  override ping(): void {
    this.pings++;
    if (this.answersPings) this.#fake.clock.after(20, () => this.isOver || this.listener.pong?.());
  }

  #command(message: Record<string, unknown>): void {
    this.told.push(message);
    if (message['type'] === 'Finalize' && this.#ms - this.#settledMs >= 200)
      this.#result(true, { from_finalize: true });
    if (message['type'] === 'ForceEndTurn' && this.#state !== 'initial') this.#endTurn('manual');
  }

  #hear(data: Uint8Array): void {
    const samples = new Int16Array(this.#isMulaw ? data.length : data.length / 2);
    if (this.#isMulaw) decodeMulaw(data, 0, data.length, samples, 0);
    else for (let i = 0; i < samples.length; i++) samples[i] = data[2 * i]! | (data[2 * i + 1]! << 8);
    this.bytes.push(...data);
    this.batches.push({ atMs: this.#fake.clock.nowMs(), ms: samples.length / (this.#rateHz / 1000) });
    const frame = (this.#rateHz * FRAME_MS) / 1000;
    for (let at = 0; at < samples.length; at += frame) this.#frame(samples[at]!);
  }

  #frame(sample: number): void {
    const word = toyWordOf(sample);
    const start = this.#ms / 1000;
    this.#ms += FRAME_MS;
    const end = this.#ms / 1000;
    if (word === null) {
      this.#silentMs += FRAME_MS;
      // A turn of Flux's has begun with its first whole word.
      if (this.#current !== null && this.#isFlux) this.#wordEnded();
    } else {
      this.#silentMs = 0;
      if (word === this.#current) this.#words.at(-1)!.end = end;
      else this.#words.push({ word, start, end, confidence: 0.9 });
    }
    this.#current = word;
    if (this.#isFlux) this.#flux();
    else this.#listen();
  }

  // ── listen v1 ──

  #listen(): void {
    if (this.#words.length > 0 && this.#silentMs === 200) this.#result(true, { speech_final: true });
    else if (this.#words.length > 0 && this.#ms - this.#toldMs >= 300) this.#result(false);
    else if (this.#words.length === 0 && this.#ms - this.#settledMs >= 5_000) this.#result(true);
  }

  #result(isFinal: boolean, more: object = {}): void {
    const words = this.#words.map((word) => ({ ...word, punctuated_word: `${word.word}.` }));
    const start = this.#settledMs / 1000;
    this.#toldMs = this.#ms;
    if (isFinal) {
      this.#settledMs = this.#ms;
      this.#words = [];
      this.#current = null;
    }
    this.#later({
      type: 'Results',
      start,
      duration: this.#ms / 1000 - start,
      is_final: isFinal,
      speech_final: false,
      from_finalize: false,
      ...more,
      channel: { alternatives: [{ transcript: words.map(({ word }) => word).join(' '), confidence: 0.9, words }] },
      metadata: { request_id: this.id },
    });
  }

  // ── Flux ──

  #wordEnded(): void {
    if (this.#state === 'initial') this.#state = 'open';
    else if (this.#state === 'eager') {
      this.#state = 'open';
      this.#turnInfo('TurnResumed');
      return;
    } else return;
    this.#turnInfo('StartOfTurn');
  }

  #flux(): void {
    if (this.#state === 'open' && this.#silentMs >= 300) {
      this.#state = 'eager';
      this.#turnInfo('EagerEndOfTurn');
    } else if (this.#state === 'eager' && this.#silentMs >= 700) this.#endTurn('model');
    else if (this.#ms - this.#toldMs >= 240) this.#turnInfo('Update');
  }

  #endTurn(trigger: string): void {
    this.#turnInfo('EndOfTurn', { trigger });
    this.#turn++;
    this.#state = 'initial';
    this.#words = [];
    this.#settledMs = this.#ms;
  }

  #turnInfo(event: string, more: object = {}): void {
    this.#toldMs = this.#ms;
    const words = this.#state === 'initial' ? [] : this.#words.map((word) => ({ ...word }));
    this.#later({
      type: 'TurnInfo',
      event,
      turn_index: this.#turn,
      audio_window_start: this.#settledMs / 1000,
      audio_window_end: this.#ms / 1000,
      transcript: words.map(({ word }) => word).join(' '),
      words,
      end_of_turn_confidence: 0.5,
      request_id: this.id,
      ...more,
    });
  }

  #later(message: Record<string, unknown>): void {
    const foreign = { request_id: 'request-of-another', metadata: { request_id: 'request-of-another' } };
    this.#fake.clock.after(this.#fake.latencyMs, () => {
      if (!this.isStalled) this.say(this.isForeign ? { ...message, ...foreign } : message);
    });
  }
}
