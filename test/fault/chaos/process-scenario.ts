/**
 * `npm run fault -- chaos processes`: one fault at a time under calls that talk: media, control and the database, each
 * killed, stopped for 4 s and told to end; what became of the calls, and how many came back after how long.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Gateway, startGateway } from '../../../bench/harness/gateway.ts';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { readRuntimeFile } from '../../../src/config/operator-settings.ts';
import { probe } from '../../../src/doctor/http-probe.ts';
import type { PlacementSeen } from '../judge/history.ts';
import { checkHistory, violationLines } from '../judge/history-checker.ts';
import { runNemesis } from '../nemesis/nemesis.ts';
import { describeStep, type NemesisStep } from '../nemesis/nemesis-plan.ts';
import { COUNTED, countingAgent } from './counting-agent.ts';
import { describeHistory, settledHistory } from './random-scenario.ts';

export interface ProcessScenarioOptions {
  calls: number;
  say(line: string): void;
}

const FAULTS: readonly Pick<NemesisStep, 'victim' | 'act'>[] = (['media', 'control', 'database'] as const).flatMap(
  (victim) => (['kill', 'stand_still', 'end'] as const).map((act) => ({ victim, act })),
);
const STAND_STILL_MS = 4_000;
const ANSWER_LIMIT_MS = 60_000;
const READY_LIMIT_MS = 60_000;

/**
 * True when no history breaks a rule, and each fault met its victim: of a fault that did not, a history says nothing.
 */
export async function runProcessScenario({ calls, say }: ProcessScenarioOptions): Promise<boolean> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-chaos-processes-'));
  const gateway = await startGateway({
    dataDir,
    agent: countingAgent,
    personas: [{ kind: 'silent', name: 'silent', number: '+1415551*', ringMs: 100 }],
    settings: { PARLEY_MEDIA_PROCESSES: '2', PARLEY_PIPELINE_THREADS: '1' },
    concurrentCalls: calls * 2,
    callsPerSecond: 500,
    keepAudio: false,
    log: () => {},
    childOutput: () => {},
  });
  const database = openPatientDatabase(gateway.service.databaseUrl, 2);
  let broken = 0;
  try {
    for (const [round, fault] of FAULTS.entries()) {
      const step: NemesisStep = { ...fault, atMs: 0, index: 0, forMs: STAND_STILL_MS };
      const placements = await placeAll(gateway, calls, round);
      const wanted = placements.map(({ callUuid }) => callUuid);
      for (const untilMs = performance.now() + ANSWER_LIMIT_MS; ; await wait(50)) {
        const rows = await database.query(
          `SELECT DISTINCT call_uuid FROM call_turns WHERE call_uuid = ANY ($1::uuid[])`,
          [wanted],
        );
        if (rows.length === calls) break;
        if (performance.now() > untilMs) throw new Error(`only ${rows.length} of ${calls} calls talk`);
      }
      const missed = await runNemesis({ service: gateway.service }, [step], () => {});
      const history = await settledHistory(gateway, database, placements);
      const violations = checkHistory(history);
      const whole = await database.query<{ callUuid: string; heard: string }>(
        `SELECT call_uuid AS "callUuid", string_agg(turn ->> 'heardText', ' ' ORDER BY position) AS heard
           FROM call_turns WHERE call_uuid = ANY ($1::uuid[]) GROUP BY call_uuid`,
        [wanted],
      );
      const full = whole.filter(({ heard }) => COUNTED.every((sentence) => heard.includes(sentence))).length;
      say(
        `${describeStep(step)}: ${violations.length} violations, ${full} of ${calls} transcripts hold all that was to be said`,
      );
      for (const line of describeHistory(history)) say(`    ${line}`);
      for (const line of violationLines(violations)) say(`    BROKEN ${line}`);
      if (missed > 0) say('    BROKEN the fault found its victim gone');
      broken += violations.length + missed;
      await untilReady(dataDir);
    }
  } finally {
    await database.close();
    await gateway.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  return broken === 0;
}

async function placeAll(gateway: Gateway, calls: number, round: number): Promise<PlacementSeen[]> {
  const { agentId, enterprise, lineId } = gateway;
  return Promise.all(
    Array.from({ length: calls }, async (_, at) => {
      // Not all in one tick: nobody's callers ring in one.
      await wait(at * 20);
      const number = `+1415551${round}${String(at).padStart(3, '0')}`;
      const { httpStatus, body } = await gateway.client.place({ to: number, agentId, enterprise, from: lineId });
      return { number, httpStatus, callUuid: body.callUuid ?? null, tries: 1 };
    }),
  );
}

async function untilReady(dataDir: string): Promise<void> {
  for (const untilMs = performance.now() + READY_LIMIT_MS; performance.now() < untilMs; await wait(200)) {
    const { runDir = '' } = readRuntimeFile(join(dataDir, 'runtime.json'));
    const found = await probe('http://localhost/readyz', { socketPath: join(runDir, 'operator.sock') });
    if (found.ok && found.status === 200 && found.body.includes('2 connected')) return;
  }
  throw new Error('the service was not whole again');
}
