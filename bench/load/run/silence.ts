/**
 * Whether the target has stopped answering, told from what became of calls: a run against nobody is ended, not counted
 * to its end. Used by `run-workload.ts`.
 */
import type { MeasuredCall } from '../contract/measured-call.ts';

/** So many calls in a row that found nobody, the first and the last so long apart. */
const CALLS = 6;
const LONGEST_MS = 20_000;
/** A target that is started again under load is away for a while by intent. */
const LONGEST_RESTART_MS = 120_000;
/** Codes of the system, of the HTTP client and of a proxy: nobody was there, or nobody answered in time. */
const NOBODY = /^(E[A-Z_]+|UND_ERR_\w+|proxy_50[24]|tool)$/;

export class Silence {
  readonly #longestMs: number;
  #calls = 0;
  #sinceMs = 0;

  constructor(isRestarted: boolean) {
    this.#longestMs = isRestarted ? LONGEST_RESTART_MS : LONGEST_MS;
  }

  /** Each call that is over, at `nowMs` of the run; true: it has stopped. */
  measured({ fate, code, begunAtMs }: MeasuredCall, nowMs: number): boolean {
    if (fate === 'failed' && NOBODY.test(code ?? '')) {
      if (this.#calls++ === 0) this.#sinceMs = begunAtMs;
    } else if (begunAtMs >= this.#sinceMs) this.#calls = 0;
    // Calls of before, which end as planned at far ends that hear nothing any more, say nothing of it.
    return this.#calls >= CALLS && nowMs - this.#sinceMs >= this.#longestMs;
  }
}
