/**
 * What a followed call has told and the database has not taken in time: whoever follows the call is told of it all the
 * same, so that a slow database, or one that is away, delays what is stored and not what is seen. In the call's own
 * order: nothing goes before what comes with a change of the call, and who began to follow later is told from the
 * beginning of what waits (who has heard it ignores it: `src/api/calls/early-events.ts`). Used by `inbox.ts`; what
 * becomes of it is in `live-batch.ts`.
 */
import type { Clock } from '../../media/contract/clock.ts';

export interface Entry<Message> {
  number: number;
  message: Message;
  done: boolean;
  /** Of `clock.nowMs`. */
  heardAtMs: number;
  /** Followers were told of it before it was stored. */
  isTold?: true;
}

/** Of one call, in its order: what is not handled yet. */
export interface Lane<Message> {
  callUuid: string;
  entries: Entry<Message>[];
  /** The last follower when followers were told of what waits. */
  toldTo?: number;
  /** A look at what waits is due. */
  isWatched?: boolean;
}

export interface LateWordsOptions<Message, Batchable extends Message> {
  clock: Clock;
  isBatchable(message: Message): message is Batchable;
  /** Rises with each who begins to follow the call; 0: nobody does. */
  lastFollower(callUuid: string): number;
  tell(message: Batchable): void;
}

/** Twice what a batch waits: a database that answers has taken it by then. With the way to a client within 300 ms. */
export const LATE_AFTER_MS = 200;

export class LateWords<Message, Batchable extends Message> {
  readonly #options: LateWordsOptions<Message, Batchable>;
  #closed = false;

  constructor(options: LateWordsOptions<Message, Batchable>) {
    this.#options = options;
  }

  /** Something came for the call. One look a call is due at a time, and none once nobody follows it. */
  watch(lane: Lane<Message>, afterMs = LATE_AFTER_MS): void {
    if (lane.isWatched === true || this.#closed || this.#options.lastFollower(lane.callUuid) === 0) return;
    lane.isWatched = true;
    this.#options.clock.after(afterMs, () => {
      lane.isWatched = false;
      const againAfterMs = this.#tell(lane);
      if (againAfterMs !== null) this.watch(lane, againAfterMs);
    });
  }

  close(): void {
    this.#closed = true;
  }

  /** What is late of the call. Returns when the next look is due; null: nothing waits. */
  #tell(lane: Lane<Message>): number | null {
    const { clock, isBatchable, lastFollower, tell } = this.#options;
    const follower = lastFollower(lane.callUuid);
    if (this.#closed || follower === 0) return null;
    const isAnew = follower > (lane.toldTo ?? 0);
    lane.toldTo = follower;
    for (const entry of lane.entries) {
      if (entry.done || (entry.isTold === true && !isAnew)) continue;
      // It changes the call, and is shown once that has happened: so is what came after it.
      if (!isBatchable(entry.message)) return LATE_AFTER_MS;
      const inMs = entry.heardAtMs + LATE_AFTER_MS - clock.nowMs();
      if (entry.isTold !== true && inMs > 0) return inMs;
      tell(entry.message);
      entry.isTold = true;
    }
    return null;
  }
}
