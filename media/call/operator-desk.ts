/**
 * What an operator has asked of the agent beside its own conversation: texts to be said, and silence. It only
 * remembers; `operator.ts` says the texts when nobody else speaks, and asks here what the agent is owed after them:
 * which of its own utterances were over meanwhile, and where one broke off.
 */
import type { BrokenOff } from '../contract/agent.ts';

/** What the agent is told of its utterances that were over before a cut. */
export interface SaidBefore {
  saidBefore: number;
  brokeOff: readonly BrokenOff[];
}

/** Texts that wait to be said. */
const MOST_TEXTS = 5;

export class OperatorDesk {
  /** The agent is to say nothing. */
  muted = false;
  /** What is being said is none of the agent's own words. */
  speaks = false;
  readonly #texts: string[] = [];
  /** So many of the agent's own utterances are over, and it was not told. */
  #saidOwed = 0;
  #brokeOff: BrokenOff[] = [];

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

  /** An utterance was said to its end, or broke off behind `heardText`. */
  wordsSaid(heardText: string | null): void {
    if (!this.speaks) {
      if (heardText !== null) this.#brokeOff.push({ index: this.#saidOwed, heardText });
      this.#saidOwed++;
    }
    this.speaks = false;
  }

  /** The agent was cut, and is told so: how many of its utterances were over before. */
  wordsCut(): SaidBefore {
    this.speaks = false;
    return this.#take();
  }

  /**
   * What the agent hears when all texts are said: that its own words were, or that the caller may take their time anew.
   */
  takeOwed(): { type: 'said'; brokeOff: readonly BrokenOff[] } | { type: 'wait' } {
    const { saidBefore, brokeOff } = this.#take();
    return saidBefore > 0 ? { type: 'said', brokeOff } : { type: 'wait' };
  }

  #take(): SaidBefore {
    const taken = { saidBefore: this.#saidOwed, brokeOff: this.#brokeOff };
    this.#saidOwed = 0;
    this.#brokeOff = [];
    return taken;
  }
}
