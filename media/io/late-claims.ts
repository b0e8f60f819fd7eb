/**
 * Tokens whose claim was given up because control took too long. It may have given this process the call all the same,
 * and burned the token, with nobody to have it: whose socket comes next with that token is then asked for as one that
 * comes again, which control lets in where this process is still the call's owner. Asked by `control-link.ts`.
 */
import type { Clock } from '../contract/clock.ts';

/** A carrier dials again within seconds, if it does. */
const KEPT_MS = 30_000;
const MOST_TOKENS = 1_000;

export class LateClaims {
  readonly #clock: Pick<Clock, 'nowMs'>;
  /** The oldest first. */
  readonly #untilMs = new Map<string, number>();

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  add(token: string): void {
    const nowMs = this.#clock.nowMs();
    this.#untilMs.delete(token);
    for (const [old, untilMs] of this.#untilMs) {
      if (untilMs > nowMs && this.#untilMs.size < MOST_TOKENS) break;
      this.#untilMs.delete(old);
    }
    this.#untilMs.set(token, nowMs + KEPT_MS);
  }

  /** Once: of two sockets that come together one may come again, and the other is one too many. */
  take(token: string): boolean {
    const untilMs = this.#untilMs.get(token) ?? 0;
    this.#untilMs.delete(token);
    return untilMs > this.#clock.nowMs();
  }
}
