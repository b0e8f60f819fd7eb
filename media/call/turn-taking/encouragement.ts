/**
 * A short word into a long pause, so that nobody listens to 2 s of nothing: in steps that give the caller more time
 * than that, a number to be looked up or a name to be spelled, and when the recogniser is late. It takes no turn: the
 * caller may go on as though it had not been said. Pure, on audio time; one object a call,
 * asked by the conversation at each tick.
 */

/** Of silence: the word is heard 0.2 s later. */
const AFTER_MS = 1_700;
/** With less than this left of the caller's time the answer itself comes soon enough. */
const LEAST_LEFT_MS = 1_100;
const WORDS: readonly string[] = ['Go on.', 'I am listening.'];
/** The caller may have finished. */
const WHILE_THINKING = 'One moment.';

export interface Pause {
  sinceMs: number;
  /** When patience with the caller runs out; infinite once it has, and only the recogniser is waited for. */
  untilMs: number;
}

export class Encouragement {
  /** It is being said. */
  speaks = false;
  #said = 0;
  #overAtMs = Number.NEGATIVE_INFINITY;

  /** What to say now; null: nothing. */
  wordFor({ sinceMs, untilMs }: Pause, nowMs: number): string | null {
    if (nowMs - Math.max(sinceMs, this.#overAtMs) < AFTER_MS || untilMs - nowMs < LEAST_LEFT_MS) return null;
    this.speaks = true;
    if (untilMs === Number.POSITIVE_INFINITY) return WHILE_THINKING;
    return WORDS[this.#said++ % WORDS.length]!;
  }

  over(nowMs: number): void {
    this.speaks = false;
    this.#overAtMs = nowMs;
  }
}
