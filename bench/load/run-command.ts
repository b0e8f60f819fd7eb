/**
 * A run from its options to its exit code: reads the workload, starts the far ends, finds or starts the target, checks
 * it, runs, tells. The default command of `main.ts`. Whatever was started is stopped, however far it came.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunResult } from './contract/run-result.ts';
import { TargetFault } from './contract/target.ts';
import type { Workload } from './contract/workload.ts';
import { ConditionFault, type JudgedCondition, judgeCondition, parseCondition } from './result/fail-if.ts';
import { tableOf } from './result/table.ts';
import { descriptorFault } from './run/descriptor-limit.ts';
import { EXIT, exitCodeOf } from './run/exit-code.ts';
import { FarEndPool } from './run/far-end-pool.ts';
import { OwnLoad } from './run/own-load.ts';
import { Recorder } from './run/recorder.ts';
import { createRunClock, machineNowMs } from './run/run-clock.ts';
import { type RunParts, runWorkload } from './run/run-workload.ts';
import { searchKnee } from './run/search-knee.ts';
import { toolFacts } from './run/tool-facts.ts';
import { prepareOutput, writeResults } from './run/write-results.ts';
import type { RunFlags } from './run-flags.ts';
import { type ChosenTarget, chooseTarget } from './targets/choose-target.ts';
import { noiseWarnings, readMachine } from './usage/machine-facts.ts';
import { TargetUsage } from './usage/target-usage.ts';
import type { ReplayLogs } from './workload/arrivals.ts';
import { dryRunOf, figuresOf } from './workload/dry-run.ts';
import { readWorkload, scenarioPath, WorkloadFault } from './workload/read-workload.ts';
import { readReplayLog } from './workload/replay-log.ts';
import { phasesLastMs, planCalls, stepOfKnee } from './workload/schedule.ts';

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** The first call may be planned for the very beginning, and no process shall be late for it. */
const LEAD_MS = 200;

