/**
 * What both ears of Deepgram are made of: the call's socket and whose answers come over it, the turn that is under way,
 * what is done with, and how a loss is told. `listen-ear.ts` and `flux-ear.ts` add what their protocol says.
 */
import type { EarHints, EarListener } from '../../contract/ear.ts';
import type { ProviderEar, ProviderEarWish } from '../provider/provider-ear.ts';
import type { ProviderError } from '../provider/provider-error.ts';
import type { ServiceDeps } from '../provider/provider-service.ts';
import type { SoundSocket, SoundSocketOptions } from '../provider/sound-socket.ts';
import { DEEPGRAM, deepgramSocket, OwnRequest } from './deepgram-socket.ts';
import { confidenceOf, type DeepgramWord, textOf } from './heard-words.ts';

/** A turn of the call's. */
export interface EarTurn {
  number: number;
  /** Text that was told last. */
  told: string;
  /** Clock time of its beginning. */
  beganAtMs: number;
  /** Its socket was lost. */
  wasLost: boolean;
  cancelWait: () => void;
}

/** From the first asking: the caller waits for more than this answer. The call waits 1.5 s for a final. */
export const ANSWER_WITHIN_MS = 800;
/** Then, where the socket was found dead: another is sent the turn. */
export const ANOTHER_WITHIN_MS = 600;

export abstract class DeepgramEar<Turn extends EarTurn> implements ProviderEar {
  protected readonly wish: ProviderEarWish;
  protected readonly deps: Pick<ServiceDeps, 'clock' | 'openSocket'>;
  protected readonly listener: EarListener;
  protected readonly socket: SoundSocket;
  protected readonly own = new OwnRequest();
  protected hints: EarHints = { phrases: [] };
  protected turn: Turn | null = null;
  /** Sound before it is done with, words of it too. */
  protected doneMs = Number.NEGATIVE_INFINITY;
  /** No other socket is dialled. */
  protected isLost = false;
  /** Why there is no socket. */
  #error: ProviderError | null = null;
  /** Clock time of the first turn in a row of which the socket said nothing; NaN: it has said something since. */
  #unheardSinceMs = Number.NaN;
  #isClosed = false;

  constructor(
    wish: ProviderEarWish,
    deps: Pick<ServiceDeps, 'clock' | 'openSocket'>,
    listener: EarListener,
    keepAlive: SoundSocketOptions['keepAlive'],
  ) {
    this.wish = wish;
    this.deps = deps;
    this.listener = listener;
    this.socket = deepgramSocket(
      wish,
      deps,
      { url: () => this.url(), keepAlive },
      {
        opened: (requestId) => {
          this.own.opened(requestId);
          this.#error = null;
          this.opened();
        },
        message: (message) => this.said(message),
        settledMs: () => this.settledMs(),
        isInTurn: () => this.turn !== null,
        lost: (error, isLasting) => this.#lost(error, isLasting),
      },
    );
  }

  abstract hint(hints: EarHints): void;
  abstract turnBegan(turn: number, onsetMs: number): void;
  abstract mayBeOver(): void;
  abstract wentOn(): void;
  abstract turnOver(): void;
  abstract turnDropped(): void;
  /** Of the next socket. Called before a field of the ear's own is set. */
  protected abstract url(): string;
  /** As the provider calls it. */
  protected abstract readonly model: string;
  /** A socket stands, its stream begins anew. */
  protected abstract opened(): void;
  protected abstract said(message: Record<string, unknown>): void;
  /** From which audio time on sound is to be sent again. */
  protected abstract settledMs(): number;

  push(sound: Uint8Array, atMs: number): void {
    this.socket.push(sound, atMs);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.endTurn();
    this.socket.close();
    this.wish.used(this.model, this.socket.sentMs / 1_000);
  }

  /** The socket has answered this call. */
  protected answered(): void {
    this.#unheardSinceMs = Number.NaN;
    this.socket.heardFrom();
  }

  /**
   * Nothing came of the turn in time. True: nor of the one before, the socket is dead, and another is dialled. Who is
   * late with one turn is slow: the words come yet, and would be lost with the socket.
   */
  protected isDead({ beganAtMs }: EarTurn): boolean {
    if (!Number.isNaN(this.#unheardSinceMs)) return this.socket.isDeadSince(this.#unheardSinceMs);
    this.#unheardSinceMs = beganAtMs;
    return false;
  }

  protected newTurn(number: number): EarTurn {
    return { number, told: '', beganAtMs: this.deps.clock.nowMs(), wasLost: false, cancelWait: () => {} };
  }

  protected endTurn(): void {
    this.turn?.cancelWait();
    this.turn = null;
    this.socket.expect(false);
  }

  /** Nobody can hear the turn. */
  protected fail(): void {
    const { turn } = this;
    if (turn === null) return;
    this.endTurn();
    this.doneMs = this.socket.pushedMs;
    this.listener.failed(turn.number, this.#error ?? new Error(`${DEEPGRAM} is not connected`));
  }

  protected tellWords(words: readonly DeepgramWord[], kind: { final: boolean; concluded?: true; isLate?: true }): void {
    const { turn } = this;
    if (turn === null) return;
    turn.told = textOf(words);
    const confidence = confidenceOf(words);
    this.listener.words({
      turn: turn.number,
      text: turn.told,
      rejected: false,
      ...kind,
      words: words.map(({ text, startMs, endMs }) => ({ text, startMs, endMs })),
      ...(confidence === undefined ? {} : { confidence }),
    });
  }

  protected later(run: () => void): () => void {
    return this.deps.clock.after(0, run);
  }

  #lost(error: ProviderError, isLasting: boolean): void {
    this.#error = error;
    this.isLost = isLasting;
    if (this.turn !== null) this.turn.wasLost = true;
    if (!isLasting) return;
    this.later(() => {
      if (this.#isClosed) return;
      this.fail();
      this.listener.deaf?.(error);
    });
  }
}
