/**
 * The small form of `npm run fault -- history`: webhooks of the real service under a seeded nemesis, on both queues at
 * once. The checker's own faults are planted in `test/unit/fault/judge/history-checker.test.ts`.
 */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { PATIENCE_MS } from '../../bench/harness/patience.ts';
import { runHistory } from './history/run.ts';
import { EVENTS_PER_TERMINATION } from './history/terminations.ts';
import { violationLines } from './judge/history-checker.ts';

/** A guard against hanging: two storms, and then what is owed, which has a guard of its own. */
const LIMIT_MS = 3 * PATIENCE_MS;
const EVENTS = 1_000;
const CALLS = 12;
const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0;
const QUEUES = HAS_REDIS ? (['postgres', 'redis'] as const) : (['postgres'] as const);
const anew = Date.now() % 1_000_000;
/** One for each queue, by turns: any seed's schedule has each kind of death and outage. */
const seeds = anew % 2 === 0 ? [1, anew] : [anew, 1];
const storms = HAS_REDIS ? QUEUES.map((queue, at) => ({ queue, seeds: [seeds[at]!] })) : [{ queue: QUEUES[0], seeds }];

test(
  `1,000 events a seed and more through deaths of every process and outages, ${storms.map((one) => `on ${one.queue} with seed ${one.seeds.join(' and ')}`).join(', ')}: none lost or invented, in order, one end a call, all signed`,
  async () => {
    const reports = await Promise.all(
      storms.map((storm) =>
        runHistory({
          ...storm,
          calls: CALLS,
          callsPerSecond: 2,
          terminations: EVENTS / EVENTS_PER_TERMINATION,
          log: () => {},
        }),
      ),
    );
    for (const report of reports.flat()) {
      expect(violationLines(report.violations), `seed ${report.seed}`).toEqual([]);
      expect(report.events).toBeGreaterThanOrEqual(EVENTS);
      // What outlasts a client's patience may be refused, not what was wrong with the request.
      expect(report.refusedWith.length, report.refusedWith.join(', ')).toBeLessThan(CALLS / 2);
      // Of three processes one at least was there to be killed.
      expect(report.missed, `seed ${report.seed}`).toBeLessThan(3);
    }
  },
  LIMIT_MS,
);
