/**
 * Says which deliveries are due, to whatever process of the cluster listens. The rows are the truth and the sweep finds
 * what a lost notice would have said, so a queue that is away stops nothing: it is opened again
 * later. Made by `start.ts`.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { ServerSessions } from '../store/server-sessions.ts';
import { createDueNoticeCollector } from './due-notice-collector.ts';
import { type DueNotice, type OpenQueue, openWebhookQueue } from './queue.ts';

export interface DueQueueOptions {
  databaseUrl: string;
  /** Null: PostgreSQL carries the queue. */
  redisUrl: string | null;
  /** Of the process, at that database. */
  sessions: ServerSessions;
  clock: Clock;
  logger: Logger;
  /** Called for each notice, in this or another process of the cluster; must not throw. */
  onDue(deliveryIds: readonly string[]): void;
}

export interface DueQueue {
  /** Never throws and never waits. */
  announce(deliveryIds: readonly string[]): void;
  /**
   * A notice that comes after `afterMs` and up to a tenth later, together with others, even if this process is gone by
   * then. One that dies within a fifth of `afterMs` leaves it to the sweep.
   */
  announceLater(deliveryId: string, afterMs: number): void;
  /** True while notices are heard; else the sweep alone delivers. */
  isOpen(): boolean;
  close(): Promise<void>;
}

const CHECK_EVERY_MS = 5_000;
const LOG_EVERY_MS = 60_000;
/**
 * A store that answers nothing (a stopped process, a lost route) keeps its connections: a
 * notice that takes longer has failed.
 */
const ADD_LIMIT_MS = 5_000;
/** Notices on their way; what comes on top is left to the sweep, so that a slow store costs no memory. */
const MOST_ADDS = 500;

/** Resolves after the first try to open, whether it worked or not. */
export async function startDueQueue(options: DueQueueOptions): Promise<DueQueue> {
  const { clock, logger } = options;
  let queue: OpenQueue | null = null;
  let opening: Promise<void> | null = null;
  let cancelCheck = (): void => {};
  let closing: Promise<void> | null = null;
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  /** Since the last one that worked. */
  let failedAdds = 0;
  /** What cancels the limit of each notice on its way. */
  const underWay = new Set<() => void>();

  function complain(error: unknown): void {
    if (closing !== null || clock.nowMs() - loggedAtMs < LOG_EVERY_MS) return;
    loggedAtMs = clock.nowMs();
    logger.warn({ err: error }, 'the webhook queue has trouble; deliveries go on by the sweep, up to 5 s later');
  }

  async function open(): Promise<void> {
    const former = queue;
    queue = null;
    failedAdds = 0;
    forgetAdds();
    await former?.close();
    try {
      const opened = await openWebhookQueue({ ...options, onTrouble: complain });
      if (closing === null) queue = opened;
      else await opened.close();
    } catch (error) {
      complain(error);
    }
  }

  function forgetAdds(): void {
    for (const cancel of underWay) cancel();
    underWay.clear();
  }

  /** BullMQ mends its own connections; where it has not, or its tables are gone, everything is built anew. */
  function check(): void {
    if (closing !== null) return;
    if (opening === null && (queue?.isRunning() !== true || failedAdds > 0)) {
      opening = open().finally(() => {
        opening = null;
      });
    }
    cancelCheck = clock.after(CHECK_EVERY_MS, check);
  }

  function add(notices: readonly DueNotice[]): void {
    if (queue === null || closing !== null || underWay.size >= MOST_ADDS) return;
    const end = (error: unknown): void => {
      // Too late, or said by a queue that was given up meanwhile: no word on this one.
      if (!underWay.delete(cancelLimit)) return;
      cancelLimit();
      failedAdds = error === null ? 0 : failedAdds + 1;
      if (error !== null) complain(error);
    };
    const cancelLimit = clock.after(ADD_LIMIT_MS, () => end(new Error(`no answer within ${ADD_LIMIT_MS} ms`)));
    underWay.add(cancelLimit);
    queue.add(notices).then(
      () => end(null),
      (error: unknown) => end(error),
    );
  }

  const later = createDueNoticeCollector({ clock, onFull: add });
  check();
  await opening;
  return {
    announce: (deliveryIds) => {
      if (deliveryIds.length > 0) add([{ deliveryIds, delayMs: 0 }]);
    },
    announceLater: (deliveryId, afterMs) => later.put(deliveryId, afterMs),
    isOpen: () => queue?.isRunning() === true,
    close() {
      closing ??= (async () => {
        later.flush();
        cancelCheck();
        await opening;
        forgetAdds();
        await queue?.close();
        queue = null;
      })();
      return closing;
    },
  };
}
