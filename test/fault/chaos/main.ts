/**
 * `npm run fault -- chaos [scenario]`: parts of the real service die under calls, and what became of each call is
 * checked.
 *
 *   threads    [--conversations 20]      a pipeline thread dies in each of five ways under conversations
 *   processes  [--calls 100]             media, control and the database are killed, stopped, or ended under calls
 *   random     [--seed N] [--calls 1000] random deaths of everything under calls good and bad (the default)
 *   recordings [--seed N] [--calls 20]   a media process is killed at a random moment of each call: what is left of it
 *   luck       [disk | descriptors | database | slow | full | batch]  a full disk, no descriptors, 300 calls with the
 *                                               database away for 60 s, 200 ms late with each statement, its disk full;
 *                                               a media process killed each 4 s while calls talk; as root
 *
 * Exits with 1 when a call was lost, a turn is missing or the history breaks a rule. Linux only.
 */
import { randomInt } from 'node:crypto';
import { readOptions } from '../../../bench/harness/options.ts';
import { violationLines } from '../judge/history-checker.ts';
import { runFullDisk, runNoDescriptors } from './luck-scenario.ts';
import { runProcessScenario } from './process-scenario.ts';
import { describeHistory, type RandomScenarioOptions, runRandomScenario } from './random-scenario.ts';
import { describeRecordings, runRecordingScenario } from './recording-scenario.ts';
import { runThreadScenario } from './thread-scenario.ts';

const { values, positionals } = readOptions({
  command: 'npm run fault -- chaos [threads|processes|random|recordings|luck]',
  about:
    'Parts of the service die under calls, and what became of each call is checked.\n' +
    "luck [disk|descriptors|database|slow|full|batch]: what is nobody's death; database: away for 60 s, slow: 200 ms a\n" +
    'statement, full: its disk, batch: a media process killed between two batches; every other call is followed.',
  positionals: true,
  options: {
    conversations: { type: 'string', default: '20' },
    calls: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    seconds: { type: 'string', default: '140' },
  },
  meanings: {
    conversations: '<N> of threads',
    calls: '<N> calls',
    seed: '<N> of the random scenario: the same deaths again',
    seconds: '<N> of the random scenario',
  },
});
const NEMESIS_EVERY_MS = 7_000;
/** 60 s without an answer, which is worse than a refusal. */
const DATABASE_AWAY = {
  nemesisEveryMs: 0,
  steps: [{ atMs: 10_000, victim: 'database', act: 'stand_still', index: 0, forMs: 60_000 }],
} as const;
/** As long, 200 ms late with each statement. */
const DATABASE_SLOW = {
  nemesisEveryMs: 0,
  databaseLateMs: 200,
  steps: [{ atMs: 10_000, victim: 'database', act: 'slow', index: 0, forMs: 60_000 }],
} as const;
/** For 20 s: it can neither write nor, where its log does not fit, live. */
const DATABASE_FULL = {
  nemesisEveryMs: 0,
  databaseDiskMb: 400,
  steps: [{ atMs: 10_000, victim: 'database', act: 'full', index: 0, forMs: 20_000 }],
} as const;
/** Between two batches of what its calls told: those that are followed wait 100 ms, the others seconds. */
const MEDIA_KILLED = {
  nemesisEveryMs: 0,
  steps: Array.from({ length: 18 }, (_none, at) => {
    return { atMs: 10_000 + at * 4_000, victim: 'media', act: 'kill', index: at % 2, forMs: 0 } as const;
  }),
};
/** Every other call, so that both kinds of batch are met. */
const isFollowed = (number: string): boolean => Number(number.at(-1)) % 2 === 0;
const say = (line: string): void => console.log(line);

async function run(scenario: string): Promise<boolean> {
  switch (scenario) {
    case 'threads':
      return runThreadScenario({ conversations: Number(values.conversations), say });
    case 'processes':
      return runProcessScenario({ calls: Number(values.calls ?? 100), say });
    case 'random':
      say(`seed ${values.seed}`);
      return runAndJudge({
        calls: Number(values.calls ?? 1000),
        durationMs: Number(values.seconds) * 1000,
        nemesisEveryMs: NEMESIS_EVERY_MS,
      });
    case 'recordings':
      say(`seed ${values.seed}`);
      return runRecordings(Number(values.calls ?? 20));
    case 'luck':
      return runLuck(positionals[1] ?? 'all');
    default:
      throw new Error(`no scenario "${scenario}": threads, processes, random, recordings, luck`);
  }
}

async function runRecordings(calls: number): Promise<boolean> {
  const report = await runRecordingScenario({ calls, seed: Number(values.seed), say });
  for (const line of describeRecordings(report)) say(line);
  return report.faults.length === 0 && report.lostMs.length >= calls;
}

async function runLuck(only: string): Promise<boolean> {
  const known = ['all', 'disk', 'descriptors', 'database', 'slow', 'full', 'batch'];
  if (!known.includes(only)) throw new Error(`no luck "${only}": ${known.join(', ')}`);
  const wants = (name: string): boolean => only === 'all' || only === name;
  const disk = !wants('disk') || (await runFullDisk(say));
  const descriptors = !wants('descriptors') || (await runNoDescriptors(say));
  const calls = Number(values.calls ?? 300);
  const judged = (options: Pick<RandomScenarioOptions, 'nemesisEveryMs' | 'steps'>): Promise<boolean> =>
    runAndJudge({ calls, durationMs: 90_000, followed: isFollowed, ...options });
  const database = !wants('database') || (await judged(DATABASE_AWAY));
  const slow = !wants('slow') || (await judged(DATABASE_SLOW));
  const full = !wants('full') || (await judged(DATABASE_FULL));
  const batch = !wants('batch') || (await judged(MEDIA_KILLED));
  return disk && descriptors && database && slow && full && batch;
}

async function runAndJudge(options: Omit<RandomScenarioOptions, 'seed' | 'say'>): Promise<boolean> {
  const { violations, history, nemesisMissed, followers } = await runRandomScenario({
    ...options,
    seed: Number(values.seed),
    say,
  });
  for (const line of describeHistory(history)) say(line);
  if (options.followed !== undefined) say(followers);
  say(`${violations.length} violations; ${nemesisMissed} faults found their victim gone`);
  for (const line of violationLines(violations)) say(`  BROKEN ${line}`);
  return violations.length === 0;
}

const passed = await run(positionals[0] ?? 'random');
say(passed ? 'passed' : 'FAILED');
process.exit(passed ? 0 : 1);
