/**
 * What every store of limits must do, the same tests for all of them. Real stores have clocks of their own, so times
 * here are short and real.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { perMinute, rateAsk, retryAfterUs } from '../../../src/limits/gcra.ts';
import type { AdmissionAnswer, LimitStore } from '../../../src/limits/limit-store.ts';
import { takeFromRate } from '../../../src/limits/rate-limit.ts';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const TTL_MS = 60_000;

export function holdStoreToItsPort(open: () => LimitStore): void {
  let names = 0;
  const fresh = (): string => `test:${Date.now()}:${names++}`;
  const slot = (name: string, limit: number, holder: string, ttlMs = TTL_MS): Promise<AdmissionAnswer> =>
    open().admit({ rates: [], slots: [{ name, limit }], holder, ttlMs });

  it('gives 4 of 40 parallel takers a place at burst 4, each another rest, and then whole seconds of advice, 100 at most', async () => {
    const name = fresh();
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => takeFromRate(open(), name, { perSecond: 0.01, burst: 4 })),
    );
    const taken = answers.flatMap((answer) => (answer.ok ? [answer.remaining] : []));
    expect(taken.toSorted()).toEqual([0, 1, 2, 3]);
    const advice = answers.flatMap((answer) => (answer.ok ? [] : [answer.retryAfterSeconds]));
    expect(advice).toHaveLength(36);
    for (const seconds of advice) {
      expect(Number.isInteger(seconds)).toBe(true);
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(100);
    }
  });

  it('shows each of 36 refused in a race of 40 what refused it: four takers ahead, not fewer', async () => {
    const ask = rateAsk(fresh(), { perSecond: 0.01, burst: 4 });
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => open().admit({ rates: [ask], slots: [], holder: '', ttlMs: 0 })),
    );
    const tookUs = (performance.now() - began) * 1_000;
    const refused = answers.filter((answer) => !answer.ok);
    expect(refused).toHaveLength(36);
    for (const { tatsUs } of refused) expect(tatsUs[0]).toBeGreaterThanOrEqual(4 * ask.periodUs - tookUs - 1_000);
  });

  it('counts each once where some ask for a rate alone and others together with another', async () => {
    const shared = rateAsk(fresh(), { perSecond: 0.01, burst: 100 });
    const other = rateAsk(fresh(), { perSecond: 0.01, burst: 100 });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_none, index) =>
        open().admit({
          rates: index % 2 === 0 ? [shared] : [other, shared],
          slots: [],
          holder: '',
          ttlMs: 0,
          sharesRate: true,
        }),
      ),
    );
    const places = answers.map(({ tatsUs }) => Math.round((tatsUs.at(-1) ?? 0) / shared.periodUs));
    expect(places.toSorted((one, next) => one - next)).toEqual(Array.from({ length: 40 }, (_none, index) => index));
  });

  it('refuses everything at 0 a second', async () => {
    const nothing = { ok: false, retryAfterSeconds: 60 };
    expect(await takeFromRate(open(), fresh(), { perSecond: 0, burst: 5 })).toEqual(nothing);
    expect(await takeFromRate(open(), fresh(), { perSecond: 5, burst: 0 })).toEqual(nothing);
  });

  it('never lets more than burst + time × rate through, and lets the next one in when it said', async () => {
    const name = fresh();
    const ask = rateAsk(name, { perSecond: 20, burst: 3 });
    const began = performance.now();
    let taken = 0;
    let waitUs = 0;
    while (taken < 12) {
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => open().admit({ rates: [ask], slots: [], holder: '', ttlMs: 0 })),
      );
      taken += answers.filter((answer) => answer.ok).length;
      const refused = answers.find((answer) => !answer.ok);
      if (refused !== undefined) waitUs = retryAfterUs(ask, refused.tatsUs[0] ?? 0);
      expect(taken).toBeLessThanOrEqual(3 + Math.floor((performance.now() - began) / 50) + 1);
      expect(waitUs).toBeLessThanOrEqual(50_000);
      await sleep(5);
    }
    await sleep(waitUs / 1000 + 60);
    expect((await open().admit({ rates: [ask], slots: [], holder: '', ttlMs: 0 })).ok).toBe(true);
  });

  it('gives back what was taken, and no more than that', async () => {
    const name = fresh();
    const rate = { perSecond: 0.001, burst: 2 };
    expect((await takeFromRate(open(), name, rate)).ok).toBe(true);
    expect((await takeFromRate(open(), name, rate)).ok).toBe(true);
    expect((await takeFromRate(open(), name, rate)).ok).toBe(false);
    await open().giveBack(rateAsk(name, rate));
    expect((await takeFromRate(open(), name, rate)).ok).toBe(true);
    expect((await takeFromRate(open(), name, rate)).ok).toBe(false);
    const other = fresh();
    await open().giveBack(rateAsk(other, rate));
    const answers = [];
    for (let times = 0; times < 3; times++) answers.push((await takeFromRate(open(), other, rate)).ok);
    expect(answers).toEqual([true, true, false]);
  });

  it('lets exactly 5 of 50 parallel holders have one of 5 slots, and the sixth when one is given back', async () => {
    const name = fresh();
    const answers = await Promise.all(Array.from({ length: 50 }, (_none, index) => slot(name, 5, `h${index}`)));
    expect(answers.filter((answer) => answer.ok)).toHaveLength(5);
    expect(await open().inUse([name, fresh()])).toEqual([5, 0]);
    const holder = answers.findIndex((answer) => answer.ok);
    await open().release({ holder: `h${holder}`, names: [name] });
    await open().release({ holder: `h${holder}`, names: [name] });
    expect(await slot(name, 5, 'late')).toMatchObject({ ok: true, inUse: [4] });
    expect(await slot(name, 5, 'later')).toMatchObject({ ok: false, refused: 'slot', index: 0, inUse: [5] });
  });

  it('gives a holder that asks again what it has, once', async () => {
    const name = fresh();
    expect((await slot(name, 1, 'me')).ok).toBe(true);
    expect((await slot(name, 1, 'me')).ok).toBe(true);
    expect((await slot(name, 1, 'you')).ok).toBe(false);
    expect(await open().inUse([name])).toEqual([1]);
  });

  it('ends a slot that nobody renews after its time, and not one that is renewed', async () => {
    const name = fresh();
    expect((await slot(name, 2, 'dead', 150)).ok).toBe(true);
    expect((await slot(name, 2, 'alive', 150)).ok).toBe(true);
    await open().renew([{ holder: 'alive', names: [name] }], TTL_MS);
    await sleep(220);
    expect(await open().inUse([name])).toEqual([1]);
    // It had ended, and whoever lives holds its slot.
    await open().renew([{ holder: 'dead', names: [name] }], TTL_MS);
    expect(await open().inUse([name])).toEqual([2]);
    expect((await slot(name, 2, 'new')).ok).toBe(false);
  });

  it('takes all or nothing: what one refuses costs the others nothing, and rates come first', async () => {
    const [free, full, room, taken] = [fresh(), fresh(), fresh(), fresh()];
    const few = perMinute(1);
    await takeFromRate(open(), full, few);
    await slot(taken, 1, 'owner');
    const ask = (rates: string[], slots: string[]): Promise<AdmissionAnswer> =>
      open().admit({
        rates: rates.map((name) => rateAsk(name, few)),
        slots: slots.map((name) => ({ name, limit: 1 })),
        holder: 'asker',
        ttlMs: TTL_MS,
      });
    expect(await ask([free, full], [taken])).toMatchObject({ ok: false, refused: 'rate', index: 1 });
    expect(await ask([free], [room, taken])).toMatchObject({ ok: false, refused: 'slot', index: 1, inUse: [0, 1] });
    expect(await open().inUse([room])).toEqual([0]);
    expect(await ask([free], [room])).toMatchObject({ ok: true, tatsUs: [0], inUse: [0] });
  });

  it('holds two limits at once under 60 parallel asks that name them in either order, without a deadlock', async () => {
    const [one, other] = [fresh(), fresh()];
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_none, index) =>
        open().admit({
          rates: [],
          slots: (index % 2 === 0 ? [one, other] : [other, one]).map((name) => ({ name, limit: name === one ? 7 : 9 })),
          holder: `h${index}`,
          ttlMs: TTL_MS,
        }),
      ),
    );
    expect(answers.filter((answer) => answer.ok)).toHaveLength(7);
    expect(await open().inUse([one, other])).toEqual([7, 7]);
  });

  it('keeps the count of slots right whatever is taken, renewed and given back, against a plain set', async () => {
    const holders = fc.constantFrom('a', 'b', 'c', 'd');
    const step = fc.record({ holder: holders, what: fc.constantFrom('take', 'take', 'release', 'renew') });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.integer({ min: 0, max: 3 }), async (steps, limit) => {
        const name = fresh();
        const model = new Set<string>();
        for (const { holder, what } of steps) {
          if (what === 'take') {
            const others = model.size - (model.has(holder) ? 1 : 0);
            expect((await slot(name, limit, holder)).ok).toBe(others < limit);
            if (others < limit) model.add(holder);
          } else if (what === 'release') {
            await open().release({ holder, names: [name] });
            model.delete(holder);
          } else {
            await open().renew([{ holder, names: [name] }], TTL_MS);
            model.add(holder);
          }
          expect(await open().inUse([name])).toEqual([model.size]);
        }
      }),
      { numRuns: 15, seed: 41 },
    );
  });
}
