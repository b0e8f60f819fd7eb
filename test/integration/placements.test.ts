/**
 * The small form of `npm run fault -- placements`: 90 placements, 30 in 100 of them failed by
 * the carrier in one of six ways.
 */
import { expect, test } from 'vitest';
import { PATIENCE_MS } from '../../bench/harness/patience.ts';
import { createRandom } from '../../bench/harness/seeded-random.ts';
import { runPlacements } from '../fault/placements/run.ts';
import { createTestDatabase } from '../support/test-database.ts';

test('a carrier that times out, resets and succeeds late: no phone rings twice, none rings on after a 500', async () => {
  const stored = await createTestDatabase();
  const report = await runPlacements({
    placements: 90,
    perSecond: 30,
    random: createRandom(20261121),
    // Both end with what they wait for.
    repeatForMs: PATIENCE_MS,
    ringMs: PATIENCE_MS,
    endsWithinMs: 0,
    databaseUrl: stored.connectionString,
    log: () => {},
  }).finally(() => stored.close());
  expect(report.faults).toEqual([]);
  const dialled = report.outcomes.filter(({ planned }) => !['silent', 'reset'].includes(planned.way));
  // Refused before it was dialled, which a busy machine may do; who has no key does not ask again.
  const refused = dialled.filter(
    ({ planned, httpStatus, callUuids }) =>
      httpStatus === 503 && planned.idempotencyKey === null && callUuids.size === 0,
  );
  expect(refused.length).toBeLessThan(dialled.length / 2);
  expect(report.dialled).toBe(dialled.length - refused.length);
  expect(report.outcomes.some(({ requests }) => requests > 2)).toBe(true);
});
