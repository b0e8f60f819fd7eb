/**
 * An answer that is thought of in a pause of the caller, in case it was the end of their turn: of which words it is,
 * and whether the turn's own words are the same. Only counts and compares; the thinking holds the answer back.
 */

/** In one turn of the caller: a model is paid for each. */
const MOST_A_TURN = 3;
/** Said by people who think. */
const HESITATION = /^(u+h+m*|u+m+|e+r+m*|h+m+|äh+m*|euh+|este)$/;

export class Speculation {
  /** How often in this call. */
  begun = 0;
  used = 0;
  #key: string | null = null;
  #version = -1;
  #inTurn = 0;

  /** False: not worth it. `version`: of the history. */
  begin(text: string, version: number): boolean {
    const key = keyOf(text);
    if (key === '' || this.#inTurn >= MOST_A_TURN) return false;
    this.#inTurn++;
    this.begun++;
    this.#key = key;
    this.#version = version;
    return true;
  }

  get isOpen(): boolean {
    return this.#key !== null;
  }

  drop(): void {
    this.#key = null;
  }

  /** The turn is over: true when what was thought of is the answer to its words. */
  take(text: string, version: number): boolean {
    const isSame = this.#key !== null && this.#key === keyOf(text) && this.#version === version;
    if (isSame) this.used++;
    this.#key = null;
    this.#inTurn = 0;
    return isSame;
  }
}

/** Case, punctuation and hesitation make no other words. */
function keyOf(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
  return words.filter((word) => !HESITATION.test(word)).join(' ');
}
