/** Limits in memory, on a clock that a test sets: passes the same suite as the real stores. */
import type { Clock } from '../../../media/contract/clock.ts';
import type { LimitStore } from '../../../src/limits/limit-store.ts';

export function createMemoryLimitStore(clock: Pick<Clock, 'nowMs'>): LimitStore {
  const tats = new Map<string, number>();
  const leases = new Map<string, Map<string, number>>();
  const nowUs = (): number => Math.round(clock.nowMs() * 1000);
  const aheadUs = (name: string): number => Math.max(0, (tats.get(name) ?? 0) - nowUs());
  const holdersOf = (name: string): Map<string, number> => {
    const holders = leases.get(name) ?? new Map<string, number>();
    for (const [holder, untilUs] of holders) if (untilUs <= nowUs()) holders.delete(holder);
    leases.set(name, holders);
    return holders;
  };
  return {
    kind: 'postgres',
    async admit({ rates, slots, holder, ttlMs }) {
      const tatsUs = rates.map((rate) => aheadUs(rate.name));
      const inUse = slots.map(({ name }) => holdersOf(name).size - (holdersOf(name).has(holder) ? 1 : 0));
      const rate = rates.findIndex((one, index) => (tatsUs[index] ?? 0) > one.toleranceUs);
      if (rate >= 0) return { ok: false, refused: 'rate', index: rate, tatsUs, inUse };
      const slot = slots.findIndex((one, index) => (inUse[index] ?? 0) >= one.limit);
      if (slot >= 0) return { ok: false, refused: 'slot', index: slot, tatsUs, inUse };
      for (const [index, one] of rates.entries()) tats.set(one.name, nowUs() + (tatsUs[index] ?? 0) + one.periodUs);
      for (const { name } of slots) holdersOf(name).set(holder, nowUs() + ttlMs * 1000);
      return { ok: true, tatsUs, inUse };
    },
    async renew(holds, ttlMs) {
      for (const { holder, names } of holds)
        for (const name of names) holdersOf(name).set(holder, nowUs() + ttlMs * 1000);
    },
    async release({ holder, names }) {
      for (const name of names) holdersOf(name).delete(holder);
    },
    async giveBack({ name, periodUs }) {
      tats.set(name, (tats.get(name) ?? 0) - periodUs);
    },
    async inUse(names) {
      return names.map((name) => holdersOf(name).size);
    },
  };
}
