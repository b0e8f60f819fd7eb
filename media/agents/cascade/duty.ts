/**
 * The one guard of the agent's duty to speak. At each tick it is told what the agent is about, and says what is due: a
 * word into a silence that has become too long, or the end of what can not come any more. Every state in which the
 * caller is owed words has a deadline here or in what it waits for. Pure, in ms of stream.
 *
 *   owed and silent ──afterMs──► filler ──1.3 s of silence──► filler …        words without a thinker ──► closed
 *
 * The first comes after 1.4 s of silence in any case, whatever an agent or its tool is set to. Before the caller's
 * words are known the call itself says it, with a line of the agent's (`wordForWait`), at the same time.
 */

const NEXT_FILLER_AFTER_MS = 1_300;
/** The caller makes some sound, and no words: longer than this nobody waits for it. */
const LONGEST_WAIT_FOR_CALLER_MS = 3_000;
/** From the end of the caller's sound, as it is told, until their turn is over and its words are known, as a rule. */
const TURN_TAKES_MS = 600;
const LONGEST_TURN_TAKES_MS = 2_500;
/** Of silence that the caller hears before a word that they are owed; its sound is heard some 0.1 s later. */
const LONGEST_SILENCE_MS = 1_400;
/** The end of the caller's sound is told so much later. */
const TOLD_AFTER_MS = 200;
/** After a sound of the caller that may become words. */
const AFTER_CALLER_MS = 400;

export interface Doing {
  /** A model is at work on an answer, or tools are, or words wait that were not begun. */
  isOwing: boolean;
  /** Something is being said, or is about to be. */
  isSpeaking: boolean;
  /** Of silence, before the first filler. */
  fillerAfterMs: number;
}

export class Duty {
  /** End of the agent's own last sound. */
  agentEndMs = Number.NEGATIVE_INFINITY;
  /** The caller makes a sound, since this time; NaN: not. */
  callerSinceMs = Number.NaN;
  callerEndMs = Number.NEGATIVE_INFINITY;
  /** Since when words have been owed; NaN: none are. */
  #owedSinceMs = Number.NaN;
  #fillers = 0;

  /** What was owed until now is not owed any more; what is from now on counts anew. */
  anew(): void {
    this.#owedSinceMs = Number.NaN;
    this.#fillers = 0;
  }

  caller(speaking: boolean, atMs: number): void {
    this.callerSinceMs = speaking ? atMs : Number.NaN;
    if (!speaking) this.callerEndMs = atMs;
  }

  /** How long words have been owed; 0: none are. */
  owedForMs(atMs: number): number {
    return Number.isNaN(this.#owedSinceMs) ? 0 : atMs - this.#owedSinceMs;
  }

  get callerSpeaks(): boolean {
    return !Number.isNaN(this.callerSinceMs);
  }

  /** The agent may begin to speak: nobody else does, or makes a noise only. */
  mayBegin(atMs: number): boolean {
    if (this.callerSpeaks) return atMs - this.callerSinceMs >= LONGEST_WAIT_FOR_CALLER_MS;
    const isSinceOwed = this.callerEndMs > this.#owedSinceMs;
    return !isSinceOwed || atMs - this.callerEndMs >= AFTER_CALLER_MS;
  }

  /** True: a filler is due. */
  tick({ isOwing, isSpeaking, fillerAfterMs }: Doing, atMs: number): boolean {
    if (!isOwing) {
      this.anew();
      return false;
    }
    if (Number.isNaN(this.#owedSinceMs)) this.#owedSinceMs = atMs;
    if (isSpeaking || !this.mayBegin(atMs)) return false;
    const dueMs =
      this.#fillers === 0
        ? this.#firstDueMs(fillerAfterMs)
        : Math.max(this.agentEndMs, this.callerEndMs) + NEXT_FILLER_AFTER_MS;
    if (atMs < dueMs) return false;
    this.#fillers++;
    return true;
  }

  /** So long after words are owed; sooner where it took long until it was known what the caller had said. */
  #firstDueMs(fillerAfterMs: number): number {
    const sinceMs = Math.max(this.#owedSinceMs, this.agentEndMs);
    const waitedMs = sinceMs - this.callerEndMs;
    // Longer ago, it is not that sound which is answered.
    const isAnswer = this.callerEndMs > this.agentEndMs && waitedMs <= LONGEST_TURN_TAKES_MS;
    const lateMs = isAnswer ? Math.max(0, waitedMs - TURN_TAKES_MS) : 0;
    const latestMs = isAnswer ? this.callerEndMs - TOLD_AFTER_MS : sinceMs;
    return Math.max(sinceMs, Math.min(sinceMs + fillerAfterMs - lateMs, latestMs + LONGEST_SILENCE_MS));
  }
}
