/**
 * What an operator has asked of the agent beside its own conversation: texts to be said, and silence. It only
 * remembers; `operator.ts` says the texts when nobody else speaks, and asks here what the agent is owed after them.
 */

/** Texts that wait to be said. */
const MOST_TEXTS = 5;

export class OperatorDesk {
  /** The agent is to say nothing. */
  muted = false;
  /** What is being said is none of the agent's own words. */
  speaks = false;
  readonly #texts: string[] = [];
  /** So many of the agent's own utterances were heard to their end, and it was not told. */
  #saidOwed = 0;

  get hasTexts(): boolean {
    return this.#texts.length > 0;
  }

  /** False: too many wait. */
  queue(text: string): boolean {
    if (this.#texts.length >= MOST_TEXTS) return false;
    this.#texts.push(text);
    return true;
  }

  nextText(): string | null {
    return this.#texts.shift() ?? null;
  }

  /** An utterance was said to its end. */
  wordsSaid(): void {
    if (!this.speaks) this.#saidOwed++;
    this.speaks = false;
  }

  /** The agent was cut, and is told so: how many of its utterances were heard to their end before. */
  wordsCut(): number {
    const saidBefore = this.#saidOwed;
    this.speaks = false;
    this.#saidOwed = 0;
    return saidBefore;
  }

  /**
   * What the agent hears when all texts are said: that its own words were, or that the caller may take their time anew.
   */
  takeOwed(): 'said' | 'wait' {
    const type = this.#saidOwed > 0 ? 'said' : 'wait';
    this.#saidOwed = 0;
    return type;
  }
}
