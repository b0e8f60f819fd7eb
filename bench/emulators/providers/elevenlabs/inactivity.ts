/** Runs something when nothing was heard for so long; each sign of life begins anew. Ends with its exchange. */
import type { Timetable } from '../timetable.ts';

export class Inactivity {
  readonly #timetable: Timetable;
  readonly #limitMs: number;
  readonly #onExpired: () => void;
  #lastAtMs: number;
  #isOver = false;

  constructor(timetable: Timetable, limitMs: number, onExpired: () => void) {
    this.#timetable = timetable.apart();
    this.#limitMs = limitMs;
    this.#onExpired = onExpired;
    this.#lastAtMs = timetable.nowMs();
    this.#wait();
  }

  alive(): void {
    this.#lastAtMs = this.#timetable.nowMs();
  }

  stop(): void {
    this.#isOver = true;
    this.#timetable.close();
  }

  #wait(): void {
    this.#timetable.at(this.#lastAtMs + this.#limitMs, () => {
      if (this.#isOver) return;
      if (this.#timetable.nowMs() < this.#lastAtMs + this.#limitMs) return this.#wait();
      this.#isOver = true;
      this.#onExpired();
    });
  }
}

export function inactivityError(limitMs: number): { error: string; message: string } {
  return {
    error: 'input_timeout_exceeded',
    message:
      `Have not received a new text input within the timeout of ${limitMs / 1000} seconds. Streaming input terminated. ` +
      'Please make sure to either feed the input in the timely manner, or to send the end of input text ' +
      '(empty string "") when done.',
  };
}
