/**
 * Looks for what is due every few seconds and whenever somebody nudges, one look at a time; a look that is asked for
 * meanwhile follows. A database that is away is said once. Used by the uploader and the joiner.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';

export interface Sweeper {
  start(): void;
  /** Something may be due: look now. */
  nudge(): void;
  /** Resolves when what is in hand is done. */
  close(): Promise<void>;
}

const SWEEP_EVERY_MS = 5_000;

/** `sweep` rejects when the database is away. */
export function createSweeper(deps: {
  clock: Clock;
  log: Logger;
  sweep: () => Promise<unknown>;
  /** Said when the database is away. */
  what: string;
}): Sweeper {
  const { clock, log } = deps;
  let running: Promise<unknown> | null = null;
  let again = false;
  let cancel = (): void => {};
  let started = false;
  let closed = false;
  let wasAway = false;

  function look(): void {
    if (closed) return;
    if (running !== null) {
      again = true;
      return;
    }
    cancel();
    running = deps
      .sweep()
      .then(
        () => {
          wasAway = false;
        },
        (error: unknown) => {
          if (!wasAway) log.warn({ err: error }, `${deps.what} wait for the database`);
          wasAway = true;
        },
      )
      .finally(() => {
        running = null;
        if (closed) return;
        const soon = again && !wasAway;
        again = false;
        if (soon) look();
        else if (started) cancel = clock.after(SWEEP_EVERY_MS, look);
      });
  }

  return {
    nudge() {
      if (started) look();
    },
    start() {
      started = true;
      look();
    },
    async close() {
      closed = true;
      cancel();
      await running;
    },
  };
}
