/**
 * The resume tokens of one claim of a session, one after the other: each `session.ready` brings the next, and those
 * before it are spent as soon as the client is known to have it. What a token looks like is `resume-token.ts`;
 * `web-leg.ts` owns the series.
 */
import { isResumeTokenOf, type ResumeFacts, resumeTokenOf } from './resume-token.ts';

export class ResumeSeries {
  /** The client has this one, or a later one: what was sent last may have been lost on the way. */
  provenNumber = 1;
  readonly #facts: Omit<ResumeFacts, 'number'>;
  #lastNumber = 0;

  constructor(facts: Omit<ResumeFacts, 'number'>) {
    this.#facts = facts;
  }

  next(): string {
    return resumeTokenOf({ ...this.#facts, number: ++this.#lastNumber });
  }

  /** The client has spoken since the last was sent, so it has it. */
  lastHasArrived(): void {
    this.provenNumber = this.#lastNumber;
  }

  /** Is it one that is not spent? Then all before it are. */
  accepts(token: string): boolean {
    for (let number = this.provenNumber; number <= this.#lastNumber; number++) {
      if (!isResumeTokenOf(token, { ...this.#facts, number })) continue;
      this.provenNumber = number;
      return true;
    }
    return false;
  }
}
