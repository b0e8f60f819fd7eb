/** The tour as a test: what `npm run tour` shows, held row by row. The API part goes through the generated client. */
import { beforeAll, expect, test } from 'vitest';
import { type Outcome, runTour } from '../../bench/tour/run-tour.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { settingsOn } from '../support/test-gateway.ts';

let outcomes: Outcome[] = [];
beforeAll(async () => {
  const stored = await createTestDatabase();
  outcomes = await runTour(
    () => {},
    () => {},
    settingsOn(stored),
  ).finally(() => stored.close());
});

test('every row of the specification holds, and none is shown without a request and its answer', () => {
  const faults = outcomes.filter(({ fault }) => fault !== null).map(({ row, fault }) => `${row}: ${fault}`);
  expect(faults).toEqual([]);
  expect(outcomes.length).toBeGreaterThanOrEqual(70);
  expect(outcomes.filter(({ exchanges }) => exchanges.length === 0).map(({ row }) => row)).toEqual([]);
});
