/**
 * A database whose open questions are known, for those whose time is virtual: it goes on only once they are answered,
 * however long the machine takes.
 */
import type { Database } from '../../src/store/database.ts';

export class AskedDatabase {
  readonly #unanswered = new Set<Promise<unknown>>();

  /** What goes to `inner` by this is known. */
  over(inner: Database): Database {
    return {
      ...inner,
      query: (sql, parameters) => this.#noted(inner.query(sql, parameters)),
      transaction: (work) => this.#noted(inner.transaction(work)),
    };
  }

  /** Each answer is there, and those to what was asked upon it. */
  async answered(): Promise<void> {
    do {
      await Promise.allSettled(this.#unanswered);
      await new Promise((resolve) => setTimeout(resolve, 2));
    } while (this.#unanswered.size > 0);
  }

  #noted<Answer>(answer: Promise<Answer>): Promise<Answer> {
    this.#unanswered.add(answer);
    const forget = () => this.#unanswered.delete(answer);
    answer.then(forget, forget);
    return answer;
  }
}
