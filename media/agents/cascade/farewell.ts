/**
 * The end of a call that the agent wants: after its last words were heard, and never into the caller's. What the model
 * wants is called off when the caller has more to say; what must be (no model answers, too dear) is not. Pure.
 */
import type { EndedReason } from '../../contract/call-outcome.ts';

export interface Ending {
  reason: EndedReason;
  disposition: string | null;
  error: string | null;
  /** The caller may call it off. */
  isOptional: boolean;
}

/** Between the last words and the end: a caller who answers them is heard. */
const GRACE_MS = 500;
/** Of a caller who has just made a sound: it may become words. */
const AFTER_CALLER_MS = 1_500;
/** A caller, or a noise, that does not end. */
const LONGEST_CALLER_MS = 10_000;
/** Cut off, and nothing follows: the last word is said again, and then it is the end. */
const AFTER_CUT_MS = 3_000;

export class Farewell {
  ending: Ending | null = null;
  #saidAtMs = Number.NaN;
  #cutAtMs = Number.NaN;

  begin(ending: Ending): void {
    this.ending = ending;
    this.#saidAtMs = Number.NaN;
    this.#cutAtMs = Number.NaN;
  }

  callOff(): void {
    this.ending = null;
  }

  said(atMs: number): void {
    this.#saidAtMs = atMs;
    this.#cutAtMs = Number.NaN;
  }

  cut(atMs: number): void {
    this.#cutAtMs = atMs;
  }

  get wasCut(): boolean {
    return !Number.isNaN(this.#cutAtMs);
  }

  /** While nothing of the agent's is being said. `callerSinceMs` is NaN while the caller is silent. */
  due(atMs: number, caller: { callerSinceMs: number; callerEndMs: number }): 'end' | 'say_again' | 'wait' {
    if (!Number.isNaN(caller.callerSinceMs)) return atMs - caller.callerSinceMs >= LONGEST_CALLER_MS ? 'end' : 'wait';
    if (this.wasCut) return atMs - Math.max(this.#cutAtMs, caller.callerEndMs) >= AFTER_CUT_MS ? 'say_again' : 'wait';
    if (Number.isNaN(this.#saidAtMs)) return 'say_again';
    const sinceCaller = caller.callerEndMs > this.#saidAtMs ? AFTER_CALLER_MS : GRACE_MS;
    return atMs - Math.max(this.#saidAtMs, caller.callerEndMs) >= sinceCaller ? 'end' : 'wait';
  }
}
