/**
 * Things that are due at an instant, in order: what was entered first runs first, however late. All of a process tell
 * together how late they ran; where that is much, a run says nothing of its subject.
 */
import { percentile } from '../../harness/percentile.ts';

const lateness: number[] = [];

export class Schedule {
  readonly #due: { atMs: number; run: () => void }[] = [];

  /** `atMs` of `performance.now()`. */
  at(atMs: number, run: () => void): void {
    this.#due.push({ atMs, run });
    if (this.#due.length === 1) this.#arm();
  }

  after(delayMs: number, run: () => void): void {
    this.at(performance.now() + delayMs, run);
  }

  /** What is entered but not due yet is dropped. */
  clear(): void {
    this.#due.length = 0;
  }

  #arm(): void {
    const first = this.#due[0];
    if (first !== undefined) setTimeout(() => this.#run(first), Math.max(0, first.atMs - performance.now()));
  }

  #run(first: { atMs: number; run: () => void }): void {
    // It was dropped.
    if (this.#due[0] !== first) return;
    lateness.push(Math.max(0, performance.now() - first.atMs));
    first.run();
    if (this.#due[0] === first) this.#due.shift();
    this.#arm();
  }
}

/** Since it was asked last; 0 of none. */
export function takeLatenessP99Ms(): number {
  const p99 = percentile(lateness.length === 0 ? [0] : lateness, 0.99);
  lateness.length = 0;
  return p99;
}
