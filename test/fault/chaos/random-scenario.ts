/**
 * `npm run fault -- chaos random`: a workload, a nemesis and a checker that know nothing of each other, put together.
 * Everything that is random comes from one seed. The small form of it runs in the tests.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Gateway, startGateway } from '../../../bench/harness/gateway.ts';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { percentile } from '../../../bench/harness/percentile.ts';
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import type { ScriptedAgent, ToneAgent } from '../../../media/contract/agent-definition.ts';
import { importAgent } from '../../../src/agents/stored-agents.ts';
import type { Database } from '../../../src/store/database.ts';
import { placeDatabase } from '../../../src/supervisor/postgres/placement.ts';
import { gatherHistory } from '../judge/gather-history.ts';
import type { History, PlacementSeen } from '../judge/history.ts';
import { checkHistory, type Violation } from '../judge/history-checker.ts';
import { runNemesis } from '../nemesis/nemesis.ts';
import { type NemesisStep, planRounds } from '../nemesis/nemesis-plan.ts';
import { slowDatabase } from '../nemesis/slow-database.ts';
import { mountSmallDisk } from '../nemesis/small-disk.ts';
import { injectable } from '../nemesis/thread-faults.ts';
import { countingAgent } from './counting-agent.ts';
import { startFollowers } from './followers.ts';
import { personasOf, planWorkload, runWorkload, TALKS } from './workload.ts';

export interface RandomScenarioOptions {
  seed: number;
  calls: number;
  /** In which the calls are placed. */
  durationMs: number;
  nemesisEveryMs: number;
  /** In place of the seed's schedule. */
  steps?: readonly NemesisStep[];
  /** Each statement takes so much longer while a step says so. */
  databaseLateMs?: number;
  /** Calls whose events somebody follows. */
  followed?(number: string): boolean;
  /** The database lies on a disk of so much, which a step may fill. */
  databaseDiskMb?: number;
  say(line: string): void;
}

export interface RandomReport {
  seed: number;
  violations: Violation[];
  history: History;
  nemesisMissed: number;
  /** What followers saw, in a line. */
  followers: string;
}

const MEDIA_PROCESSES = 2;
/** The longest timer of a call is that of an unknown submission: 60 s after 15 s. */
const SETTLE_LIMIT_MS = 130_000;

const toneAgent: ToneAgent = { kind: 'tone', name: 'Tone', direction: 'outbound', toneHz: 440 } as ToneAgent;
/** One part of three: the whole takes 5 s. */
const shortAgent: ScriptedAgent = {
  ...countingAgent,
  steps: [{ ...countingAgent.steps[0]!, goto: 'bye' }, countingAgent.steps.at(-1)!],
};

