/**
 * What is under way for one receiver (contract §6): so many at a time and a second as the operator has set, and after
 * 20 straight failures one probe per 30 s until one succeeds. Of several nodes each has its share of the pace, and they
 * probe in turn: it may be one of them that cannot reach the receiver. A lane holds ids only and may forget them: the
 * rows stay due and the sweep offers them again. Made by the dispatcher.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { createCircuitBreaker, failuresInARow } from '../../media/net/circuit-breaker.ts';
import type { WebhookSettings } from '../config/webhook-settings.ts';
import type { Company } from '../nodes/company.ts';
import { BREAKER_FAILURES, PROBE_EVERY_MS } from './breaker.ts';
import type { AttemptResult } from './delivery.ts';

export type LanePace = Pick<WebhookSettings, 'perSecond' | 'atOnce'>;

/** Seconds of ids that wait in memory; more are left to the sweep. */
const CAPACITY_SECONDS = 4;

export function laneCapacity({ perSecond, atOnce }: LanePace): number {
  return Math.max(CAPACITY_SECONDS * perSecond, 2 * atOnce);
}

export interface LaneDeps {
  clock: Clock;
  pace: LanePace;
  /** Shortens the pause between probes, as it does those between attempts; default 1. */
  retryScale?: number;
  /** Default: this node alone. */
  company?: LaneCompany;
  /** Never rejects. */
  attempt(id: string): Promise<AttemptResult>;
  /** Nothing waits any more, and nothing runs. */
  onDrained(): void;
}

export type LaneCompany = Pick<Company, 'nodes' | 'hasTurn'>;

const ALONE: LaneCompany = { nodes: () => 1, hasTurn: () => true };

export interface EndpointLane {
  /** Offering what waits or runs already is harmless. */
  offer(id: string): void;
  /** It waits or runs. */
  has(id: string): boolean;
  /** Half full: a sweep need not offer more. The other half is for what is dispatched. */
  isBusy(): boolean;
  /**
   * What the rows say of the receiver at `asOfMs` of this clock: since when its breaker is open, or null. Somebody may
   * have switched it on, or another node have found it failing. What this lane has seen since then counts more.
   */
  heedBreaker(sinceFailureMs: number | null, asOfMs: number): void;
  /** Starts nothing more; resolves when nothing runs. */
  close(): Promise<void>;
}

export function createEndpointLane(deps: LaneDeps): EndpointLane {
  const { clock, pace, company = ALONE } = deps;
  const perSecondHere = (): number => pace.perSecond / company.nodes();
  const atOnceHere = (): number => Math.max(1, Math.floor(pace.atOnce / company.nodes()));
  const capacity = laneCapacity(pace);
  const probeEveryMs = PROBE_EVERY_MS * (deps.retryScale ?? 1);
  const waiting = new Set<string>();
  /** True: offered again while it ran, so look once more (its turn may have come in between). */
  const running = new Map<string, boolean>();
  const breaker = createCircuitBreaker({ clock, rule: failuresInARow(BREAKER_FAILURES), openMs: probeEveryMs });
  let failedAtMs = Number.NEGATIVE_INFINITY;
  let tokens = Math.max(1, perSecondHere());
  let refilledAtMs = clock.nowMs();
  let cancelTimer: (() => void) | null = null;
  let closed = false;
  let onIdle: (() => void) | null = null;

  function takeToken(): boolean {
    const nowMs = clock.nowMs();
    const perSecond = perSecondHere();
    // One that may start less than one a second starts one all the same, later.
    tokens = Math.min(Math.max(1, perSecond), tokens + ((nowMs - refilledAtMs) * perSecond) / 1_000);
    refilledAtMs = nowMs;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  }

  /** Ms until something may start; 0: now; null: when something ends. */
  function startIn(): number | null {
    const isOpen = breaker.isOpen();
    if (running.size >= (isOpen ? 1 : atOnceHere())) return null;
    if (isOpen) {
      // In another node's turn that one asks whether the receiver is back, and the rows tell what it found.
      const turns = clock.epochMs() / probeEveryMs;
      const turn = Math.floor(turns);
      if (!company.hasTurn(turn)) return (turn + 1 - turns) * probeEveryMs;
    }
    const waitMs = breaker.waitMs();
    if (waitMs > 0) return waitMs;
    return takeToken() ? 0 : 1_000 / perSecondHere();
  }

  function pump(): void {
    cancelTimer?.();
    cancelTimer = null;
    while (!closed && waiting.size > 0) {
      const waitMs = startIn();
      if (waitMs === null) return;
      if (waitMs > 0) {
        cancelTimer = clock.after(waitMs, pump);
        return;
      }
      const id: string = waiting.values().next().value!;
      waiting.delete(id);
      void run(id);
    }
  }

  async function run(id: string): Promise<void> {
    running.set(id, false);
    const result = await deps.attempt(id);
    if (result !== 'skipped') breaker.settled(result === 'failed');
    if (result === 'failed') failedAtMs = clock.nowMs();
    const again = running.get(id) === true;
    running.delete(id);
    if (again && result === 'skipped') offer(id);
    else pump();
    if (running.size > 0) return;
    if (closed) onIdle?.();
    else if (waiting.size === 0) deps.onDrained();
  }

  function offer(id: string): void {
    if (closed) return;
    if (running.has(id)) running.set(id, true);
    else if (waiting.size < capacity) waiting.add(id);
    pump();
  }

  return {
    offer,
    has: (id) => waiting.has(id) || running.has(id),
    isBusy: () => waiting.size >= capacity / 2,
    heedBreaker(sinceFailureMs, asOfMs) {
      if (failedAtMs >= asOfMs || breaker.isOpen() === (sinceFailureMs !== null)) return;
      if (sinceFailureMs === null) breaker.close();
      else breaker.open(Math.max(0, probeEveryMs - sinceFailureMs));
      pump();
    },
    async close() {
      closed = true;
      cancelTimer?.();
      waiting.clear();
      if (running.size > 0) {
        await new Promise<void>((resolve) => {
          onIdle = resolve;
        });
      }
    },
  };
}
