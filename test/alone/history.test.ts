/**
 * Webhooks under a nemesis, on both queues: control, media, database and queue are killed, the receiver is away, ill and deaf. A
 * fixed seed and a random one (printed); `npm run bench -- history` has more seeds and 10,000 events of each.
 */
import { describe, expect, test } from 'vitest';
import { faultLines } from '../../bench/history/checker.ts';
import { runHistory } from '../../bench/history/run.ts';

const random = Math.floor(Math.random() * 1_000_000);
const SEEDS = [1, random];
/** How many there are depends on how long placements are refused after a death. */
const LEAST_EVENTS = 200;
const LIMIT_MS = 300_000;

// Together: most of a run is waiting for the timers of calls that were cut off.
describe.concurrent('under a nemesis', () => {
  test.each(['postgres', 'redis'] as const)(
    `nothing lost, nothing invented, in order, one end a call, all signed: queue on %s, seeds ${SEEDS.join(', ')}`,
    async (queue) => {
      const reports = await runHistory({ queue, seeds: SEEDS, calls: 360, callsPerSecond: 22, log: () => {} });
      for (const { seed, events, faults } of reports) {
        expect(faultLines(faults), `seed ${seed}`).toEqual([]);
        expect(events, `seed ${seed}`).toBeGreaterThanOrEqual(LEAST_EVENTS);
      }
    },
    LIMIT_MS,
  );
});
