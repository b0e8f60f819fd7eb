/**
 * From measured calls to the result of a run. `run/` gives it each call when it is over, whatever became of it, and the
 * figures of each second; `finish` may be asked at any time, also for the partial result of a run that goes on. Holds
 * histograms, some numbers a call and the few worst calls, not the calls.
 *
 * Coordinated omission: a slow target must not hide its slowness by slowing down the tool. So
 * - the schedule does not wait for the target, and the delays of a call count from the instant for which it was planned
 *   (`MeasuredCall`), also where the tool began it late; that lateness is a distribution of its own, and a tool that
 *   was late does not judge;
 * - what a call has many of (replies, frames, gaps) is paced by its own conversation, which waits for the target as a
 *   caller would. A turn that nobody answered has no reply time; it is counted in a row of its own;
 * - a call that was held back, because too many went on, has no delays. It is counted in its own row, and its placement
 *   and dialling count with the least that it would have waited (`held-back.ts`): else the worst would be missing.
 */
import type { Distribution } from '../contract/distribution.ts';
import type { MeasuredCall } from '../contract/measured-call.ts';
import { type RunResult, runResultSchema } from '../contract/run-result.ts';
import type { Workload } from '../contract/workload.ts';
import { describeCall } from './describe-call.ts';
import { counted } from './format-figure.ts';
import { createHeldBack } from './held-back.ts';
import { type GeneratorFigures, judgeGenerator } from './judge-generator.ts';
import { createTally } from './tally.ts';
import { createTimeline, type SecondFigures } from './timeline.ts';
import { createTimes, type Times } from './times.ts';
import { Series } from './trend.ts';
import { type NamedSeries, trendsOf } from './trends.ts';
import { createWorstCalls } from './worst-calls.ts';

export interface GathererOptions {
  workload: Workload;
  /** How many calls the report shows with their sound; 10. */
  worst?: number;
  /** Of each recording that the report will not show: it may be deleted. */
  onForgottenRecording?: (recordingPath: string) => void;
}

/** What the gatherer cannot know from calls. */
export interface RunEnd extends Pick<RunResult, 'complete' | 'incompleteBecause' | 'startedAt' | 'tookMs'> {
  tool: RunResult['tool'];
  machine: RunResult['machine'];
  target: RunResult['target'];
  usage: RunResult['usage'];
  knee: RunResult['knee'];
  generator: GeneratorFigures;
  /** Of the target's processes over time. */
  series?: NamedSeries[];
  warnings?: string[];
}

export interface Gatherer {
  add(call: MeasuredCall): void;
  tick(figures: SecondFigures): void;
  /** Throws a `ZodError` where what it was given is no result. */
  finish(end: RunEnd): RunResult;
}

const WORST_CALLS = 10;

