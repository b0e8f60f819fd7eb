/**
 * Scripted latencies on one absolute clock. What a provider says is due at an instant (that of its cause, plus the
 * scripted latency), not so long after the emulator got round to it: what the emulator's own work takes is inside of
 * the latency. What is late all the same leaves at once, in order, and the journal says by how much. One timetable an
 * exchange; closed with it.
 */
import type { Clock } from '../../../media/contract/clock.ts';
import type { Journal } from './journal.ts';

export class Timetable {
  readonly #clock: Clock;
  readonly #journal: Journal;
  readonly #due: { atMs: number; run: () => void }[] = [];
  #cancel: (() => void) | null = null;
  #closed = false;
  readonly #apart = new Set<Timetable>();

  constructor(clock: Clock, journal: Journal) {
    this.#clock = clock;
    this.#journal = journal;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  /** Runs `run` at that instant, after all that was entered before it: nothing overtakes. */
  at(atMs: number, run: () => void): void {
    if (this.#closed) return;
    const last = this.#due.at(-1);
    this.#due.push({ atMs: Math.max(atMs, last?.atMs ?? atMs), run });
    if (this.#due.length === 1) this.#arm();
  }

  /** So long from now, and in order. */
  after(delayMs: number, run: () => void): void {
    this.at(this.nowMs() + delayMs, run);
  }

  /** Another order of its own, for what is independent of this one; closed with it. */
  apart(): Timetable {
    const other = new Timetable(this.#clock, this.#journal);
    if (this.#closed) other.close();
    else this.#apart.add(other);
    return other;
  }

  close(): void {
    this.#closed = true;
    for (const other of this.#apart) other.close();
    this.#apart.clear();
    this.#due.length = 0;
    this.#cancel?.();
  }

  #arm(): void {
    // What `run` entered has armed it already: one timer, or each step of a chain would leave one more.
    this.#cancel?.();
    const first = this.#due[0];
    this.#cancel = first === undefined ? null : this.#clock.after(first.atMs - this.nowMs(), () => this.#run());
  }

  #run(): void {
    while (!this.#closed) {
      const first = this.#due[0];
      if (first === undefined || first.atMs > this.nowMs()) break;
      this.#journal.maxLatenessMs = Math.max(this.#journal.maxLatenessMs, this.nowMs() - first.atMs);
      this.#due.shift();
      first.run();
    }
    if (!this.#closed) this.#arm();
  }
}
