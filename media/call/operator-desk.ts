/**
 * What an operator has asked of the agent beside its own conversation: texts to be said, and silence. It only
 * remembers; `operator.ts` says the texts when nobody else speaks.
 */

/** Texts that wait to be said. */
const MOST_TEXTS = 5;

export class OperatorDesk {
  /** The agent is to say nothing. */
  muted = false;
  readonly #texts: string[] = [];

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
}
