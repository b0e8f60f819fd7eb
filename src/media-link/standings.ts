/**
 * Calls as they were when they were last read or written, so that showing partial words needs no look at the database.
 * Used by `live-batch.ts`.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { Standing } from '../calls/write-talk.ts';

const MOST_REMEMBERED = 10_000;
/** Another node's process may have the call by then. */
const REMEMBERED_MS = 4_000;

export class Standings {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #byCall = new Map<string, Standing & { untilMs: number }>();

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  /** The last that was known, however old. */
  get(callUuid: string): Standing | undefined {
    return this.#byCall.get(callUuid);
  }

  /** It is so fresh that it may be gone by. */
  isFresh(callUuid: string): boolean {
    return (this.#byCall.get(callUuid)?.untilMs ?? 0) > this.#clock.nowMs();
  }

  remember(standings: Iterable<Standing>): void {
    const untilMs = this.#clock.nowMs() + REMEMBERED_MS;
    for (const { callUuid, epoch, orphanedAt, transcriptStatus } of standings) {
      this.#byCall.delete(callUuid);
      this.#byCall.set(callUuid, { callUuid, epoch, orphanedAt, transcriptStatus, untilMs });
    }
    for (const callUuid of this.#byCall.keys()) {
      if (this.#byCall.size <= MOST_REMEMBERED) break;
      this.#byCall.delete(callUuid);
    }
  }
}
