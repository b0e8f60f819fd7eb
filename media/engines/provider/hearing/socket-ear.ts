/**
 * What ears of providers that hear over one socket a call are made of: the socket of its sound, the turn that is under
 * way, what is done with, and how a loss is told. Each provider's adds what its protocol says.
 */
import type { EarHints, EarListener, EarWords } from '../../../contract/ear.ts';
import type { ProviderEar, ProviderEarWish } from '../provider-ear.ts';
import type { ProviderError } from '../provider-error.ts';
import type { ServiceDeps } from '../provider-service.ts';
import { SoundSocket, type SoundSocketOptions } from '../sound-socket.ts';
import { confidenceOf, type ToldWord, textOf, timesOf } from './told-words.ts';

export type EarDeps = Pick<ServiceDeps, 'clock' | 'openSocket'>;
export type EarSocketOptions = Omit<SoundSocketOptions, 'url' | 'bytesPerMs' | 'greeting' | 'errorOfClose'>;

type WordsKind = Pick<EarWords, 'final' | 'concluded' | 'isLate'>;

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
const MULAW_SILENCE = 0xff;

export abstract class SocketEar<Turn extends EarTurn> implements ProviderEar {
  protected readonly wish: ProviderEarWish;
  protected readonly deps: EarDeps;
  protected readonly listener: EarListener;
  protected readonly socket: SoundSocket;
  protected hints: EarHints = { phrases: [] };
  protected turn: Turn | null = null;
  /** Sound before it is done with, words of it too. */
  protected doneMs = Number.NEGATIVE_INFINITY;
  /** No other socket is dialled. */
  protected isLost = false;
  /** As people write it. */
  readonly #provider: string;
  /** Why there is no socket. */
  #error: ProviderError | null = null;
  /** Clock time of the first turn in a row of which the socket said nothing; NaN: it has said something since. */
  #unheardSinceMs = Number.NaN;
  #isClosed = false;

  constructor(wish: ProviderEarWish, deps: EarDeps, listener: EarListener, options: EarSocketOptions) {
    this.wish = wish;
    this.deps = deps;
    this.listener = listener;
    this.#provider = options.provider;
    this.socket = new SoundSocket(
      {
        ...options,
        url: () => this.url(),
        bytesPerMs: bytesPerMs(wish),
        greeting: () => this.greeting(),
        errorOfClose: (code, reason) => this.errorOfClose(code, reason),
      },
      deps,
      {
        opened: (requestId) => {
          this.#error = null;
          this.opened(requestId);
        },
        message: (message) => this.said(message),
        settledMs: () => this.settledMs(),
        unwantedMs: () => this.unwantedMs(),
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
  /** A socket stands, its stream begins anew. `requestId`: as the upgrade's answer says it. */
  protected abstract opened(requestId: string | null): void;
  protected abstract said(message: Record<string, unknown>): void;
  /** From which audio time on sound is to be sent again. */
  protected abstract settledMs(): number;

  /** Before which audio time nobody wants sound that waits. */
  protected unwantedMs(): number {
    return this.settledMs();
  }

  /** Said when a socket stands, before any sound. */
  protected greeting(): string | null {
    return null;
  }

  /** Of a close with a code of the provider's own; null: it is told as any other. */
  protected errorOfClose(_code: number, _reason: string): ProviderError | null {
    return null;
  }

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

  /** Nobody can hear the turn. `error`: default, that of the socket. */
  protected fail(error?: Error): void {
    const { turn } = this;
    if (turn === null) return;
    this.endTurn();
    this.doneMs = this.socket.pushedMs;
    this.listener.failed(turn.number, error ?? this.#error ?? new Error(`${this.#provider} is not connected`));
  }

  protected tellWords(words: readonly ToldWord[], kind: WordsKind): void {
    const confidence = confidenceOf(words);
    this.tellText(textOf(words), {
      ...kind,
      words: timesOf(words),
      ...(confidence === undefined ? {} : { confidence }),
    });
  }

  protected tellText(text: string, kind: WordsKind & Pick<EarWords, 'words' | 'confidence'>): void {
    const { turn } = this;
    if (turn === null) return;
    turn.told = text;
    this.listener.words({ turn: turn.number, text, rejected: false, ...kind });
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

/** Of sound in the form in which the ear gets it. */
export function bytesPerMs({ codec, rateHz }: Pick<ProviderEarWish, 'codec' | 'rateHz'>): number {
  return (rateHz / 1_000) * (codec === 'mulaw' ? 1 : 2);
}

/** In the same form. */
export function silenceOf(wish: Pick<ProviderEarWish, 'codec' | 'rateHz'>, ms: number): Uint8Array {
  return new Uint8Array(ms * bytesPerMs(wish)).fill(wish.codec === 'mulaw' ? MULAW_SILENCE : 0);
}
