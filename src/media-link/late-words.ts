/**
 * What a followed call has told and the database has not taken in time: whoever follows the call is told of it all the
 * same, so that a slow database, or one that is away, delays what is stored and not what is seen. In the call's own
 * order: nothing goes before what comes with a change of the call. Asked by `inbox.ts`; what becomes of it is in
 * `live-batch.ts`.
 */
import type { Clock } from '../../media/contract/clock.ts';

export interface Entry<Message> {
  number: number;
  message: Message;
  done: boolean;
  /** Followers were told of it before it was stored. */
  isTold?: true;
}

/** Of one call, in its order: what is not handled yet. */
export interface Lane<Message> {
  callUuid: string;
  entries: Entry<Message>[];
}

/** Twice what a batch waits: a database that answers has taken it by then. With the way to a client within 300 ms. */
export const LATE_AFTER_MS = 200;

/** Some time from now, where `entry` is not handled by then. `lane`: where it stands. */
export function tellIfLate<Message, Batchable extends Message>(
  lane: () => Lane<Message> | undefined,
  entry: Entry<Message>,
  told: {
    clock: Pick<Clock, 'after'>;
    isBatchable(message: Message): message is Batchable;
    late(message: Batchable): void;
  },
): void {
  told.clock.after(LATE_AFTER_MS, () => {
    const entries = entry.done ? [] : (lane()?.entries ?? []);
    for (const one of entries.slice(0, entries.indexOf(entry) + 1)) {
      if (one.done || one.isTold === true) continue;
      // It changes the call, and is shown once that has happened: so is what came after it.
      if (!told.isBatchable(one.message)) return tellIfLate(lane, entry, told);
      told.late(one.message);
      one.isTold = true;
    }
  });
}
