/**
 * Looks again and again for what is due in the database: every so often, or when the look that all share has found
 * something (`due-look.ts`), and whenever somebody nudges. One look at a time; a look that is asked for meanwhile
 * follows. A sweep alone does all the work, however late; nudges make it fast. Whoever makes one closes it before the
 * database. Used by what runs beside the API: webhooks, analyses, recordings, imports, purges, the audit chain.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { type DueLook, type DueQuestion, LOOK_EVERY_MS } from './due-look.ts';

export interface SweeperOptions {
  clock: Pick<Clock, 'after' | 'nowMs'>;
  /** From the end of one look to the start of the next; default 5 s. */
  everyMs?: number;
  /**
   * Asked for it instead of looking each time: a boolean expression, true where there may be something. `also`: true
   * where it is owed here, whatever the rows say. What stays due is looked at again each `everyMs`.
   */
  due?: { look: Pick<DueLook, 'join'>; sql: DueQuestion['sql']; also?(): boolean };
  /** One look. Rejects when it failed: what is due stays due, and the next look takes it. */
  sweep(): Promise<unknown>;
  /** The first look that failed, and those of an outage that lasts once an hour: whoever reads a log needs no more. */
  failed(error: unknown): void;
  /** A look went well after `failed`. */
  back?(): void;
}

export interface Sweeper {
  /** From now on it looks; the first time after so many ms, at once by default. */
  start(firstAfterMs?: number): void;
  /** Something may be due: look now, or once more after the look under way. Does nothing before `start`. */
  nudge(): void;
  /** Resolves when no look runs and none is asked for. */
  idle(): Promise<void>;
  /** No more looks; resolves when the one under way is over. Idempotent. */
  close(): Promise<void>;
}

/** What no nudge told waits so long at the most. */
export const SWEEP_EVERY_MS = 5_000;
const SAY_AGAIN_MS = 3_600_000;

export function createSweeper(options: SweeperOptions): Sweeper {
  const { clock, everyMs = SWEEP_EVERY_MS, due } = options;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let leave = (): void => {};
  let running: Promise<void> | null = null;
  let again = false;
  let cancel = (): void => {};
  let started = false;
  let closed = false;
  /** Null: the last look went well. */
  let saidAtMs: number | null = null;

  async function lookOnce(): Promise<void> {
    try {
      await options.sweep();
      if (saidAtMs !== null) options.back?.();
      saidAtMs = null;
    } catch (error) {
      // Nothing is gained by looking again at once.
      again = false;
      if (saidAtMs !== null && clock.nowMs() - saidAtMs < SAY_AGAIN_MS) return;
      saidAtMs = clock.nowMs();
      options.failed(error);
    }
  }

  async function lookUntilNoneAsks(): Promise<void> {
    do {
      again = false;
      await lookOnce();
    } while (again && !closed);
    running = null;
    lookedAtMs = clock.nowMs();
    if (!closed && due === undefined) cancel = clock.after(everyMs, look);
  }

  /** The shared look comes so often: the next one would be too late. */
  function mayBeDue(): void {
    if (clock.nowMs() - lookedAtMs >= everyMs - LOOK_EVERY_MS) look();
  }

  const question = due && {
    sql: due.sql,
    found: (value: unknown) => void ((value === true || due.also?.() === true) && mayBeDue()),
    failed: mayBeDue,
  };

  function look(): void {
    if (!started || closed) return;
    again = true;
    if (running !== null) return;
    cancel();
    running = lookUntilNoneAsks();
  }

  return {
    start(firstAfterMs = 0) {
      started = true;
      if (question !== undefined) leave = due!.look.join(question);
      if (firstAfterMs === 0) look();
      else cancel = clock.after(firstAfterMs, look);
    },
    nudge: look,
    async idle() {
      await running;
    },
    async close() {
      closed = true;
      cancel();
      leave();
      await running;
    },
  };
}
