/**
 * Whether the other end of a socket still answers pings: a path that has died without a word leaves a socket that looks
 * open. Kept by the sockets of ears and of voices, which ask it when they look at the time.
 */
import { ProviderError } from './provider-error.ts';

const WITHIN_MS = 5_000;

export class PongWatch {
  /** Clock time; null: no pong is owed. */
  #owedSinceMs: number | null = null;

  pinged(nowMs: number): void {
    this.#owedSinceMs ??= nowMs;
  }

  /** Also for another socket, which owes none. */
  answered(): void {
    this.#owedSinceMs = null;
  }

  /** Null: it lives, as far as is known. */
  fault(provider: string, nowMs: number): ProviderError | null {
    if (this.#owedSinceMs === null || nowMs - this.#owedSinceMs < WITHIN_MS) return null;
    return new ProviderError('timeout', `${provider} gave no sign of life for ${WITHIN_MS} ms`);
  }
}
