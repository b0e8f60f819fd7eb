/**
 * One look at the database for all that comes due in it: whoever waits for rows joins with a question of its own, and
 * every four seconds one statement asks them all. So a service with nothing to do costs a quarter of a statement a
 * second, however many parts of it wait. What this process brings forth itself is nudged at once; the look is for what
 * others did, and for what a death left behind. Made by `src/control/ground.ts`; joined by `sweeper.ts`, by the
 * reaper's `sweep-times.ts`, and by `run-keeper.ts`.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { Queryable } from './database.ts';

export interface DueQuestion {
  /**
   * An SQL expression. `place` gives a value the name of a parameter; `NOW` is the process's time. Cheap: by an index.
   */
  sql(place: (value: unknown) => string): string;
  /** Its value, at each look. */
  found(value: unknown): void;
  /** The database is away: nobody knows. */
  failed(): void;
}

export interface DueLook {
  /** Returns what ends it. */
  join(question: DueQuestion): () => void;
  /** Idempotent; resolves when no look runs. */
  close(): Promise<void>;
}

/** What another process has left behind waits so long at the most to be seen. */
export const LOOK_EVERY_MS = 4_000;
/** In a question: the time of this process. */
export const NOW = '$1::timestamptz';

export function createDueLook(deps: { database: Queryable; clock: Pick<Clock, 'after' | 'epochMs'> }): DueLook {
  const { database, clock } = deps;
  const joined = new Set<DueQuestion>();
  let looking: Promise<void> | null = null;
  let isClosed = false;
  let cancel = clock.after(LOOK_EVERY_MS, look);

  function look(): void {
    looking = ask([...joined]).finally(() => {
      looking = null;
      if (!isClosed) cancel = clock.after(LOOK_EVERY_MS, look);
    });
  }

  async function ask(questions: readonly DueQuestion[]): Promise<void> {
    if (questions.length === 0) return;
    const values: unknown[] = [new Date(clock.epochMs())];
    const place = (value: unknown): string => `$${values.push(value)}`;
    const asked = questions.map((question, index) => `${question.sql(place)} AS a${index}`);
    let answers: Record<string, unknown> | null = null;
    try {
      [answers = null] = await database.query<Record<string, unknown>>(
        `SELECT ${NOW} AS at, ${asked.join(', ')}`,
        values,
      );
    } catch {
      // Each of them says so in its own words when it looks for itself.
    }
    for (const [index, question] of questions.entries()) {
      if (isClosed || !joined.has(question)) continue;
      if (answers === null) question.failed();
      else question.found(answers[`a${index}`]);
    }
  }

  return {
    join(question) {
      joined.add(question);
      return () => void joined.delete(question);
    },
    async close() {
      isClosed = true;
      cancel();
      await looking;
    },
  };
}
