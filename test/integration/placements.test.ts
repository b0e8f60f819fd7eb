/** The small form of `npm run bench -- placements`: 90 placements, 30 in 100 of them failed by the carrier in one of six ways. */
import { expect, test } from 'vitest';
import { createRandom } from '../../bench/harness/seeded-random.ts';
import { runPlacements } from '../../bench/placements/run.ts';

test('a carrier that times out, resets and succeeds late: no phone rings twice, none rings on after a 500', async () => {
  const report = await runPlacements({
    placements: 90,
    perSecond: 30,
    random: createRandom(20261121),
    repeatForMs: 10_000,
    endsWithinMs: 0,
    log: () => {},
  });
  expect(report.faults).toEqual([]);
  const dialled = report.outcomes.filter(({ planned }) => !['silent', 'reset'].includes(planned.way));
  expect(report.dialled).toBe(dialled.length);
  expect(report.outcomes.some(({ requests }) => requests > 2)).toBe(true);
});
