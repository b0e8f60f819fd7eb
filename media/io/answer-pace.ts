/**
 * How a client takes its answer. One that takes nothing for the limit is too slow; so is one that has to keep up and
 * takes less than a body must bring: else a slow reader would hold its place for as long as the answer is big. Pure.
 */
import { LEAST_BYTES_PER_SECOND } from './request-room/open-bodies.ts';

export class AnswerPace {
  readonly #limitMs: number;
  #sinceMs: number | null = null;
  #waitedMs = 0;
  /** Given to the socket server. */
  bytes = 0;
  /** Not of an event stream, which is long and small, nor of whom control knows: what they hold is their own. */
  mustKeepUp = true;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** No more is given to the client until it has taken what there is. */
  waits(nowMs: number): void {
    this.#sinceMs ??= nowMs;
  }

  taken(nowMs: number): void {
    if (this.#sinceMs === null) return;
    this.#waitedMs += nowMs - this.#sinceMs;
    this.#sinceMs = null;
  }

  isTooSlow(nowMs: number): boolean {
    if (this.#sinceMs === null) return false;
    const waitsMs = nowMs - this.#sinceMs;
    if (waitsMs > this.#limitMs) return true;
    const mayWaitMs = this.#limitMs + (this.bytes / LEAST_BYTES_PER_SECOND) * 1_000;
    return this.mustKeepUp && this.#waitedMs + waitsMs > mayWaitMs;
  }
}
