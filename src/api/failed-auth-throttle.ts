/**
 * Failed authentications by address (contract §11) and by the id of the key that was tried, 20 a minute each, counted
 * together by all nodes. A try is taken before the key is looked at and given back when it was right, so that parallel
 * guesses are counted too. In front of the shared store this process counts by itself, which spares the store a flood
 * and holds while it is away. It remembers 10,000 addresses and keys; the one that was quiet longest is forgotten
 * first.
 */
import type { Clock } from '../../media/contract/clock.ts';
import { decideRate, perMinute, type RateAsk, type RateDecision, rateAsk, retryAfterUs } from '../limits/gcra.ts';
import { rateNames } from '../limits/limit-names.ts';
import type { LimitStore } from '../limits/limit-store.ts';

export interface FailedAuthThrottle {
  /**
   * Before a key that was not right before: whole seconds until it may be tried from this address; 0: now, and the try
   * is taken. `keyId`: of a text that has the form of a key.
   */
  take(address: string, keyId?: string): Promise<number>;
  /** It was right after all. */
  giveBack(address: string, keyId?: string): void;
  /** Whole seconds until this address may try a key, as far as this process knows; takes nothing and asks nobody. */
  shutSeconds(address: string): number;
}

const RATE = perMinute(20);
const MOST_REMEMBERED = 10_000;

export function createFailedAuthThrottle(deps: { clock: Pick<Clock, 'nowMs'>; store: LimitStore }): FailedAuthThrottle {
  const { clock, store } = deps;
  /** Theoretical arrival time by the rate's name, µs of this process's clock; insertion order is order of last use. */
  const arrivals = new Map<string, number>();
  const nowUs = (): number => Math.round(clock.nowMs() * 1000);
  const decide = (ask: RateAsk): RateDecision => decideRate((arrivals.get(ask.name) ?? 0) - nowUs(), RATE);

  function remember(name: string, tatUs: number): void {
    arrivals.delete(name);
    arrivals.set(name, tatUs);
    if (arrivals.size > MOST_REMEMBERED) arrivals.delete(arrivals.keys().next().value!);
  }

  /** Whole seconds that the nodes together want this one to wait; 0: none. */
  async function takeShared(ask: RateAsk): Promise<number> {
    const shared = await store.admit({ rates: [ask], slots: [], holder: '', ttlMs: 0 }).catch(() => null);
    if (shared === null || shared.ok) return 0;
    const [tatUs = 0] = shared.tatsUs;
    // Other nodes have heard it as well: until they may hear it again, neither does this one.
    remember(ask.name, nowUs() + tatUs);
    return seconds(retryAfterUs(ask, tatUs));
  }

  return {
    async take(address, keyId) {
      const asks = asksOf(address, keyId);
      const own = asks.map((ask) => ({ ask, decision: decide(ask) }));
      const shutUs = Math.max(0, ...own.map(({ decision }) => (decision.ok ? 0 : decision.retryAfterUs)));
      if (shutUs > 0) return seconds(shutUs);
      for (const { ask, decision } of own) if (decision.ok) remember(ask.name, nowUs() + decision.nextTatUs);
      return Math.max(...(await Promise.all(asks.map(takeShared))));
    },
    shutSeconds(address) {
      const own = decide(asksOf(address)[0]!);
      return own.ok ? 0 : seconds(own.retryAfterUs);
    },
    giveBack(address, keyId) {
      for (const ask of asksOf(address, keyId)) {
        const own = arrivals.get(ask.name);
        if (own !== undefined) arrivals.set(ask.name, own - ask.periodUs);
        store.giveBack(ask).catch(() => {});
      }
    },
  };
}

/** The address's first. */
function asksOf(address: string, keyId?: string): RateAsk[] {
  const names = [rateNames.failedAuth(address), ...(keyId === undefined ? [] : [rateNames.failedAuthOfKey(keyId)])];
  return names.map((name) => rateAsk(name, RATE));
}

const seconds = (us: number): number => Math.ceil(us / 1_000_000);
