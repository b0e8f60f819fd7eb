/**
 * Puts webhook delivery together: queue, sweep, dispatcher, guarded client. Called once by `src/control/ground.ts`,
 * after the migrations; the caller closes it before it closes the database. Events are written
 * by `outbox.ts`, not here.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { OutboundHttp } from '../../media/net/outbound-http.ts';
import type { WebhookSettings } from '../config/webhook-settings.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database } from '../store/database.ts';
import type { DueLook } from '../store/due-look.ts';
import { createServerSessions, type ServerSessions } from '../store/server-sessions.ts';
import { createDelivery, type ObservedAttempt } from './delivery.ts';
import { createDeliveryStore } from './delivery-store.ts';
import { createDispatcher } from './dispatcher.ts';
import { type DueQueue, startDueQueue } from './due-queue.ts';
import { type LaneCompany, laneCapacity } from './endpoint-lane.ts';
import type { WebhookDispatcher } from './outbox.ts';
import { startPurge } from './purge.ts';
import { type Sweep, startSweep } from './sweep.ts';
import { startFirstAttempts } from './written.ts';

export interface WebhookDeps {
  db: Database;
  /** BullMQ makes connections of its own. */
  databaseUrl: string;
  /** Of the process, at that database. Default: of the queue alone. */
  sessions?: ServerSessions;
  redisUrl: string | null;
  sealer: Sealer;
  /** A `createGuardedClient` of `media/net`; stays the caller's to close, after this. */
  http: OutboundHttp;
  clock: Clock;
  /** 0 ≤ x < 1. */
  random: () => number;
  logger: Logger;
  /** Of each URL. */
  settings: WebhookSettings;
  /**
   * True: who commits an event starts its first attempt, and the queue announces what comes later; should this process
   * die in between, a sweep finds the row when the claim that was made with it has ended. False: the queue announces
   * first attempts too, so that a test sees it at work. Default true.
   */
  startsAtOnce?: boolean;
  /** See `DeliveryDeps.retryScale`. */
  retryScale?: number;
  observed?(attempt: ObservedAttempt): void;
  /** See `Sweep`. */
  due?: DueLook;
  /** See `LaneDeps`. */
  company?: LaneCompany;
}

export interface Webhooks {
  dispatcher: WebhookDispatcher;
  /** Starts no more attempts, gives those under way 5 s, then returns. Idempotent. */
  close(): Promise<void>;
}

/** An attempt takes at most about this long unless its receiver reads slowly; what is cut off is sent again later. */
const DRAIN_MS = 5_000;

/** Never fails because the queue is away: the sweep delivers until it is back. */
export async function startWebhooks(deps: WebhookDeps): Promise<Webhooks> {
  const { clock } = deps;
  const logger = deps.logger.child({ part: 'webhooks' });
  const store = createDeliveryStore(deps.db, deps.sealer);
  // Notices may come while the queue is still being made, so nothing below may need what is made after it.
  let dueQueue: DueQueue | null = null;
  let sweep: Sweep | null = null;
  const retryScale = deps.retryScale ?? 1;
  const dispatcher = createDispatcher({
    store,
    clock,
    logger,
    pace: deps.settings,
    retryScale,
    ...(deps.company && { company: deps.company }),
    attempt: createDelivery({
      store,
      http: deps.http,
      clock,
      random: deps.random,
      logger,
      retryScale,
      ...(deps.observed === undefined ? {} : { observed: deps.observed }),
      onRetry: (delivery, afterMs) => dueQueue?.announceLater(delivery.id, afterMs),
      onNext: (delivery) => dispatcher.offer([delivery]),
    }),
    onDrained: (endpointId) => sweep?.drained(endpointId),
  });
  dueQueue = await startDueQueue({
    databaseUrl: deps.databaseUrl,
    sessions: deps.sessions ?? createServerSessions(),
    redisUrl: deps.redisUrl,
    clock,
    logger,
    onDue: (ids) => void dispatcher.offerRetries(ids),
  });
  sweep = startSweep({
    store,
    clock,
    logger,
    perEndpoint: laneCapacity(deps.settings) / 2,
    busy: dispatcher.busy,
    heedBreakers: dispatcher.heedBreakers,
    ...(deps.due && { due: deps.due }),
    onDue: (due) => dispatcher.offer(due),
  });
  const purge = startPurge({ db: deps.db, clock, logger, mostWaiting: deps.settings.mostWaiting });

  const endFirstAttempts = deps.startsAtOnce === false ? (): void => {} : startFirstAttempts(dispatcher.busy);

  let closing: Promise<void> | null = null;
  async function close(): Promise<void> {
    endFirstAttempts();
    await dueQueue?.close();
    await sweep?.close();
    await purge.close();
    let cancel = (): void => {};
    const limit = new Promise<void>((resolve) => {
      cancel = clock.after(DRAIN_MS, resolve);
    });
    await Promise.race([dispatcher.close(), limit]);
    cancel();
  }
  return {
    dispatcher: {
      dispatch(deliveryIds) {
        if (deps.startsAtOnce === false) dueQueue?.announce(deliveryIds);
        else void dispatcher.offerIds(deliveryIds);
      },
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}
