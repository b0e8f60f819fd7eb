/**
 * Within 5 s: due deliveries that no notice brought (one lost with its queue, a process that died with its claims, a
 * database that was away). This alone would deliver everything; dispatcher and queue make it fast. Must not send.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { DueLook } from '../store/due-look.ts';
import { createSweeper } from '../store/sweeper.ts';
import { type DeliveryStore, type DueDelivery, MAY_BE_DUE_SQL } from './delivery-store.ts';

export interface SweepDeps {
  store: DeliveryStore;
  clock: Clock;
  logger: Logger;
  /** Of each receiver, so that one backlog cannot fill a sweep. */
  perEndpoint: number;
  /** Receivers that have enough in memory to go on with; their rows are not read again and again. Default: none. */
  busy?(): string[];
  /** Before each look at what is due. */
  heedBreakers?(): Promise<{ open: number }>;
  /** Absent: each 5 s. */
  due?: DueLook;
  onDue(due: readonly DueDelivery[]): void;
}

export interface Sweep {
  /** This receiver is out of work: sweep at once if the last sweep left some of its backlog behind. */
  drained(endpointId: string): void;
  /** Resolves when no query runs. Idempotent. */
  close(): Promise<void>;
}

/** The first sweep runs at once: what a former process left is due now. */
export function startSweep(deps: SweepDeps): Sweep {
  const { clock, store, logger } = deps;
  let closed = false;
  let leftBehind = new Set<string>();
  /** Heeded at the last look: once more when there are none, so that they close here. */
  let openBreakers = 0;

  async function sweep(): Promise<void> {
    openBreakers = (await deps.heedBreakers?.())?.open ?? 0;
    const busy = deps.busy?.() ?? [];
    const due = await store.due(clock.epochMs(), deps.perEndpoint, busy);
    leftBehind = new Set([...busy, ...fullEndpoints(due, deps.perEndpoint)]);
    if (!closed && due.length > 0) deps.onDue(due);
  }

  const { due: look } = deps;
  const sweeper = createSweeper({
    clock,
    sweep,
    ...(look && { due: { look, sql: () => MAY_BE_DUE_SQL, also: () => openBreakers > 0 } }),
    failed: (err) => logger.warn({ err }, 'webhook sweep: the database is away'),
    back: () => logger.info('webhook sweep: the database is back'),
  });
  sweeper.start();
  return {
    drained(endpointId) {
      if (leftBehind.delete(endpointId)) sweeper.nudge();
    },
    async close() {
      closed = true;
      await sweeper.close();
    },
  };
}

function fullEndpoints(due: readonly DueDelivery[], perEndpoint: number): Set<string> {
  const counts = new Map<string, number>();
  for (const { endpointId } of due) counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1);
  return new Set([...counts].filter(([, count]) => count >= perEndpoint).map(([endpointId]) => endpointId));
}
