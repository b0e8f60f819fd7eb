/** Signals that stop a run: the first in order, a later one at once. */

/** Ctrl-C comes twice below npm: from the terminal, and passed on. */
const SAME_SIGNAL_MS = 300;

export interface InterruptsOptions {
  nowMs(): number;
  stop(): void;
  stopAtOnce(): void;
}

/** Call it at each signal. Those within 300 ms of the one that counted are that one again. */
export function createInterrupts({ nowMs, stop, stopAtOnce }: InterruptsOptions): () => void {
  let countedAtMs: number | null = null;
  return () => {
    const atMs = nowMs();
    if (countedAtMs !== null && atMs - countedAtMs < SAME_SIGNAL_MS) return;
    const isFirst = countedAtMs === null;
    countedAtMs = atMs;
    if (isFirst) stop();
    else stopAtOnce();
  };
}
