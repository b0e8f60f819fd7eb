/**
 * What the agent is owed: which of its own utterances were over while others spoke in its place, and where one broke
 * off. It is told with the next cut, or when the others have finished. Written by the conversation and the floor, which
 * see utterances end; read by the operator's half (`operator.ts`).
 */
import type { BrokenOff } from '../contract/agent.ts';

/** What the agent is told of its utterances that were over before a cut. */
export interface SaidBefore {
  saidBefore: number;
  brokeOff: readonly BrokenOff[];
}

export class OwedWords {
  /** What is being said is none of the agent's own words. */
  areOthers = false;
  /** So many of the agent's own utterances are over, and it was not told. */
  #said = 0;
  #brokeOff: BrokenOff[] = [];

  /** An utterance was said to its end, or broke off behind `heardText`. */
  said(heardText: string | null): void {
    if (!this.areOthers) {
      if (heardText !== null) this.#brokeOff.push({ index: this.#said, heardText });
      this.#said++;
    }
    this.areOthers = false;
  }

  /** The agent was cut, and is told so: how many of its utterances were over before. */
  cut(): SaidBefore {
    this.areOthers = false;
    return this.#take();
  }

  /**
   * What the agent hears when all others have finished: that its own words were said, or that the caller may take their
   * time anew.
   */
  takeAfterOthers(): { type: 'said'; brokeOff: readonly BrokenOff[] } | { type: 'wait' } {
    const { saidBefore, brokeOff } = this.#take();
    return saidBefore > 0 ? { type: 'said', brokeOff } : { type: 'wait' };
  }

  #take(): SaidBefore {
    const taken = { saidBefore: this.#said, brokeOff: this.#brokeOff };
    this.#said = 0;
    this.#brokeOff = [];
    return taken;
  }
}
