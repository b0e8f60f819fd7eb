/**
 * A store whose promises last ten minutes: a slow machine must not lose the slots that a test counts. For tests of the
 * limits, on a real store.
 */
import type { LimitStore } from '../../src/limits/limit-store.ts';

const LASTS_MS = 600_000;

export function longPromises(store: LimitStore): LimitStore {
  return { ...store, admit: (asked) => store.admit({ ...asked, ttlMs: asked.ttlMs > 0 ? LASTS_MS : 0 }) };
}
