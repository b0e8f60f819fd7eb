import { expect, it } from 'vitest';
import { untilCallsAreOver } from '../../../src/lifecycle/until-calls-are-over.ts';
import type { Queryable } from '../../../src/store/database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

function rig(given: { placing?: number; carried?: number; isAway?: boolean }) {
  const clock = new VirtualClock();
  const state = { live: 0, placing: 0, carried: 0, isAway: false, ...given };
  const database = {
    query: async () => {
      if (state.isAway) throw new Error('away');
      return Array.from({ length: state.live }, () => ({ one: 1 }));
    },
  } as unknown as Queryable;
  let isOver = false;
  void untilCallsAreOver({
    database,
    clock,
    carried: () => state.carried,
    ownRuns: () => null,
    placing: () => state.placing,
  }).then(() => {
    isOver = true;
  });
  const later = async (): Promise<boolean> => {
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    clock.advanceMs(1_000);
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    return isOver;
  };
  return { state, later };
}

it('a service that is stopped waits for calls that live, and for those that wait for their turn and have no row yet', async () => {
  const { state, later } = rig({ placing: 1 });
  expect(await later()).toBe(false);
  Object.assign(state, { placing: 0, live: 1 });
  expect(await later()).toBe(false);
  state.live = 0;
  expect(await later()).toBe(true);
});

it('while the database is away it waits for what media processes carry', async () => {
  const { state, later } = rig({ isAway: true, carried: 1 });
  expect(await later()).toBe(false);
  state.carried = 0;
  expect(await later()).toBe(true);
});
