/**
 * A rotation of the master key under a running service, with calls that go on: the real `parley master-key rotate`,
 * killed twice when a third and two thirds are done, and once to its end. `npm run bench -- rotation` runs it with
 * 100,000 values, a test with some hundreds.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ScriptedAgent } from '../../media/contract/agent-definition.ts';
import { importAgent } from '../../src/agents/stored-agents.ts';
import { keysInFile } from '../../src/config/master-key-setting.ts';
import { masterKeyOf } from '../../src/sealing/master-keys.ts';
import { countSealed } from '../../src/sealing/reseal.ts';
import type { Database } from '../../src/store/database.ts';
import { briefAgent } from '../harness/brief-agent.ts';
import type { Gateway } from '../harness/gateway.ts';
import { PATIENCE_MS } from '../harness/patience.ts';
import { openPatientDatabase } from '../harness/patient-database.ts';
import { fillSealed, headOf, newCanary, openEverything, rowsWith } from './sealed-values.ts';

export interface RotationPlan {
  gateway: Gateway;
  dataDir: string;
  values: number;
  batch: number;
  pauseMs: number;
  /** Of the emulator: whoever answers and stays. */
  callee: string;
  said(line: string): void;
}

export interface RotationOutcome {
  values: number;
  /** How many lay under the new key when the command was killed. */
  killedAt: number[];
  /** Of the run that came to its end, as it told with `--json`. */
  report: { rotated: boolean; resealed: number; unreadable: Record<string, number> };
  /** Of all three runs, the kills and their starts included. */
  tookMs: number;
  formerKey: string;
  newKey: string;
  canary: string;
  /** Placed before the rotation, while it ran, and after it. */
  calls: { before: string; during: string[]; after: string };
  /** Answers to placements while it ran, ms. */
  placementsMs: number[];
  /** Tables with a row in which the canary can be read; with a value under the former key. */
  readable: string[];
  underFormerKey: string[];
  opened: { new: number; former: number; refused: string[] };
}

const LOOK_EVERY_MS = 20;
/**
 * A run is killed when so much is done. It cannot end before, however late that is seen: meanwhile somebody holds the
 * rows of these tables, a fifth of all values each, and a run passes over what is held and comes back for it.
 */
const KILLS = [
  { part: 1 / 3, held: ['past_line_credentials', 'clips', 'idempotency_keys'] },
  { part: 2 / 3, held: ['idempotency_keys'] },
] as const;
const COMMAND = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

/** `command`: the built command line. */
export async function rotateUnderCalls(plan: RotationPlan, command = COMMAND): Promise<RotationOutcome> {
  const { gateway, dataDir, said } = plan;
  const keyFile = join(dataDir, 'master.key');
  const [formerKey = ''] = keysInFile(keyFile);
  const database = openPatientDatabase(gateway.service.databaseUrl, 4);
  const canary = newCanary();
  let isOver = false;
  let placing: Promise<void> = Promise.resolve();
  let run: Run | undefined;
  try {
    const [workspace] = await database.query<{ id: string }>('SELECT id FROM workspaces WHERE slug = $1', [
      gateway.enterprise,
    ]);
    const ids = { workspaceId: workspace!.id, agentId: gateway.agentId, lineId: gateway.lineId };
    const values = await fillSealed(database, { values: plan.values, masterKeyHex: formerKey, canary, ...ids });
    said(`${values} values sealed under the former key`);
    const patient = await importAgent(database, { slug: gateway.enterprise, definition: patientAgent() });
    const before = await place(plan, patient.id);
    await gateway.client.waitFor(before, 'the agent’s first turn', ({ turns }) => turns.length > 0);
    const during: string[] = [];
    const placementsMs: number[] = [];
    placing = (async () => {
      while (!isOver) {
        const fromMs = performance.now();
        const callUuid = await place(plan);
        placementsMs.push(performance.now() - fromMs);
        during.push(callUuid);
        await gateway.client.waitFor(callUuid, 'its end', ({ endedAt }) => endedAt !== null);
      }
    })();
    // Whoever waits for it is told; until then it is no stray rejection.
    placing.catch(() => {});

    const fromMs = performance.now();
    const killedAt: number[] = [];
    for (const { part, held } of KILLS) {
      const under = await database.transaction(async (holder) => {
        for (const table of held) await holder.query(`SELECT 1 FROM ${table} FOR NO KEY UPDATE`);
        run = start(command, plan);
        const reached = await untilUnderNewKey(database, keyFile, values * part, run.child);
        run.child.kill('SIGKILL');
        await run.ended;
        return reached;
      });
      killedAt.push(under);
      said(`killed when ${under} lay under the new key`);
    }
    run = start(command, plan);
    const { code, output, errors } = await run.ended;
    const tookMs = performance.now() - fromMs;
    isOver = true;
    await placing;
    if (code !== 0) throw new Error(`the rotation ended with ${code}: ${errors}${output}`);
    const after = await place(plan);
    const [newKey = '', rest] = readFileSync(keyFile, 'utf8').trim().split('\n');
    if (rest !== undefined) throw new Error('the former key is still in the file');
    const anew = await openEverything(database, newKey, canary);
    return {
      values,
      killedAt,
      report: JSON.parse(output) as RotationOutcome['report'],
      tookMs,
      formerKey,
      newKey,
      canary,
      calls: { before, during, after },
      placementsMs,
      readable: await rowsWith(database, [Buffer.from(canary)]),
      underFormerKey: await rowsWith(database, [headOf(formerKey)]),
      opened: {
        new: anew.canaries,
        former: (await openEverything(database, formerKey, canary)).opened,
        refused: anew.refused,
      },
    };
  } finally {
    isOver = true;
    run?.child.kill('SIGKILL');
    await Promise.allSettled([run?.ended, placing]);
    await database.close();
  }
}

