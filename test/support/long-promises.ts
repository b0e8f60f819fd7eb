/**
 * A store whose promises last ten minutes: a slow machine must not lose the slots that a test counts. For tests of the
 * limits, on a real store. Whoever asks for another time than the service's is refused.
 */
import type { LimitStore } from '../../src/limits/limit-store.ts';
import { PROMISE_MS } from '../../src/limits/slot-admission.ts';

const LASTS_MS = 600_000;

export function longPromises(store: LimitStore): LimitStore {
  return {
    ...store,
    async admit(asked) {
      if (asked.ttlMs === 0) return store.admit(asked);
      if (asked.ttlMs !== PROMISE_MS) throw new Error(`a promise of ${asked.ttlMs} ms`);
      return store.admit({ ...asked, ttlMs: LASTS_MS });
    },
  };
}
