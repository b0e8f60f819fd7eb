/**
 * Waits until what media has said of a call's lost stream is written, so that who takes the next one goes on after it:
 * here, or at the node that carried it. One wait a call, however many ask at once. Used by the carrier routes, and for
 * other nodes that ask.
 */
import { type Clock, pause } from '../../media/contract/clock.ts';
import { readOwnCall } from '../calls/call-row.ts';
import type { Queryable } from '../store/database.ts';

/** The last turn of a lost stream gets so long to be written. */
const LAST_WORD_LIMIT_MS = 2_000;
const LAST_WORD_POLL_MS = 50;

/** Resolves after that at the latest. Rejects when the database is away. */
export type LastWord = (callUuid: string) => Promise<void>;

export function createLastWord(deps: {
  database: Queryable;
  clock: Pick<Clock, 'nowMs' | 'after'>;
  /** A process here may still have something to say of it: it carries it, or what it said is not written yet. */
  mayStillSpeak(callUuid: string): boolean;
}): LastWord {
  const { database, clock } = deps;
  const waits = new Map<string, Promise<void>>();

  async function wait(callUuid: string): Promise<void> {
    const untilMs = clock.nowMs() + LAST_WORD_LIMIT_MS;
    while (deps.mayStillSpeak(callUuid) && clock.nowMs() < untilMs) {
      const call = await readOwnCall(database, callUuid);
      if (call === undefined || call.mediaStoppedAt !== null || call.ending !== null) return;
      await pause(clock, LAST_WORD_POLL_MS);
    }
  }

  return (callUuid) => {
    const waited = waits.get(callUuid) ?? wait(callUuid).finally(() => waits.delete(callUuid));
    waits.set(callUuid, waited);
    return waited;
  };
}