export async function runCommand(flags: RunFlags): Promise<number> {
  const stops: (() => unknown)[] = [];
  const interrupted = new AbortController();
  const interrupt = (): void => {
    if (interrupted.signal.aborted) {
      say('stopped at once; calls may ring on until their carrier ends them');
      process.exit(EXIT.interrupted);
    }
    say('\nstopping: every call is hung up (once more: at once)');
    interrupted.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  try {
    return await run(flags, stops, interrupted.signal);
  } catch (error) {
    if (interrupted.signal.aborted) return EXIT.interrupted;
    const isUse = error instanceof TargetFault || error instanceof WorkloadFault || error instanceof ConditionFault;
    say(isUse ? error.message : `the tool failed: ${error instanceof Error ? error.stack : String(error)}`);
    return isUse ? EXIT.wrongUse : EXIT.failed;
  } finally {
    // The newest first.
    for (const stop of stops.reverse()) await Promise.resolve(stop()).catch((error: unknown) => say(String(error)));
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}

async function run(flags: RunFlags, stops: (() => unknown)[], signal: AbortSignal): Promise<number> {
  const conditions = flags.failIf.map(parseCondition);
  const workload = withFlags(readWorkload(flags.workload ?? scenarioPath(flags.scenario)), flags);
  for (const condition of workload.knee?.unless ?? []) parseCondition(condition);
  const logs: ReplayLogs = new Map(
    workload.phases.flatMap((phase) => (phase.arrivals === 'replay' ? [[phase.path, readReplayLog(phase.path)]] : [])),
  );
  const first = workload.knee === undefined ? workload : stepOfKnee(workload, workload.knee.from, workload.seed);
  const figures = figuresOf(planCalls(first, logs), phasesLastMs(first, logs));
  if (flags.dryRun) {
    process.stdout.write(dryRunOf(workload, figures));
    return EXIT.well;
  }
  const mostAtOnce = Math.min(workload.mostAtOnce, mostOf(workload, figures.mostAtOnce));
  const processes = Math.max(1, Math.round(Number(flags.processes)) || 1);
  const fault = descriptorFault(mostAtOnce, processes);
  if (fault !== null) throw new TargetFault(fault);
  if (workload.restartsAtSeconds.length > 0 && flags.restartCommand === undefined) {
    throw new TargetFault(
      `${workload.name} restarts the target at ${workload.restartsAtSeconds.join(', ')} s: say how with --restart-command "<command>"`,
    );
  }
  const out = prepareOutput(flags.out);
  const soundFolder = flags.sound ? mkdtempSync(join(tmpdir(), 'parley-load-')) : null;
  if (soundFolder !== null) stops.push(() => rmSync(soundFolder, { recursive: true, force: true }));

  const openedAtMs = machineNowMs();
  const clock = createRunClock(openedAtMs);
  const callIds = new Map<number, string>();
  const recorders: Recorder[] = [];
  const chosen = await chooseTarget({
    flags,
    workload,
    soundFolder,
    processes,
    mostAtOnce,
    nowMs: clock.nowMs,
    say,
    onStop: (stop) => void stops.push(stop),
  });
  const pool = await FarEndPool.open(chosen.plans, openedAtMs, {
    second: (at, second) => {
      for (const recorder of recorders) recorder.ownSecond(`far end ${at + 1}`, second);
    },
    callId: ({ index }, callId) => void (callId !== null && callIds.set(index, callId)),
  });
  stops.push(() => pool.close());
  const target = await chosen.prepare(pool.carrierBases);
  stops.push(() => target.stop());
  if (target.deployment !== null) await pool.point(target.deployment);
  if (target.advice !== null) say(target.advice);
  await pool.check();
  const machine = await readMachine();
  if (signal.aborted) return EXIT.interrupted;

  const usage = new TargetUsage({
    processes: target.processes(),
    tool: [
      { name: 'tool', pid: () => process.pid, withChildren: false },
      ...pool.pids.map((pid, at) => ({ name: `tool: far end ${at + 1}`, pid: () => pid, withChildren: false })),
    ],
    metricsUrl: target.metricsUrl,
    metricsToken: flags.metricsToken ?? null,
    databaseUrl: target.databaseUrl,
  });
  await usage.begin();
  const ownLoad = new OwnLoad();
  const parts: RunParts = {
    pool,
    clock,
    usage,
    webhooks: target.webhooks,
    callIdOf(index) {
      const id = callIds.get(index) ?? null;
      callIds.delete(index);
      return id;
    },
    everySecond() {
      const second = ownLoad.take();
      for (const recorder of recorders) recorder.ownSecond('main', second);
    },
    restartCommand: flags.restartCommand ?? null,
    signal,
  };
  const limitMs = Number(flags.limitMs);
  const facts = { limitMs, tool: toolFacts(), machine, target: target.facts };
  const forget = (path: string): void => void unlink(path).catch(() => {});
  const recorder = new Recorder(workload, forget);
  recorders.push(recorder);
  const beganAtMs = machineNowMs() + LEAD_MS;
  await pool.begin(beganAtMs);
  clock.begin(beganAtMs);
  const startedAt = new Date().toISOString();
  let knee: RunResult['knee'] = null;
  let done: { incompleteBecause: string | null; warnings: string[] };
  if (workload.knee === undefined) {
    done = await runWorkload({ workload, logs, recorders, fromMs: 0, fromIndex: 0, step: null }, parts);
  } else {
    const searched = await searchKnee({ workload, logs, recorders, parts, facts });
    knee = searched.knee;
    done = searched;
  }
  const tookMs = clock.nowMs();
  const { calls, talkedMs } = recorder.figures;
  const used = await usage.finish(talkedMs / 1000, calls, recorder.mostLive);
  const result = recorder.finish({
    ...facts,
    complete: done.incompleteBecause === null,
    incompleteBecause: done.incompleteBecause,
    startedAt,
    tookMs,
    usage: used,
    knee,
    warnings: [...noiseWarnings(machine), ...done.warnings],
  });
  const judged = conditions.map((condition) => judgeCondition(condition, result));
  for (const line of usage.threads()) say(`processor time since its start by thread, ${line}`);
  return tell(result, judged, out, signal.aborted, chosen);
}

function tell(
  result: RunResult,
  conditions: readonly JudgedCondition[],
  out: string,
  isInterrupted: boolean,
  { kind }: ChosenTarget,
): number {
  process.stdout.write(`\n${tableOf(result, conditions)}\n`);
  const stamp = result.startedAt.replace(/[:.]/g, '-').slice(0, 19);
  const { paths, faults } = writeResults(result, conditions, out, `load-${result.workload.name}-${kind}-${stamp}`);
  for (const path of paths) process.stdout.write(`written: ${path}\n`);
  for (const fault of faults) say(fault);
  const code = exitCodeOf({ result, conditions, isInterrupted });
  return code === EXIT.well && faults.length > 0 ? EXIT.failed : code;
}

/** What options say stands over what the file says. */
function withFlags(workload: Workload, { seed, codec, publicKey, apiKey, stream, answerUrl }: RunFlags): Workload {
  const codecs = ['pcm16', 'mulaw', 'opus'] as const;
  const wanted = codecs.find((name) => name === codec);
  if (codec !== undefined && wanted === undefined) {
    throw new TargetFault(`--codec ${codec}: take one of ${codecs.join(', ')}`);
  }
  if (seed !== undefined && !/^\d{1,10}$/.test(seed)) throw new TargetFault(`--seed ${seed}: write a whole number`);
  const isForBrowsers = publicKey !== undefined && apiKey === undefined && !process.env['PARLEY_LOAD_API_KEY'];
  const isForStreams = stream !== undefined || answerUrl !== undefined;
  return {
    ...workload,
    seed: seed === undefined ? workload.seed : Number(seed),
    callers: workload.callers.map((caller) => ({
      ...caller,
      by: isForBrowsers ? 'browser' : isForStreams ? 'phone' : caller.by,
      codec: wanted ?? caller.codec,
    })),
  };
}

/** Of a search the greatest step, should it come to that. */
function mostOf({ knee }: Workload, planned: number): number {
  return knee?.of === 'calls' ? knee.to : planned;
}
