/**
 * One run from its first call to its last: the schedule is dispatched, what comes of it recorded, the target watched
 * second by second. Called by `main.ts` for a workload, and by the search for the knee for each step. Ends by itself,
 * by the signal, or when the target has stopped answering.
 */
import { spawn } from 'node:child_process';
import type { Clock } from '../../../media/contract/clock.ts';
import type { MeasuredCall } from '../contract/measured-call.ts';
import type { PlannedCall } from '../contract/planned-call.ts';
import type { Workload } from '../contract/workload.ts';
import type { TargetUsage } from '../usage/target-usage.ts';
import type { ReplayLogs } from '../workload/arrivals.ts';
import { phasesLastMs, planCalls } from '../workload/schedule.ts';
import { Dispatcher } from './dispatcher.ts';
import type { FarEndPool } from './far-end-pool.ts';
import { Progress } from './progress.ts';
import type { Recorder } from './recorder.ts';
import { Silence } from './silence.ts';
import type { WebhookListener } from './webhook-listener.ts';

export interface RunParts {
  pool: Pick<FarEndPool, 'call' | 'hangUpAll'>;
  clock: Clock;
  usage: TargetUsage;
  webhooks: WebhookListener | null;
  /** Of the target's own id of a call that is over, told before the call is. */
  callIdOf(index: number): string | null;
  /** This process's own second, and whatever else must be told once a second. */
  everySecond(): void;
  /** Run at `restartsAtSeconds`; null: there is none. */
  restartCommand: string | null;
  signal: AbortSignal;
}

export interface RunAsked {
  workload: Workload;
  logs: ReplayLogs;
  /** All that hears of this run: the run's own, and that of the step. */
  recorders: readonly Recorder[];
  /** Where on the run's clock it begins, and at which index. */
  fromMs: number;
  fromIndex: number;
  step: string | null;
}

export interface RunDone {
  planned: number;
  /** Null: it ended by itself. */
  incompleteBecause: string | null;
  warnings: string[];
}

const SECOND_MS = 1_000;
/** Far ends begin calls by their own clock, so that a wake of this process is not in any delay. */
const LEAD_MS = 100;
const HANG_UP_LIMIT_MS = 8_000;
const WEBHOOK_LIMIT_MS = 10_000;

export async function runWorkload(asked: RunAsked, parts: RunParts): Promise<RunDone> {
  const { workload, logs, recorders, fromMs, fromIndex, step } = asked;
  const { pool, clock, usage, webhooks } = parts;
  const stop = new AbortController();
  const warnings: string[] = [];
  const waitingForWebhooks = new Set<Promise<void>>();
  const silence = new Silence(workload.restartsAtSeconds.length > 0);
  let stoppedBecause: string | null = null;

  const end = (why: string): void => {
    if (stoppedBecause !== null) return;
    stoppedBecause = why;
    stop.abort();
    void pool.hangUpAll(HANG_UP_LIMIT_MS);
  };
  const stopped = (): void => end('it was stopped');
  parts.signal.addEventListener('abort', stopped, { once: true });
  if (parts.signal.aborted) stopped();

  function measured(call: MeasuredCall): void {
    if (silence.measured(call, clock.nowMs())) {
      const who = call.code === 'tool' ? 'the tool itself failed' : 'the target has stopped answering';
      end(`${who}: ${call.why ?? call.code}`);
    }
    const callId = parts.callIdOf(call.index);
    if (webhooks === null || callId === null || call.endedAtMs === null) {
      record(call);
      return;
    }
    const wait = { limitMs: WEBHOOK_LIMIT_MS, signal: stop.signal };
    const waiting = webhooks.delayOf(callId, call.endedAtMs, wait).then((webhookMs) => {
      waitingForWebhooks.delete(waiting);
      record({ ...call, webhookMs });
    });
    waitingForWebhooks.add(waiting);
  }
  const record = (call: MeasuredCall): void => {
    for (const recorder of recorders) recorder.measured(call);
  };

  const dispatcher = new Dispatcher({
    calls: shifted(planCalls(workload, logs), fromMs, fromIndex),
    clock,
    mostAtOnce: workload.mostAtOnce,
    leadMs: LEAD_MS,
    call: (planned) => pool.call(planned),
    measured,
    signal: stop.signal,
  });
  const progress = new Progress();
  const wholeMs = phasesLastMs(workload, logs);
  let isReading = false;
  const seconds = setInterval(() => {
    const { begun, live } = dispatcher.figures;
    const elapsedMs = clock.nowMs() - fromMs;
    for (const recorder of recorders) recorder.live(live);
    progress.show({ elapsedMs, wholeMs, begun, live, bad: recorders.at(-1)!.figures.bad, step });
    parts.everySecond();
    if (isReading) return;
    isReading = true;
    const atMs = clock.nowMs() - SECOND_MS / 2;
    void usage.second().then((second) => {
      isReading = false;
      for (const recorder of recorders) recorder.targetSecond(Math.max(0, atMs), second);
    });
  }, SECOND_MS);
  const cancelRestarts = planRestarts(workload, parts, fromMs, warnings);
  try {
    await dispatcher.run();
    await Promise.all(waitingForWebhooks);
  } finally {
    clearInterval(seconds);
    progress.end();
    cancelRestarts();
    parts.signal.removeEventListener('abort', stopped);
  }
  return { planned: dispatcher.figures.planned, incompleteBecause: stoppedBecause, warnings };
}

function* shifted(calls: Iterable<PlannedCall>, byMs: number, byIndex: number): Generator<PlannedCall, void> {
  for (const call of calls) yield { ...call, atMs: call.atMs + byMs, index: call.index + byIndex };
}

/** The operator's own command, by the shell that they write it for. Returns what calls off those to come. */
function planRestarts(
  { restartsAtSeconds }: Workload,
  parts: RunParts,
  fromMs: number,
  warnings: string[],
): () => void {
  const { clock, restartCommand } = parts;
  if (restartCommand === null) return () => {};
  const cancels = restartsAtSeconds.map((atSeconds) =>
    clock.after(fromMs + atSeconds * 1000 - clock.nowMs(), () => {
      const beganAtMs = clock.nowMs();
      const child = spawn(restartCommand, { shell: true, stdio: ['ignore', 'ignore', 'inherit'] });
      child.once('error', (error) => warnings.push(`the restart at ${atSeconds} s could not be run: ${error.message}`));
      child.once('exit', (code) => {
        const tookSeconds = ((clock.nowMs() - beganAtMs) / 1000).toFixed(1);
        warnings.push(`restart at ${atSeconds} s: the command ended with ${code} after ${tookSeconds} s`);
      });
    }),
  );
  return () => {
    for (const cancel of cancels) cancel();
  };
}
