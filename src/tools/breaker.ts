/**
 * Breakers, one a tool: when half of at least 20 uses in 60 s failed by the endpoint's fault, its tool is not asked for
 * 30 s; then one use tries. In memory of this process; the executor asks it before each request.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { type CircuitBreaker, createCircuitBreaker, failedShare } from '../../media/net/circuit-breaker.ts';

const TRIPS_AT = { share: 0.5, leastUses: 20, windowMs: 60_000 };
const OPEN_MS = 30_000;
const MOST_KEPT = 1_000;

export interface Breakers {
  /** False: do not ask. True after an opening: this use is the one that tries, and `settled` must follow. */
  admits(key: string): boolean;
  /** `null`: it says nothing about the endpoint. */
  settled(key: string, failed: boolean | null): void;
  openCount(): number;
}

export function createBreakers(clock: Clock): Breakers {
  /** Oldest use first. */
  const byKey = new Map<string, CircuitBreaker>();

  return {
    admits: (key) => byKey.get(key)?.admits() ?? true,
    settled(key, failed) {
      const breaker =
        byKey.get(key) ?? createCircuitBreaker({ clock, rule: failedShare({ clock, ...TRIPS_AT }), openMs: OPEN_MS });
      breaker.settled(failed);
      if (failed === null) return;
      byKey.delete(key);
      byKey.set(key, breaker);
      for (const oldest of byKey.keys()) {
        if (byKey.size <= MOST_KEPT) break;
        byKey.delete(oldest);
      }
    },
    openCount: () => [...byKey.values()].filter((breaker) => breaker.waitMs() > 0).length,
  };
}
