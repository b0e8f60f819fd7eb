/** The tour as a test: what `npm run tour` shows, held row by row. The API part goes through the generated client. */
import { beforeAll, expect, test } from 'vitest';
import { type Outcome, runTour } from '../../bench/tour/run-tour.ts';

let outcomes: Outcome[] = [];
beforeAll(async () => {
  outcomes = await runTour(
    () => {},
    () => {},
  );
});

test('every row of the specification holds, and none is shown without a request and its answer', () => {
  const faults = outcomes.filter(({ fault }) => fault !== null).map(({ row, fault }) => `${row}: ${fault}`);
  expect(faults).toEqual([]);
  expect(outcomes.length).toBeGreaterThanOrEqual(70);
  expect(outcomes.filter(({ exchanges }) => exchanges.length === 0).map(({ row }) => row)).toEqual([]);
});
