/**
 * Failed authentications by address: 20 a minute (contract §11), in this process's memory, since the point is to spare the
 * database. Holds 10,000 addresses; the one that was quiet longest is forgotten first. Only wrong keys count, not absent ones.
 */
import type { Clock } from '../../media/contract/clock.ts';

export interface FailedAuthThrottle {
  /** Whole seconds until this address may try a key that we do not know; 0: now. */
  waitSeconds(address: string): number;
  failed(address: string): void;
}

const FAILURES = 20;
const PERIOD_MS = 60_000 / FAILURES;
const MOST_ADDRESSES = 10_000;

export function createFailedAuthThrottle(clock: Pick<Clock, 'nowMs'>): FailedAuthThrottle {
  /** Theoretical arrival time by address, ms; insertion order is order of last failure. */
  const arrivals = new Map<string, number>();
  return {
    waitSeconds(address) {
      const aheadMs = (arrivals.get(address) ?? 0) - clock.nowMs();
      return Math.max(0, Math.ceil((aheadMs - (FAILURES - 1) * PERIOD_MS) / 1000));
    },
    failed(address) {
      const nowMs = clock.nowMs();
      const next = Math.max(arrivals.get(address) ?? 0, nowMs) + PERIOD_MS;
      arrivals.delete(address);
      // A flood from one address shuts it for a minute at most, not for ever.
      arrivals.set(address, Math.min(next, nowMs + 60_000 + PERIOD_MS));
      if (arrivals.size > MOST_ADDRESSES) arrivals.delete(arrivals.keys().next().value!);
    },
  };
}
