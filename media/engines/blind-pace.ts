/**
 * How far a voice is in its text that does not tell which words it speaks: by the length of its sound and the pace at
 * which it spoke before. Where it broke off, `standby-voice.ts` has the rest said from there. Pure.
 */

/** Of a voice that has not been heard to an end yet. */
const MS_A_CHARACTER = 65;
/** What is softer is not speech yet. */
const AUDIBLE = 200;

/** Sound so far, from its first audible sample on. */
export class BlindSound {
  voicedMs = 0;

  add(samples: Int16Array, rateHz: number): void {
    let at = 0;
    if (this.voicedMs === 0) while (at < samples.length && Math.abs(samples[at]!) < AUDIBLE) at++;
    this.voicedMs += ((samples.length - at) / rateHz) * 1_000;
  }
}

/** Of one voice. */
export class BlindPace {
  #msACharacter = MS_A_CHARACTER;

  /** So many characters took so long, to the end. */
  learn(chars: number, voicedMs: number): void {
    if (voicedMs > 0 && chars > 0) this.#msACharacter = (this.#msACharacter + voicedMs / chars) / 2;
  }

  /** Characters of `text` that were said whole: the word in which the sound ends is not among them. */
  charsIn(text: string, voicedMs: number): number {
    const reached = Math.floor(voicedMs / this.#msACharacter);
    if (reached >= text.length) return text.search(/\S+\s*$/);
    return text.lastIndexOf(' ', reached) + 1;
  }
}
