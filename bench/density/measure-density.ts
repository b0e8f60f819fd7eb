/**
 * The whole measurement: repetitions of all rows in turn, so that a slow spell of the machine falls on all of them, and
 * the searches for the knees after them. A run that fails is told and is void; the others go on. Called by `main.ts`.
 */
import { toolFacts } from '../load/run/tool-facts.ts';
import { readMachine } from '../load/usage/machine-facts.ts';
import type { DensityResult, DensityRow, RowRun, ServiceKnee } from './density-result.ts';
import { heldMemory } from './held-memory.ts';
import { type DensityKind, KNEE_LIMITS, kneeWorkloadOf, workloadOf } from './kinds.ts';
import { missingBecause } from './opus-builds.ts';
import { besideMs, callsACore, kneeLimitsOf, serviceMs, spreadOf, validRuns } from './reckon.ts';
import { rowRunOf, serviceKneeOf } from './row-run.ts';
import { runLoad } from './run-load.ts';
import { SOCKET_SUBJECTS, socketKnee, socketRun } from './sockets.ts';

export interface DensityOptions {
  kinds: readonly DensityKind[];
  repetitions: number;
  /** How often each edge of a service's knee is tried, and each knee of sockets searched; 0: no knees. */
  kneeRepetitions: number;
  isQuick: boolean;
  /** False: rows alone. */
  withSockets: boolean;
  /** What calls hold, by a run of its own for each row. */
  withMemory: boolean;
  dataDir: string;
  /** Nothing more is begun. */
  signal: AbortSignal;
  say(line: string): void;
}

/** Of a whole repetition, so the others would be void too: why its first row was. */
export class NothingJudged extends Error {
  override name = 'NothingJudged';
}

/** Throws where it is stopped, and `NothingJudged`. */
export async function measureDensity(options: DensityOptions): Promise<DensityResult> {
  const { kinds, repetitions, signal, say } = options;
  const beganAtMs = performance.now();
  const startedAt = new Date().toISOString();
  const machine = await readMachine();
  const rows = kinds.map((kind): DensityRow => {
    const { id, agent, codec, calls, callSeconds, noKneeBecause } = kind;
    return {
      id,
      agent,
      codec,
      calls,
      callSeconds,
      noKneeBecause,
      missingBecause: missingBecause(kind),
      runs: [],
      held: null,
      knee: null,
    };
  });
  const there = rows.filter((row) => row.missingBecause === null);
  const sockets: DensityResult['sockets'] = { runs: [], knees: [] };
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    for (const row of there) {
      signal.throwIfAborted();
      const run = await rowRun(kindOf(kinds, row), repetition, options);
      row.runs.push(run);
      say(`${repetition} of ${repetitions}, ${row.agent}, ${row.codec}: ${toldOf(run)}`);
    }
    const [row] = there;
    if (row !== undefined && there.every(({ runs }) => runs.every(({ voidBecause }) => voidBecause !== null))) {
      throw new NothingJudged(row.runs[0]!.voidBecause!);
    }
    for (const name of options.withSockets ? Object.keys(SOCKET_SUBJECTS) : []) {
      signal.throwIfAborted();
      const run = await socketRun(name, repetition);
      sockets.runs.push(run);
      say(
        `${repetition} of ${repetitions}, sockets of ${run.subject}: ${run.voidBecause ?? `${run.cpuMs.toFixed(2)} ms`}`,
      );
    }
  }
  for (const row of options.withMemory ? there : []) {
    signal.throwIfAborted();
    row.held = await held(row, kindOf(kinds, row), options);
  }
  if (options.kneeRepetitions > 0) {
    for (const row of there) {
      signal.throwIfAborted();
      if (row.noKneeBecause === null) row.knee = await serviceKnee(row, kindOf(kinds, row), machine.cores, options);
    }
    for (let again = 0; options.withSockets && again < options.kneeRepetitions; again++) {
      for (const name of Object.keys(SOCKET_SUBJECTS)) {
        signal.throwIfAborted();
        const knee = await socketKnee(name);
        sockets.knees.push(knee);
        say(`knee of ${knee.subject}: ${knee.calls} calls (${knee.brokeBy})`);
      }
    }
  }
  return {
    ...{ format: 'parley-density', version: 1, startedAt, tookMs: performance.now() - beganAtMs },
    ...{ repetitions, isQuick: options.isQuick, tool: toolFacts(), machine, rows, sockets },
  };
}

const kindOf = (kinds: readonly DensityKind[], { id }: DensityRow): DensityKind =>
  kinds.find((kind) => kind.id === id)!;

async function rowRun(kind: DensityKind, repetition: number, options: DensityOptions): Promise<RowRun> {
  const { dataDir, signal } = options;
  try {
    return rowRunOf(await runLoad(kind, workloadOf(kind), dataDir), repetition);
  } catch (error) {
    signal.throwIfAborted();
    return {
      ...{ repetition, voidBecause: (error as Error).message, noise: null, talked: 0, mostAtOnce: 0 },
      ...{ processes: [], threads: [], residentBytesPerCall: null, commitsPerCall: null, walBytesPerCall: null },
      ...{ frameLateP99Ms: null, realTimeShareMean: null, replyP95Ms: null },
    };
  }
}

function toldOf(run: RowRun): string {
  const disturbed = run.noise === null ? '' : ` (${run.noise})`;
  return run.voidBecause === null
    ? `${serviceMs(run).toFixed(2)} ms CPU a call-second${disturbed}`
    : `void, ${run.voidBecause}${disturbed}`;
}

async function held(row: DensityRow, kind: DensityKind, { dataDir, say }: DensityOptions): Promise<DensityRow['held']> {
  try {
    const found = await heldMemory(kind, dataDir);
    say(`memory of ${row.agent}, ${row.codec}: ${(found.liveBytesPerCall / 1_000).toFixed(0)} kB live a call`);
    return found;
  } catch (error) {
    say(`memory of ${row.agent}, ${row.codec}: not told, ${(error as Error).message}`);
    return null;
  }
}

/** More at once than any of these machines carries. */
const MOST_AT_ONCE = 400;
/** Of what all cores would carry by the measured cost, with far ends and emulators on them: where the search begins. */
const FIRST_SHARE = 0.5;

async function serviceKnee(
  row: DensityRow,
  kind: DensityKind,
  cores: number,
  { kneeRepetitions, dataDir, say }: DensityOptions,
): Promise<ServiceKnee | null> {
  const whole = spreadOf(validRuns(row).map((run) => serviceMs(run) + besideMs(run)));
  if (whole === null) return null;
  const from = Math.max(2, Math.round(FIRST_SHARE * cores * callsACore(whole.median)));
  const limits = kneeLimitsOf(validRuns(row), KNEE_LIMITS);
  const search = { from, to: Math.max(from * 2, MOST_AT_ONCE), repetitions: kneeRepetitions, limits };
  try {
    const { knee } = await runLoad(kind, kneeWorkloadOf(kind, search), dataDir);
    if (knee === null) return null;
    const found = serviceKneeOf(knee, limits);
    say(`knee of ${row.agent}: ${found.carried} calls, not ${found.notCarried} (${found.brokeBy.join('; ')})`);
    return found;
  } catch (error) {
    say(`knee of ${row.agent}: not found, ${(error as Error).message}`);
    return null;
  }
}
