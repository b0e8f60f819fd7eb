/**
 * Deepgram on a virtual clock, without a network: speaks the wire of `listen` v1 and of Flux over the sockets that an
 * ear opens. It hears toy speech, and nothing but what it was sent.
 */
import type { SocketListener, SocketRequest } from '../../../media/net/guarded-socket.ts';
import { FakeEarSocket, FakeEars, FRAME_MS } from './fake-ear.ts';

export class FakeDeepgram extends FakeEars<FakeDeepgramSocket> {
  protected override socketOf(request: SocketRequest, listener: SocketListener, number: number): FakeDeepgramSocket {
    return new FakeDeepgramSocket(this, request, listener, number);
  }
}

interface FakeWord {
  word: string;
  start: number;
  end: number;
  confidence: number;
}

export class FakeDeepgramSocket extends FakeEarSocket {
  /** Answers of another request. */
  isForeign = false;
  readonly id: string;
  protected readonly sound: { isMulaw: boolean; rateHz: number };
  readonly #isFlux: boolean;
  /** Of words that were not settled. */
  #words: FakeWord[] = [];
  #settledMs = 0;
  #toldMs = 0;
  #silentMs = 0;
  #current: string | null = null;
  #turn = 0;
  #state: 'initial' | 'open' | 'eager' = 'initial';

  constructor(fake: FakeDeepgram, request: SocketRequest, listener: SocketListener, number: number) {
    super(fake, request, listener);
    this.id = `request-${number}`;
    this.#isFlux = this.url.pathname === '/v2/listen';
    const { searchParams } = this.url;
    this.sound = {
      isMulaw: searchParams.get('encoding') === 'mulaw',
      rateHz: Number(searchParams.get('sample_rate')),
    };
  }

  protected override welcome(): void {
    this.opened({ 'dg-request-id': this.id });
    if (this.#isFlux) this.later({ type: 'Connected' });
  }

  protected override command(message: Record<string, unknown>): void {
    if (message['type'] === 'Finalize' && this.nowMs - this.#settledMs >= 200)
      this.#result(true, { from_finalize: true });
    if (message['type'] === 'ForceEndTurn' && this.#state !== 'initial') this.#endTurn('manual');
  }

  protected override frame(word: string | null): void {
    const start = (this.nowMs - FRAME_MS) / 1000;
    const end = this.nowMs / 1000;
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
    else if (this.#words.length > 0 && this.nowMs - this.#toldMs >= 300) this.#result(false);
    else if (this.#words.length === 0 && this.nowMs - this.#settledMs >= 5_000) this.#result(true);
  }

  #result(isFinal: boolean, more: object = {}): void {
    const words = this.#words.map((word) => ({ ...word, punctuated_word: `${word.word}.` }));
    const start = this.#settledMs / 1000;
    this.#toldMs = this.nowMs;
    if (isFinal) {
      this.#settledMs = this.nowMs;
      this.#words = [];
      this.#current = null;
    }
    this.later({
      type: 'Results',
      start,
      duration: this.nowMs / 1000 - start,
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
    else if (this.nowMs - this.#toldMs >= 240) this.#turnInfo('Update');
  }

  #endTurn(trigger: string): void {
    this.#turnInfo('EndOfTurn', { trigger });
    this.#turn++;
    this.#state = 'initial';
    this.#words = [];
    this.#settledMs = this.nowMs;
  }

  #turnInfo(event: string, more: object = {}): void {
    this.#toldMs = this.nowMs;
    const words = this.#state === 'initial' ? [] : this.#words.map((word) => ({ ...word }));
    this.later({
      type: 'TurnInfo',
      event,
      turn_index: this.#turn,
      audio_window_start: this.#settledMs / 1000,
      audio_window_end: this.nowMs / 1000,
      transcript: words.map(({ word }) => word).join(' '),
      words,
      end_of_turn_confidence: 0.5,
      request_id: this.id,
      ...more,
    });
  }

  protected override later(message: Record<string, unknown>): void {
    const foreign = { request_id: 'request-of-another', metadata: { request_id: 'request-of-another' } };
    super.later(this.isForeign ? { ...message, ...foreign } : message);
  }
}
