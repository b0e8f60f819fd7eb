/** Runs something when nothing was heard for so long; each sign of life begins anew. Ends with its exchange. */
import type { Timetable } from './timetable.ts';

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
