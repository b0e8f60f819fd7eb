import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideRate, NEVER_RETRY_US, periodUs } from '../../../src/limits/gcra.ts';

/** Runs arrivals through the algorithm; gives the instants (µs) at which one was let through. */
function admitted(arrivalsUs: number[], rate: { perSecond: number; burst: number }): number[] {
  let tatUs = 0;
  return arrivalsUs.filter((nowUs) => {
    const decision = decideRate(tatUs - nowUs, rate);
    if (decision.ok) tatUs = nowUs + decision.nextTatUs;
    return decision.ok;
  });
}

const rates = fc.record({ perSecond: fc.integer({ min: 1, max: 50 }), burst: fc.integer({ min: 1, max: 50 }) });
const gapsUs = fc.array(fc.integer({ min: 0, max: 400_000 }), { minLength: 1, maxLength: 300 });

describe('the generic cell rate algorithm', () => {
  it('never lets more than burst + rate × time through in any window', () => {
    fc.assert(
      fc.property(rates, gapsUs, (rate, gaps) => {
        let nowUs = 0;
        const passed = admitted(
          gaps.map((gap) => (nowUs += gap)),
          rate,
        );
        for (let from = 0; from < passed.length; from++) {
          for (let to = from; to < passed.length; to++) {
            const windowUs = (passed[to] ?? 0) - (passed[from] ?? 0);
            expect(to - from + 1).toBeLessThanOrEqual(rate.burst + Math.floor(windowUs / periodUs(rate)));
          }
        }
      }),
    );
  });

  it('lets the next one through exactly when it said, and not 1 µs earlier', () => {
    fc.assert(
      fc.property(rates, (rate) => {
        let tatUs = 0;
        for (let taken = 0; taken < rate.burst; taken++) {
          const decision = decideRate(tatUs, rate);
          expect(decision.ok).toBe(true);
          if (decision.ok) {
            expect(decision.remaining).toBe(rate.burst - 1 - taken);
            tatUs = decision.nextTatUs;
          }
        }
        const refused = decideRate(tatUs, rate);
        expect(refused.ok).toBe(false);
        if (refused.ok) return;
        expect(refused.retryAfterUs).toBe(periodUs(rate));
        expect(decideRate(tatUs - refused.retryAfterUs + 1, rate).ok).toBe(false);
        expect(decideRate(tatUs - refused.retryAfterUs, rate).ok).toBe(true);
      }),
    );
  });

  it('takes 0 a second as "never"', () => {
    expect(decideRate(-1e9, { perSecond: 0, burst: 10 })).toEqual({ ok: false, retryAfterUs: NEVER_RETRY_US });
  });
});
