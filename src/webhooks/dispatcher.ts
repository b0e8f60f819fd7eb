/**
 * Brings due deliveries to the lane of their receiver, so that one bad receiver delays nobody else's. Fed by the due
 * queue, by retries and by the sweep; runs what `delivery.ts` makes.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { AttemptResult } from './delivery.ts';
import type { DeliveryStore, DueDelivery } from './delivery-store.ts';
import { createEndpointLane, type EndpointLane, type LaneCompany, type LanePace } from './endpoint-lane.ts';
import { writtenHere } from './written.ts';

export interface DispatcherDeps {
  store: DeliveryStore;
  clock: Clock;
  logger: Logger;
  /** Of each receiver. */
  pace: LanePace;
  /** See `DeliveryDeps.retryScale`; default 1. */
  retryScale?: number;
  /** See `LaneDeps`. */
  company?: LaneCompany;
  attempt(id: string): Promise<AttemptResult>;
  /** A receiver has nothing left in memory; what the sweep could not hand over may come now. */
  onDrained(endpointId: string): void;
}

export interface Dispatcher {
  offer(due: readonly DueDelivery[]): void;
  /** By ids alone; their receivers are looked up. Never rejects. */
  offerIds(ids: readonly string[]): Promise<void>;
  /**
   * The same for retries that fall due together: one after the other, so that no first attempt
   * finds all of them before it.
   */
  offerRetries(ids: readonly string[]): Promise<void>;
  /** Looks up whose breakers are open, and says how many. Rejects when the database is away. */
  heedBreakers(): Promise<{ open: number }>;
  /** Receivers whose lanes hold a sweep's worth already. */
  busy(): string[];
  /** Starts nothing more; resolves when no attempt runs. Idempotent. */
  close(): Promise<void>;
}

/** Between two retries of one notice; a long one is over within the second. */
const RETRY_GAP_MS = 20;
const RETRIES_WITHIN_MS = 500;

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  // One lane a workspace at most: a breaker's memory is worth more than the few hundred bytes.
  const lanes = new Map<string, EndpointLane>();

  function laneOf(endpointId: string): EndpointLane {
    let lane = lanes.get(endpointId);
    if (lane === undefined) {
      lane = createEndpointLane({
        clock: deps.clock,
        pace: deps.pace,
        retryScale: deps.retryScale ?? 1,
        ...(deps.company && { company: deps.company }),
        attempt: (id) => deps.attempt(id).finally(() => attempted(id)),
        onDrained: () => deps.onDrained(endpointId),
      });
      lanes.set(endpointId, lane);
    }
    return lane;
  }

  function offer(due: readonly DueDelivery[]): void {
    for (const { id, endpointId } of due) laneOf(endpointId).offer(id);
  }

  /** Of each call the event that goes first, and those that wait for it here: tried meanwhile they would be refused. */
  const firsts = new Map<string, { id: string; next: DueDelivery[] }>();

  function offerInOrder(due: DueDelivery, callUuid: string | null): void {
    const lane = laneOf(due.endpointId);
    const first = callUuid === null ? undefined : firsts.get(callUuid);
    if (first !== undefined && lane.has(first.id)) {
      first.next.push(due);
      return;
    }
    lane.offer(due.id);
    if (callUuid !== null && lane.has(due.id)) firsts.set(callUuid, { id: due.id, next: [] });
  }

  function attempted(id: string): void {
    const callUuid = writtenHere(id)?.callUuid ?? null;
    const first = callUuid === null ? undefined : firsts.get(callUuid);
    if (callUuid === null || first?.id !== id) return;
    firsts.delete(callUuid);
    const [next, ...rest] = first.next;
    if (next === undefined) return;
    const lane = laneOf(next.endpointId);
    lane.offer(next.id);
    // A lane that is full has left it to the sweep, and the others with it.
    if (lane.has(next.id)) firsts.set(callUuid, { id: next.id, next: rest });
  }

  let closed = false;
  const waiting = new Set<() => void>();

  async function lookUp(ids: readonly string[]): Promise<DueDelivery[]> {
    if (closed) return [];
    try {
      const due = await deps.store.endpointsOf(ids);
      return closed ? [] : due;
    } catch (error) {
      deps.logger.warn({ err: error }, 'dispatched webhook deliveries could not be read; the sweep will find them');
      return [];
    }
  }

  function offerLater(one: DueDelivery, afterMs: number): void {
    const cancel = deps.clock.after(afterMs, () => {
      waiting.delete(cancel);
      offer([one]);
    });
    waiting.add(cancel);
  }

  return {
    offer(due) {
      if (!closed) offer(due);
    },
    async offerIds(ids) {
      if (closed) return;
      const unknown: string[] = [];
      for (const id of ids) {
        const written = writtenHere(id);
        if (written === undefined) unknown.push(id);
        else offerInOrder({ id, endpointId: written.endpointId }, written.callUuid);
      }
      if (unknown.length > 0) offer(await lookUp(unknown));
    },
    async offerRetries(ids) {
      const due = await lookUp(ids);
      const gapMs = Math.min(RETRY_GAP_MS, RETRIES_WITHIN_MS / Math.max(1, due.length));
      for (const [index, one] of due.entries()) offerLater(one, index * gapMs);
    },
    async heedBreakers() {
      const asOfMs = deps.clock.nowMs();
      const open = await deps.store.openBreakers(deps.clock.epochMs());
      if (closed) return { open: 0 };
      const sinceFailureMs = new Map(open.map((one) => [one.endpointId, one.sinceFailureMs]));
      for (const endpointId of sinceFailureMs.keys()) laneOf(endpointId);
      for (const [endpointId, lane] of lanes) lane.heedBreaker(sinceFailureMs.get(endpointId) ?? null, asOfMs);
      return { open: open.length };
    },
    busy: () => [...lanes].filter(([, lane]) => lane.isBusy()).map(([endpointId]) => endpointId),
    async close() {
      closed = true;
      for (const cancel of waiting) cancel();
      waiting.clear();
      await Promise.all([...lanes.values()].map((lane) => lane.close()));
    },
  };
}