export async function runRandomScenario(options: RandomScenarioOptions): Promise<RandomReport> {
  const { seed, calls, durationMs, say } = options;
  Object.assign(process.env, injectable());
  const random = createRandom(seed);
  const workload = planWorkload({ calls, durationMs, random });
  const { nemesisEveryMs: everyMs } = options;
  const nemesis = options.steps ?? planRounds({ durationMs, everyMs, mediaProcesses: MEDIA_PROCESSES, random });
  const slow = options.databaseLateMs === undefined ? undefined : slowDatabase(options.databaseLateMs);
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-chaos-'));
  const { databaseDiskMb } = options;
  const smallDisk =
    databaseDiskMb === undefined ? undefined : mountSmallDisk(placeDatabase(dataDir).home, databaseDiskMb);
  const gateway = await startGateway({
    dataDir,
    agent: shortAgent,
    personas: personasOf(),
    settings: { PARLEY_MEDIA_PROCESSES: String(MEDIA_PROCESSES), PARLEY_PIPELINE_THREADS: '1' },
    concurrentCalls: 1_000,
    callsPerSecond: 500,
    ...(slow && { controlEnv: slow.env }),
    keepAudio: false,
    log: () => {},
    childOutput: () => {},
  });
  const database = openPatientDatabase(gateway.service.databaseUrl, 2);
  try {
    const tone = await importAgent(database, { slug: gateway.enterprise, definition: toneAgent });
    const agentFor = (number: string): string => (number.startsWith(TALKS) ? gateway.agentId : tone.id);
    const followers = startFollowers(gateway.client);
    const placed = ({ number, callUuid }: PlacementSeen): void => {
      if (callUuid !== null && options.followed?.(number)) followers.follow(callUuid);
    };
    const [placements, missed] = await Promise.all([
      runWorkload(gateway, workload, agentFor, placed),
      runNemesis(
        { service: gateway.service, ...(slow && { slowDatabase: slow }), ...(smallDisk && { smallDisk }) },
        nemesis,
        say,
      ),
    ]);
    const history = await settledHistory(gateway, database, placements);
    const { violations: ofFollowers, said } = await followers.judged(database);
    const violations = [...checkHistory(history), ...ofFollowers];
    return { seed, violations, history, nemesisMissed: missed, followers: said };
  } finally {
    await database.close();
    await gateway.stop();
    smallDisk?.unmount();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Waits until nothing more is to come: each call over and analysed, each event received, each phone on the hook. */
export async function settledHistory(
  gateway: Pick<Gateway, 'receiver' | 'emulator'>,
  database: Database,
  placements: readonly PlacementSeen[],
): Promise<History> {
  for (const untilMs = performance.now() + SETTLE_LIMIT_MS; ; await wait(1_000)) {
    const history = await gatherHistory({
      database,
      placements,
      received: gateway.receiver.received(),
      emulated: await gateway.emulator.calls(),
    }).catch((error: unknown) => (performance.now() > untilMs ? Promise.reject(error) : null));
    if (history === null) continue;
    const isSettled =
      history.calls.length > 0 &&
      history.calls.every(({ status }) => ['completed', 'no_answer', 'failed'].includes(status)) &&
      history.events.every(({ id, state }) => state === 'delivered' && history.received.some((one) => one.id === id)) &&
      (await database.query('SELECT 1 FROM analysis_jobs LIMIT 1')).length === 0 &&
      history.phones.every(({ isOver }) => isOver);
    if (isSettled || performance.now() > untilMs) return history;
  }
}

/** What a person wants to know of a run, in a few lines. */
export function describeHistory(history: History): string[] {
  const ends = new Map<string, number>();
  for (const { status, endedReason } of history.calls) {
    const end = `${status}/${endedReason}`;
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  const backMs = history.phones
    .flatMap(({ streams }) =>
      streams.slice(1).map((stream, at) => stream.openedAtEpochMs - (streams[at]!.closedAtEpochMs ?? Number.NaN)),
    )
    .filter((ms) => ms >= 0)
    .sort((a, b) => a - b)
    .map((ms) => Math.round(ms));
  const back = [0.5, 0.95, 1].map((part) => `${percentile(backMs, part)} ms`);
  const cameBack = backMs.length === 0 ? '' : ` after p50 ${back[0]}, p95 ${back[1]}, longest ${back[2]}`;
  const repeated = history.received.length - new Set(history.received.map(({ id }) => id)).size;
  const answers = new Map<string, number>();
  for (const { httpStatus } of history.placements) {
    answers.set(String(httpStatus), (answers.get(String(httpStatus)) ?? 0) + 1);
  }
  return [
    `${history.placements.length} calls asked for, ${listOf(answers)}; tries ${history.placements.reduce((sum, { tries }) => sum + tries, 0)}`,
    `${history.calls.length} calls: ${listOf(ends)}`,
    `${backMs.length} streams came back${cameBack}`,
    `${history.events.length} events, ${history.received.length} received, ${repeated} of them repetitions`,
  ];
}

function listOf(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([what, count]) => `${count} × ${what}`)
    .join(', ');
}
