/**
 * The caller speaks while the agent does: was that meant to stop it? Pause first, decide by words. Pure, on audio time;
 * one object a call, begun anew for each turn of the caller that falls into the agent's speech. The call session
 * carries the verdicts out.
 *
 *   250 ms of speech ──► pause (what is queued is dropped, the place is kept)
 *   words that answer or interrupt, unchanged for 120 ms; or 1.2 s of speech that is no assent ──► commit: the agent is
 *   cut at what was heard
 *   an ear that knows all words: one word alone has to stand for 700 ms (a result that
 *   is more than a guess mostly comes sooner, and ends the turn); and sound in which it hears none but assent is
 *   no interruption, however long: after 1.8 s of it ──► go on, and only words stop the agent from there
 *   the turn ends (200 ms after understood words, else 1.2 s of silence) ──► commit or go on, by the final result
 */
import type { WordSense } from '../../contract/agent.ts';

export type BargeInVerdict = 'none' | 'pause' | 'commit' | 'go_on';
export type BargeInOutcome = 'commit' | 'backchannel' | 'resume';

const PAUSE_AFTER_MS = 250;
const STABLE_WORDS_MS = 120;
/**
 * A first guess at a noise, or at the beginning of a longer word, is mostly one (“aber” of “alright”). The agent is
 * silent by then, so that nobody hears the wait.
 */
const STABLE_WORD_MS = 700;
const LONG_SPEECH_MS = 1_200;
const LONG_ASSENT_MS = 2_400;
/** A recogniser that hears everything has told its first words long before. */
const WORDLESS_MS = 1_800;

export class BargeIn {
  /** A caller's turn is being weighed. */
  active = false;
  paused = false;
  committed = false;
  /**
   * The agent had made no sound when the caller began: more of the last turn, most likely, which only clear words may
   * make a new one.
   */
  early = false;
  /** The ear knows all words: sound in which it hears none is no speech. */
  readonly #wordsDecide: boolean;
  #isOneWord = false;
  /** For want of words the agent went on: a result that is none does not stop it in the end. */
  hasGoneOn = false;
  #sense: WordSense = 'nothing';
  #senseSinceMs = 0;

  constructor(wordsDecide = false) {
    this.#wordsDecide = wordsDecide;
  }

  begin(early: boolean): void {
    this.active = true;
    this.early = early;
    this.paused = false;
    this.committed = false;
    this.hasGoneOn = false;
    this.#sense = 'nothing';
  }

  end(): void {
    this.active = false;
  }

  wordsChanged(sense: WordSense, nowMs: number, isOneWord = false): void {
    this.#isOneWord = isOneWord;
    this.#sense = sense;
    this.#senseSinceMs = nowMs;
  }

  /** After each frame: `nowMs` is its end, `spokenMs` the turn's length so far from first to last sound. */
  judge(nowMs: number, spokenMs: number): BargeInVerdict {
    if (!this.active || this.committed) return 'none';
    const meant = this.#sense === 'answer' || this.#sense === 'interrupt' || this.#sense === 'hold';
    const isWordless = this.#wordsDecide && (this.#sense === 'nothing' || this.#sense === 'acknowledge');
    const longMs = this.#sense === 'acknowledge' ? LONG_ASSENT_MS : LONG_SPEECH_MS;
    const mayBeLong = !this.early && !isWordless && !(this.#wordsDecide && meant);
    const isLong = mayBeLong && spokenMs >= longMs;
    const stableMs = this.#wordsDecide && this.#isOneWord ? STABLE_WORD_MS : STABLE_WORDS_MS;
    if (isLong || (meant && nowMs - this.#senseSinceMs >= stableMs)) {
      this.committed = true;
      return 'commit';
    }
    if (this.paused && !this.hasGoneOn && isWordless && spokenMs >= WORDLESS_MS) {
      this.hasGoneOn = true;
      return 'go_on';
    }
    if (!this.paused && spokenMs >= PAUSE_AFTER_MS) {
      this.paused = true;
      return 'pause';
    }
    return 'none';
  }
}

/**
 * The turn is over: what the final result makes of it. `spokenMs` is its length from first to
 * last sound; `early` as above.
 */
export function bargeInOutcome(sense: WordSense, spokenMs: number, early: boolean): BargeInOutcome {
  switch (sense) {
    case 'acknowledge':
      return 'backchannel';
    case 'nothing':
      return 'resume';
    case 'rejected':
    case 'other':
      return spokenMs >= LONG_SPEECH_MS && !early ? 'commit' : 'resume';
    default:
      return 'commit';
  }
}
