/**
 * Leaves an address alone that fails: after too many failures the breaker opens for a while, then one use tries, and
 * decides. In memory of this process. One an endpoint: `src/webhooks/endpoint-lane.ts`, `src/tools/breaker.ts` and
 * `src/analysis/model-state.ts` make them.
 */
import type { Clock } from '../contract/clock.ts';

export interface CircuitBreaker {
  /** From the failure that opened it to what closes it, the try in between. */
  isOpen(): boolean;
  /** Until a use may go through or try; 0: now. Takes no try. */
  waitMs(): number;
  /** May the endpoint be used now? True while open: this use is the one that tries, and `settled` must follow. */
  admits(): boolean;
  /** How a use ended; `null`: it says nothing about the endpoint, and the next use tries. */
  settled(failed: boolean | null): void;
  /** Somebody else has found it failing: the next use is to try in so many ms. */
  open(forMs: number): void;
  /** Somebody else has found it well. */
  close(): void;
}

/** When a breaker opens. Has a memory, so each breaker has its own. */
export interface TripRule {
  /** Of a use that was no try; null: the breaker stays as it is. */
  judge(failed: boolean, isOpen: boolean): 'opens' | 'closes' | null;
  /** The breaker has opened or closed. */
  forget(): void;
}

export function createCircuitBreaker(options: {
  clock: Pick<Clock, 'nowMs'>;
  rule: TripRule;
  /** Since the failure that opened it. */
  openMs: number;
  /** A try that is not settled within so long gives way to another; default: never. */
  tryLimitMs?: number;
}): CircuitBreaker {
  const { clock, rule, openMs, tryLimitMs = Number.POSITIVE_INFINITY } = options;
  let openUntilMs: number | null = null;
  let tryUntilMs: number | null = null;

  const waitMs = (): number => (openUntilMs === null ? 0 : Math.max(0, openUntilMs - clock.nowMs()));

  function open(forMs: number): void {
    openUntilMs = clock.nowMs() + forMs;
    rule.forget();
  }

  function close(): void {
    openUntilMs = null;
    rule.forget();
  }

  return {
    isOpen: () => openUntilMs !== null,
    waitMs,
    admits() {
      if (openUntilMs === null) return true;
      if (waitMs() > 0 || (tryUntilMs !== null && clock.nowMs() < tryUntilMs)) return false;
      tryUntilMs = clock.nowMs() + tryLimitMs;
      return true;
    },
    settled(failed) {
      const wasTry = tryUntilMs !== null;
      tryUntilMs = null;
      if (failed === null) return;
      const verdict = wasTry ? (failed ? 'opens' : 'closes') : rule.judge(failed, openUntilMs !== null);
      if (verdict === 'opens') open(openMs);
      if (verdict === 'closes') close();
    },
    open,
    close,
  };
}

/** Any success closes; while open, any failure holds it open for the whole time anew. */
export function failuresInARow(most: number): TripRule {
  let failures = 0;
  return {
    judge(failed, isOpen) {
      if (!failed) return 'closes';
      failures++;
      return isOpen || failures >= most ? 'opens' : null;
    },
    forget() {
      failures = 0;
    },
  };
}

/** Enough of a window to judge by. */
const MOST_USES_KEPT = 200;

/** At least `share` (0 to 1) of at least `leastUses` uses within `windowMs`; only a try closes. */
export function failedShare(options: {
  clock: Pick<Clock, 'nowMs'>;
  share: number;
  leastUses: number;
  windowMs: number;
}): TripRule {
  const { clock, share, leastUses, windowMs } = options;
  let uses: { atMs: number; failed: boolean }[] = [];
  return {
    judge(failed) {
      const nowMs = clock.nowMs();
      uses.push({ atMs: nowMs, failed });
      uses = uses.filter(({ atMs }) => nowMs - atMs < windowMs).slice(-MOST_USES_KEPT);
      const failures = uses.filter((use) => use.failed).length;
      return uses.length >= leastUses && failures >= uses.length * share ? 'opens' : null;
    },
    forget() {
      uses = [];
    },
  };
}
