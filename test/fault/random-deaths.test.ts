/**
 * The small form of `npm run fault -- chaos random`: 90 calls, good and bad, while control, the database, a media
 * process and a pipeline thread die at moments of one fixed seed; a checker that sees only what everybody saw judges
 * the history.
 */
import { expect, test } from 'vitest';
import { describeHistory, runRandomScenario } from './chaos/random-scenario.ts';

const SEED = 20_261;

test.skipIf(process.platform !== 'linux')(
  '90 calls under 4 deaths: each has one end and one terminal event, no webhook is lost or invented, no phone rings twice',
  async () => {
    const before = process.env['NODE_OPTIONS'];
    const deaths: string[] = [];
    const { violations, history, nemesisMissed } = await runRandomScenario({
      seed: SEED,
      calls: 90,
      durationMs: 18_000,
      nemesisEveryMs: 3_500,
      say: (line) => deaths.push(line),
    }).finally(() => {
      if (before === undefined) delete process.env['NODE_OPTIONS'];
      else process.env['NODE_OPTIONS'] = before;
    });
    expect(violations, [...deaths, ...describeHistory(history)].join('\n')).toEqual([]);
    expect(deaths.length).toBeGreaterThanOrEqual(4);
    expect(nemesisMissed, deaths.join('\n')).toBeLessThan(deaths.length);
    expect(history.calls.length).toBeGreaterThanOrEqual(85);
  },
);
