/**
 * A run from its options to its exit code: reads the workload, starts the far ends, finds or starts the target, checks
 * it, runs, tells. The default command of `main.ts`. Whatever was started is stopped, however far it came.
 */
import { rmSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { assertCanRun, readAskedRun } from './asked-run.ts';
import type { RunResult } from './contract/run-result.ts';
import { TargetFault } from './contract/target.ts';
import { ConditionFault, type JudgedCondition, judgeCondition } from './result/fail-if.ts';
import { tableOf } from './result/table.ts';
import { EXIT, exitCodeOf } from './run/exit-code.ts';
import { FarEndPool } from './run/far-end-pool.ts';
import { createInterrupts } from './run/interrupts.ts';
import { OwnLoad } from './run/own-load.ts';
import { Recorder } from './run/recorder.ts';
import { createRunClock, machineNowMs } from './run/run-clock.ts';
import { type RunParts, runWorkload } from './run/run-workload.ts';
import { searchKnee } from './run/search-knee.ts';
import { toolFacts } from './run/tool-facts.ts';
import { makeSoundFolder, prepareOutput, writeResults } from './run/write-results.ts';
import type { RunFlags } from './run-flags.ts';
import { chooseTarget } from './targets/choose-target.ts';
import type { ChosenTarget } from './targets/chosen-target.ts';
import { noiseWarnings, readMachine } from './usage/machine-facts.ts';
import { TargetUsage } from './usage/target-usage.ts';
import { dryRunOf } from './workload/dry-run.ts';
import { WorkloadFault } from './workload/read-workload.ts';

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** The first call may be planned for the very beginning, and no process shall be late for it. */
const LEAD_MS = 200;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What there is of a run that is stopped, or ends: also in the middle of its start. */
interface Running {
  /** Ctrl-C. */
  signal: AbortSignal;
  /** The newest is stopped first. */
  stops: (() => unknown)[];
  /** There is something to report. */
  hasBegun: boolean;
}

export async function runCommand(flags: RunFlags): Promise<number> {
  const interrupted = new AbortController();
  const running: Running = { signal: interrupted.signal, stops: [], hasBegun: false };
  const interrupt = createInterrupts({
    nowMs: () => performance.now(),
    stop() {
      say('\nstopping: every call is hung up (once more: at once)');
      interrupted.abort();
    },
    stopAtOnce() {
      say('stopped at once; calls may ring on until their carrier ends them');
      process.exit(EXIT.interrupted);
    },
  });
  for (const name of SIGNALS) process.on(name, interrupt);
  // A terminal that is gone must not keep calls from being hung up.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  try {
    return await run(flags, running);
  } catch (error) {
    if (interrupted.signal.aborted && !running.hasBegun) {
      say('stopped before a call began: there is nothing to report');
      return EXIT.interrupted;
    }
    const isUse = error instanceof TargetFault || error instanceof WorkloadFault || error instanceof ConditionFault;
    say(isUse ? error.message : `the tool failed: ${error instanceof Error ? error.stack : String(error)}`);
    return isUse ? EXIT.wrongUse : EXIT.failed;
  } finally {
    for (const stop of running.stops.reverse()) {
      await Promise.resolve(stop()).catch((error: unknown) => say(String(error)));
    }
    for (const name of SIGNALS) process.off(name, interrupt);
  }
}

/** Rejects when the run is stopped first. */
function unlessStopped<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  return new Promise((done, failed) => {
    work.then(done, failed);
    signal.addEventListener('abort', () => failed(signal.reason as Error), { once: true });
    signal.throwIfAborted();
  });
}

async function run(flags: RunFlags, running: Running): Promise<number> {
  const { signal, stops } = running;
  const asked = readAskedRun(flags);
  const { workload, logs, conditions, mostAtOnce, processes, limitMs, gapBufferMs } = asked;
  if (flags.dryRun) {
    process.stdout.write(dryRunOf(workload, asked.figures));
    return EXIT.well;
  }
  assertCanRun(asked, flags);
  const out = prepareOutput(flags.out);
  const soundFolder = flags.sound ? makeSoundFolder() : null;
  // However it ends.
  if (soundFolder !== null) process.once('exit', () => rmSync(soundFolder, { recursive: true, force: true }));

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
    gapBufferMs,
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
  say('looking at the target and at this machine');
  const found = await unlessStopped(signal, pool.check());
  const machine = await unlessStopped(signal, readMachine());

  const usage = new TargetUsage({
    processes: target.processes(),
    tool: [
      { name: 'tool', pid: () => process.pid, withChildren: false },
      ...target.beside,
      ...pool.pids.map((pid, at) => ({ name: `tool: far end ${at + 1}`, pid: () => pid, withChildren: false })),
    ],
    metricsUrl: target.metricsUrl,
    metricsToken: flags.metricsToken ?? null,
    databaseUrl: target.databaseUrl,
    garbage: target.garbage,
  });
  const isMeasured = await usage.begin();
  if (flags.metrics !== undefined && !isMeasured) {
    throw new TargetFault(`--metrics ${flags.metrics}: no figures were had there; is it right, and --metrics-token?`);
  }
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
  const facts = {
    limitMs,
    tool: toolFacts(),
    machine,
    target: { ...target.facts, version: target.facts.version ?? found.version },
  };
  const forget = (path: string): void => void unlink(path).catch(() => {});
  const recorder = new Recorder(workload, forget);
  recorders.push(recorder);
  const beganAtMs = machineNowMs() + LEAD_MS;
  await pool.begin(beganAtMs);
  clock.begin(beganAtMs);
  running.hasBegun = true;
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
    series: usage.series(),
    warnings: [...noiseWarnings(machine), ...done.warnings],
  });
  const judged = conditions.map((condition) => judgeCondition(condition, result));
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
  const stamp = result.startedAt.replace(/[:.]/g, '-').slice(0, 23);
  const name = `load-${result.workload.name}-${kind}-${stamp}`;
  const { paths, faults } = writeResults(result, conditions, { folder: out, name });
  for (const path of paths) process.stdout.write(`written: ${path}\n`);
  for (const fault of faults) say(fault);
  const code = exitCodeOf({ result, conditions, isInterrupted });
  return code === EXIT.well && faults.length > 0 ? EXIT.failed : code;
}
