/**
 * The small form of `npm run fault -- chaos recordings`: what three calls keep of their sound when their media process
 * is killed under each.
 */
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/test-database.ts';
import { settingsOn } from '../support/test-gateway.ts';
import { describeRecordings, runRecordingScenario } from './chaos/recording-scenario.ts';

/** Its first kill is 8.7 s after the agent is first heard. */
const SEED = 749;
/**
 * Generous, for a machine whose recorder stands still for seconds; of a file that is written every ten seconds the
 * first kill takes more. The bench judges by a second.
 */
const MOST_LOST_MS = 8_000;
const MOST_OFF_MS = 4_000;

test('3 calls whose media process is killed: one recording each, as long as the call, with the sound of each stream in it', async () => {
  const lines: string[] = [];
  const stored = await createTestDatabase();
  const report = await runRecordingScenario({
    calls: 3,
    seed: SEED,
    mostLostMs: MOST_LOST_MS,
    mostOffMs: MOST_OFF_MS,
    settings: settingsOn(stored),
    say: (line) => lines.push(line),
  }).finally(() => stored.close());
  expect(report.faults, [...lines, ...describeRecordings(report)].join('\n')).toEqual([]);
  expect(report.offMs).toHaveLength(3);
  expect(report.hits).toBe(3);
  expect(report.lostMs.length).toBeGreaterThanOrEqual(report.hits);
});
