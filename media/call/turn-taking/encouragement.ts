/**
 * A short word into a long pause, so that nobody listens to 2 s of nothing: in steps that give the caller more time
 * than that, a number to be looked up or a name to be spelled, and when the recogniser is late. It takes no turn: the
 * caller may go on as though it had not been said. Pure, on audio time; one object a call, asked by the conversation at
 * each tick.
 */

/** Of silence: the word is heard 0.2 s later. */
const AFTER_MS = 1_700;
/** With less than this left of the caller's time the answer itself comes soon enough. */
const LEAST_LEFT_MS = 1_100;
const WORDS: readonly string[] = ['Go on.', 'I am listening.'];
/** Of silence, where the caller has finished and the recogniser owes the words: they wait for an answer. */
const OWED_AFTER_MS = 1_400;

export interface Pause {
  sinceMs: number;
  /** When patience with the caller runs out; infinite once it has, and only the recogniser is waited for. */
  untilMs: number;
}

export class Encouragement {
  /** It is being said. */
  speaks = false;
  /** To a caller who has finished: the answer may wait for its end. */
  isOfWait = false;
  #said = 0;
  #overAtMs = Number.NEGATIVE_INFINITY;

  /** What to say now; null: nothing. `owed`: what the agent has for a caller who waits, empty: nothing. */
  wordFor({ sinceMs, untilMs }: Pause, nowMs: number, owed: () => string): string | null {
    const isOfWait = untilMs === Number.POSITIVE_INFINITY;
    const afterMs = isOfWait ? OWED_AFTER_MS : AFTER_MS;
    if (nowMs - Math.max(sinceMs, this.#overAtMs) < afterMs || untilMs - nowMs < LEAST_LEFT_MS) return null;
    const word = isOfWait ? owed() : WORDS[this.#said++ % WORDS.length]!;
    if (word === '') {
      this.#overAtMs = nowMs;
      return null;
    }
    this.speaks = true;
    this.isOfWait = isOfWait;
    return word;
  }

  over(nowMs: number): void {
    this.speaks = false;
    this.#overAtMs = nowMs;
  }
}
