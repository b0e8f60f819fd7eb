/**
 * Breakers, one a tool: when half of at least 20 uses in 60 s failed by the endpoint's fault, its tool is not asked for
 * 30 s; then one use tries. In memory of this process; the executor asks it before each request.
 */
import type { Clock } from '../../media/contract/clock.ts';

const WINDOW_MS = 60_000;
const LEAST_USES = 20;
const FAILED_SHARE = 0.5;
const OPEN_MS = 30_000;
const MOST_KEPT = 1_000;
/** Enough of a window to judge by. */
const MOST_USES_KEPT = 200;

interface Breaker {
  uses: { atMs: number; failed: boolean }[];
  openUntilMs: number;
  isTrying: boolean;
}

export interface Breakers {
  /** False: do not ask. True after an opening: this use is the one that tries, and `settled` must follow. */
  admits(key: string): boolean;
  /** `null`: it says nothing about the endpoint. */
  settled(key: string, failed: boolean | null): void;
  openCount(): number;
}

export function createBreakers(clock: Clock): Breakers {
  /** Oldest use first. */
  const byKey = new Map<string, Breaker>();

  return {
    admits(key) {
      const breaker = byKey.get(key);
      if (breaker === undefined || breaker.openUntilMs === 0) return true;
      if (clock.nowMs() < breaker.openUntilMs || breaker.isTrying) return false;
      breaker.isTrying = true;
      return true;
    },
    settled(key, failed) {
      const breaker = byKey.get(key) ?? { uses: [], openUntilMs: 0, isTrying: false };
      const nowMs = clock.nowMs();
      const wasTrying = breaker.isTrying;
      breaker.isTrying = false;
      if (failed === null) return;
      byKey.delete(key);
      byKey.set(key, breaker);
      for (const oldest of byKey.keys()) {
        if (byKey.size <= MOST_KEPT) break;
        byKey.delete(oldest);
      }
      if (wasTrying) {
        breaker.openUntilMs = failed ? nowMs + OPEN_MS : 0;
        breaker.uses = [];
        return;
      }
      breaker.uses.push({ atMs: nowMs, failed });
      breaker.uses = breaker.uses.filter((use) => nowMs - use.atMs < WINDOW_MS).slice(-MOST_USES_KEPT);
      const failures = breaker.uses.filter((use) => use.failed).length;
      if (breaker.uses.length >= LEAST_USES && failures >= breaker.uses.length * FAILED_SHARE) {
        breaker.openUntilMs = nowMs + OPEN_MS;
        breaker.uses = [];
      }
    },
    openCount: () => [...byKey.values()].filter((breaker) => breaker.openUntilMs > clock.nowMs()).length,
  };
}
