/**
 * How long a thread has been silent by its own doing. On a machine that is too busy a thread that is well gets no
 * processor for a second and beats late; taking it for dead would move its calls to a thread that gets none either,
 * each with a gap and an apology. So from the moment at which its silence is suspicious only such time counts in which
 * it worked, or slept where it should have beaten: a thread that spins works, one that hangs in a lock sleeps, and one
 * that waits for a processor does neither. Asked every few ten ms.
 */

/** What the operating system knows of a thread. */
export interface ThreadWork {
  /** Since its start. */
  cpuMs: number;
  /** It works, or waits for a processor to work on; else it sleeps. */
  isRunnable: boolean;
}

/** A thread that is well beats each 100 ms. */
const SUSPICIOUS_MS = 150;
/** Whatever kept it: nobody waits longer for a voice. */
const LONGEST_MS = 5_000;

export class SilenceGauge {
  readonly #read: () => ThreadWork | null;
  #beatAtMs = Number.NaN;
  #lookedAtMs = 0;
  #cpuMs = Number.NaN;
  #ownMs = 0;

  /** `read` gives null where the operating system tells nothing; then all silence counts. */
  constructor(read: () => ThreadWork | null) {
    this.#read = read;
  }

  /** `beatAtMs`: when it last showed that it lives. */
  silentMs(nowMs: number, beatAtMs: number): number {
    const silentMs = nowMs - beatAtMs;
    if (silentMs < SUSPICIOUS_MS || silentMs > LONGEST_MS) return silentMs;
    const work = this.#read();
    if (work === null) return silentMs;
    if (beatAtMs !== this.#beatAtMs) {
      this.#beatAtMs = beatAtMs;
      this.#ownMs = silentMs;
    } else {
      const sinceMs = nowMs - this.#lookedAtMs;
      this.#ownMs += work.isRunnable ? Math.min(sinceMs, work.cpuMs - this.#cpuMs) : sinceMs;
    }
    this.#lookedAtMs = nowMs;
    this.#cpuMs = work.cpuMs;
    return this.#ownMs;
  }
}
