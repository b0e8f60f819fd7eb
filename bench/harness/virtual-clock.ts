/**
 * Time that moves only when its owner says so: a test, or the text runner of agent tests. Timers run in order of their
 * due time (ties: in order of creation), each with `nowMs` at its own due time; a timer set by a timer runs in the same
 * `advanceMs` when it falls due in it.
 */
import type { Clock } from '../../media/contract/clock.ts';

interface Timer {
  dueAtMs: number;
  order: number;
  run: () => void;
}

export class VirtualClock implements Clock {
  #nowMs = 0;
  protected epochAtZeroMs: number;
  #order = 0;
  protected timers: Timer[] = [];

  /** `epochMs` is the wall clock at `nowMs` 0. */
  constructor(epochMs = Date.UTC(2026, 10, 21)) {
    this.epochAtZeroMs = epochMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  epochMs(): number {
    return this.epochAtZeroMs + this.#nowMs;
  }

  after(afterMs: number, run: () => void): () => void {
    const timer: Timer = { dueAtMs: this.#nowMs + Math.max(0, afterMs), order: this.#order++, run };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  advanceMs(byMs: number): void {
    const untilMs = this.#nowMs + byMs;
    for (let next = this.#nextDue(untilMs); next !== null; next = this.#nextDue(untilMs)) {
      this.timers = this.timers.filter((other) => other !== next);
      this.#nowMs = Math.max(this.#nowMs, next.dueAtMs);
      next.run();
    }
    this.#nowMs = untilMs;
  }

  #nextDue(untilMs: number): Timer | null {
    let next: Timer | null = null;
    for (const timer of this.timers) {
      if (timer.dueAtMs > untilMs) continue;
      if (
        next === null ||
        timer.dueAtMs < next.dueAtMs ||
        (timer.dueAtMs === next.dueAtMs && timer.order < next.order)
      ) {
        next = timer;
      }
    }
    return next;
  }
}
