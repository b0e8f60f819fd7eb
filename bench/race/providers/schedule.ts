/**
 * Things that are due at an instant, in one process: a timer each, and how late it ran at worst and at p99. Where that
 * is much, a run says nothing of its subject.
 */
import { percentile } from '../../harness/percentile.ts';

const lateness: number[] = [];

/** `atMs` of `performance.now()`. */
export function at(atMs: number, run: () => void): NodeJS.Timeout {
  return setTimeout(
    () => {
      lateness.push(Math.max(0, performance.now() - atMs));
      run();
    },
    Math.max(0, atMs - performance.now()),
  );
}

/** Since it was asked last; 0 of none. */
export function takeLatenessP99Ms(): number {
  const p99 = percentile(lateness.length === 0 ? [0] : lateness, 0.99);
  lateness.length = 0;
  return p99;
}