interface Run {
  child: ChildProcess;
  ended: Promise<{ code: number | null; output: string; errors: string }>;
}

/** As an operator does it on the machine of the service: the data folder says where everything is. */
function start(command: string, { dataDir, batch, pauseMs }: RotationPlan): Run {
  const words = ['--json', 'master-key', 'rotate', '--batch', String(batch), '--pause', String(pauseMs)];
  const environment = { PATH: process.env['PATH'], PARLEY_DATA_DIR: dataDir };
  const child = spawn(process.execPath, [command, ...words], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = new Promise<Awaited<Run['ended']>>((resolve) => {
    child.once('close', (code) => resolve({ code, output, errors }));
  });
  return { child, ended };
}

/** The command writes both keys into the file before it seals anything under the new one. */
async function untilUnderNewKey(
  database: Database,
  keyFile: string,
  wanted: number,
  child: ChildProcess,
): Promise<number> {
  for (const untilMs = performance.now() + PATIENCE_MS; performance.now() < untilMs; await wait(LOOK_EVERY_MS)) {
    if (child.exitCode !== null) throw new Error(`the rotation ended with ${child.exitCode} before it could be killed`);
    const keys = keysInFile(keyFile);
    if (keys.length < 2) continue;
    const counts = await countSealed(database, masterKeyOf(keys[0]!));
    const under = counts.reduce((sum, one) => sum + one.under, 0);
    if (under >= wanted) return under;
  }
  throw new Error('the rotation did not get on');
}

async function place({ gateway, callee }: RotationPlan, agentId = gateway.agentId): Promise<string> {
  const { client, enterprise, lineId } = gateway;
  const { httpStatus, body } = await client.place({ to: callee, agentId, enterprise, from: lineId, name: 'Dana' });
  if (body.callUuid === undefined) throw new Error(`a call was refused with ${httpStatus}: ${body.message}`);
  return body.callUuid;
}

/** Waits for an answer for as long as a rotation may take. */
function patientAgent(): ScriptedAgent {
  const { steps: _steps, ...brief } = briefAgent();
  return {
    ...brief,
    name: 'Patient',
    steps: [
      { id: 'ask', say: 'Hello?', expect: 'open', replies: [{ intent: 'done', phrases: ['goodbye'], goto: 'bye' }] },
      { id: 'bye', say: 'Goodbye.', end: { reason: 'agent_hangup' } },
    ],
    idle: { promptAfterMs: 240_000, say: ['Hello?'], endAfterMs: 300_000 },
  };
}