export function createGatherer(options: GathererOptions): Gatherer {
  const { workload } = options;
  const warmUpMs = workload.warmUpSeconds * 1_000;
  const tally = createTally();
  const timeline = createTimeline();
  const heldBack = createHeldBack();
  const worst = createWorstCalls(options.onForgottenRecording);
  const times = {
    placementMs: createTimes(),
    dialledMs: createTimes(),
    firstWordMs: createTimes(),
    frameLatenessMs: createTimes(),
    gapMs: createTimes(),
    replyMs: createTimes(),
    bargeInStopMs: createTimes(),
    webhookDelayMs: createTimes(),
    resumeMs: createTimes(),
  };
  const callLateness = createTimes();
  const latenessOverTime = new Series();
  const repliesOverTime = new Series();
  let warmingUp = 0;

  function add(call: MeasuredCall): void {
    timeline.add(call);
    if (call.endedAtMs !== null) heldBack.ended(call.endedAtMs);
    if (call.plannedAtMs < warmUpMs) {
      warmingUp++;
      if (call.recordingPath !== null) options.onForgottenRecording?.(call.recordingPath);
      return;
    }
    tally.add(call);
    worst.add(call);
    if (call.fate === 'held_back') heldBack.heldBack(call.plannedAtMs);
    else addTimes(call);
  }

  function addTimes(call: MeasuredCall): void {
    const { replies, bargeIns, resumes, sound } = call;
    callLateness.add(call.begunAtMs - call.plannedAtMs);
    // A refusal is no placement: a target that says no quickly would look quick.
    const isTaken = call.fate !== 'refused' && call.fate !== 'failed';
    const known = (ms: number | null): number => ms ?? Number.NaN;
    if (isTaken) times.placementMs.add(known(call.placementMs));
    if (isTaken) times.dialledMs.add(known(call.dialledMs));
    times.firstWordMs.add(known(call.firstWordMs));
    times.webhookDelayMs.add(known(call.webhookMs));
    for (const { atMs, replyMs } of replies) {
      times.replyMs.add(replyMs);
      repliesOverTime.add(atMs, replyMs);
    }
    addLateness(call);
    for (const { stoppedAfterMs } of bargeIns) times.bargeInStopMs.add(known(stoppedAfterMs));
    for (const { resumedAfterMs } of resumes) times.resumeMs.add(known(resumedAfterMs));
    for (const { gapMs } of sound?.gaps ?? []) times.gapMs.add(gapMs);
    for (const [lateMs, frames] of sound?.lateMs.entries() ?? []) times.frameLatenessMs.add(lateMs, frames);
  }

  /** Of the frames of one call, at its middle. */
  function addLateness({ sound, answeredAtMs, endedAtMs }: MeasuredCall): void {
    if (sound === null || answeredAtMs === null || endedAtMs === null) return;
    const frames = sound.lateMs.reduce((sum, count) => sum + count, 0);
    if (frames === 0) return;
    let left = frames * 0.99;
    const p99Ms = sound.lateMs.findIndex((count) => {
      left -= count;
      return left <= 0;
    });
    latenessOverTime.add((answeredAtMs + endedAtMs) / 2, p99Ms);
  }

  function ownSeries(): NamedSeries[] {
    return [
      { name: 'frame lateness p99', kind: 'time', series: latenessOverTime },
      { name: 'reply', kind: 'time', series: repliesOverTime },
    ];
  }

  function finish(end: RunEnd): RunResult {
    const waitsMs = heldBack.leastWaitsMs(end.tookMs);
    const measures = {
      placementMs: withWaits(times.placementMs, waitsMs),
      dialledMs: withWaits(times.dialledMs, waitsMs),
      firstWordMs: times.firstWordMs.distribution(),
      frameLatenessMs: times.frameLatenessMs.distribution(),
      gapMs: times.gapMs.distribution(),
      replyMs: times.replyMs.distribution(),
      bargeInStopMs: times.bargeInStopMs.distribution(),
      webhookDelayMs: times.webhookDelayMs.distribution(),
      resumeMs: times.resumeMs.distribution(),
      ...tally.measures(),
    };
    const usual = { replyMs: measures.replyMs, firstWordMs: measures.firstWordMs };
    return runResultSchema.parse({
      format: 'parley-load',
      version: 1,
      complete: end.complete,
      incompleteBecause: end.incompleteBecause,
      startedAt: end.startedAt,
      tookMs: end.tookMs,
      tool: end.tool,
      machine: end.machine,
      target: end.target,
      workload,
      generator: judgeGenerator(end.generator, callLateness.distribution()),
      calls: { ...tally.calls(), mostAtOnce: timeline.mostAtOnce() },
      measures,
      timeline: timeline.seconds(),
      usage: end.usage,
      knee: end.knee,
      trends: trendsOf(workload, [...(end.series ?? []), ...ownSeries()]),
      worst: worst
        .list(options.worst ?? WORST_CALLS)
        .map(({ call, listenAtMs }) => describeCall(call, listenAtMs, usual)),
      warnings: [...(end.warnings ?? []), ...ownWarnings()],
    });
  }

  function ownWarnings(): string[] {
    const warnings: string[] = [];
    if (warmingUp > 0) {
      const calls = counted(warmingUp, 'call');
      warnings.push(
        `${calls} of the first ${workload.warmUpSeconds} s warmed up: in the timeline, not in the figures.`,
      );
    }
    const { talked, refusedBy } = tally.calls();
    const interrupter = workload.callers.find(({ talk }) => talk.kind === 'turns' && talk.bargeInShare > 0);
    if (interrupter?.talk.kind === 'turns' && talked > 0 && tally.measures().bargeIns === 0) {
      warnings.push(
        `Nobody interrupted: the target's words end before ${interrupter.talk.bargeInAfterMs} ms, or there were few turns; a smaller bargeInAfterMs of "${interrupter.name}" interrupts sooner.`,
      );
    }
    if (refusedBy['cps_limit'] !== undefined) {
      warnings.push(
        'The line takes fewer calls a second than the workload begins (cps_limit): npx parley line limits, or a slower workload.',
      );
    }
    return warnings;
  }

  return { add, tick: timeline.tick, finish };
}

/** A target that has no such instant, as a stream that is opened by itself, has none of calls held back either. */
function withWaits(times: Times, waitsMs: readonly number[]): Distribution {
  const measured = times.distribution();
  return measured.count === 0 ? measured : times.distribution(waitsMs);
}
