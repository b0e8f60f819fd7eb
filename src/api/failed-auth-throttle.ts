/**
 * Failed authentications by address: 20 a minute (contract §11), counted together by all nodes. A try is taken before the key
 * is looked at and given back when it was right, so that parallel guesses are counted too. In front of the shared store this
 * process counts by itself, which spares the store a flood and holds while it is away. It remembers 10,000 addresses; the one
 * that was quiet longest is forgotten first.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { decideRate, perMinute, rateAsk, retryAfterUs } from '../limits/gcra.ts';
import { addressName, rateNames } from '../limits/limit-names.ts';
import type { LimitStore } from '../limits/limit-store.ts';

export interface FailedAuthThrottle {
  /** Before a key that was not right before: whole seconds until this address may try one; 0: now, and the try is taken. */
  take(address: string): Promise<number>;
  /** It was right after all. */
  giveBack(address: string): void;
}

const RATE = perMinute(20);
const MOST_ADDRESSES = 10_000;

export function createFailedAuthThrottle(deps: { clock: Pick<Clock, 'nowMs'>; store: LimitStore }): FailedAuthThrottle {
  const { clock, store } = deps;
  /** Theoretical arrival time by address, µs of this process's clock; insertion order is order of last use. */
  const arrivals = new Map<string, number>();
  const askOf = (address: string) => rateAsk(rateNames.failedAuth(address), RATE);
  const nowUs = (): number => Math.round(clock.nowMs() * 1000);

  function remember(name: string, tatUs: number): void {
    arrivals.delete(name);
    arrivals.set(name, tatUs);
    if (arrivals.size > MOST_ADDRESSES) arrivals.delete(arrivals.keys().next().value!);
  }

  return {
    async take(address) {
      const name = addressName(address);
      const own = decideRate((arrivals.get(name) ?? 0) - nowUs(), RATE);
      if (!own.ok) return seconds(own.retryAfterUs);
      remember(name, nowUs() + own.nextTatUs);
      const ask = askOf(address);
      const shared = await store.admit({ rates: [ask], slots: [], holder: '', ttlMs: 0 }).catch(() => null);
      if (shared === null || shared.ok) return 0;
      const [tatUs = 0] = shared.tatsUs;
      // Other nodes have heard it as well: until they may hear it again, neither does this one.
      remember(name, nowUs() + tatUs);
      return seconds(retryAfterUs(ask, tatUs));
    },
    giveBack(address) {
      const ask = askOf(address);
      const name = addressName(address);
      const own = arrivals.get(name);
      if (own !== undefined) arrivals.set(name, own - ask.periodUs);
      store.giveBack(ask).catch(() => {});
    },
  };
}

const seconds = (us: number): number => Math.ceil(us / 1_000_000);
