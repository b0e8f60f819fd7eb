/**
 * What a run measures, by the names that `--fail-if`, the comparison, the table and the report share, each with what it
 * means. One list: a measure that stands here can be asked for, compared and read.
 */
import type { Distribution } from '../contract/distribution.ts';
import type { RunResult } from '../contract/run-result.ts';
import type { FigureKind } from './format-figure.ts';

/** A time that many calls have: asked for as `reply.p95`. */
export interface TimeMeasure {
  name: string;
  title: string;
  /** How it is measured, in a sentence or two. */
  about: string;
  of: (result: RunResult) => Distribution;
  /** What lies below cannot be told from nothing: the far end hears in frames, and clocks tick. */
  leastMs: number;
  /** Of values that hang together: frames and gaps of one call. They tell as much as there are calls. */
  isPerCall?: boolean;
  /** It comes in whole milliseconds. */
  isWholeMs?: boolean;
}

export const TIME_MEASURES: readonly TimeMeasure[] = [
  {
    name: 'reply',
    title: 'Reply time',
    about:
      'From the end of the last sound of the caller to the first sound of the target after it, both on the far end’s own clock.',
    of: ({ measures }) => measures.replyMs,
    leastMs: 20,
  },
  {
    name: 'firstWord',
    title: 'First word',
    about: 'From the answer of the call (where a stream is opened by itself: from its start) to the first sound.',
    of: ({ measures }) => measures.firstWordMs,
    leastMs: 20,
  },
  {
    name: 'frameLateness',
    title: 'Frame lateness',
    about:
      'How far a frame of sound came behind the best straight line through its own stream: what a jitter buffer has to make up for.',
    of: ({ measures }) => measures.frameLatenessMs,
    leastMs: 1,
    isPerCall: true,
    isWholeMs: true,
  },
  {
    name: 'gap',
    title: 'Gaps',
    about:
      'How long play-out starved in the middle of a turn, behind a jitter buffer of 60 ms; less than 20 ms is no gap.',
    of: ({ measures }) => measures.gapMs,
    leastMs: 20,
    isPerCall: true,
  },
  {
    name: 'bargeInStop',
    title: 'Barge-in stop',
    about:
      'From the onset of the sound that interrupts to the last sound of the target before 400 ms of silence; of the interruptions that stopped it.',
    of: ({ measures }) => measures.bargeInStopMs,
    leastMs: 20,
  },
  {
    name: 'placement',
    title: 'Placement',
    about: 'From the instant for which the call was planned to the answer to the request that places it.',
    of: ({ measures }) => measures.placementMs,
    leastMs: 1,
  },
  {
    name: 'dialled',
    title: 'Dialled',
    about: 'From the instant for which the call was planned until the phone rang, or the socket was open.',
    of: ({ measures }) => measures.dialledMs,
    leastMs: 1,
  },
  {
    name: 'webhook',
    title: 'Webhook delay',
    about: 'From the end of the call to the arrival of its webhook.',
    of: ({ measures }) => measures.webhookDelayMs,
    leastMs: 5,
  },
  {
    name: 'resume',
    title: 'Resume',
    about: 'Browser sessions that lost their socket: from the loss to the first sound afterwards.',
    of: ({ measures }) => measures.resumeMs,
    leastMs: 20,
  },
];

/** Of the tool and not of the target: they can be asked for, and are not compared. */
export const TOOL_TIMES: readonly TimeMeasure[] = [
  {
    name: 'generator.callLateness',
    title: 'Tool: late calls',
    about: 'How far behind its planned instant the tool began a call.',
    of: ({ generator }) => generator.callLatenessMs,
    leastMs: 1,
  },
  {
    name: 'generator.frameLateness',
    title: 'Tool: late frames',
    about: 'How far behind its planned instant the tool sent a frame.',
    of: ({ generator }) => generator.frameLatenessMs,
    leastMs: 1,
  },
];

/** A single figure: asked for by its name alone. */
export interface FigureMeasure {
  name: string;
  kind: FigureKind;
  about: string;
  /** Null: this run did not measure it. */
  of: (result: RunResult) => number | null;
}

const part = (some: number, all: number): number | null => (all === 0 ? null : some / all);

export const FIGURE_MEASURES: readonly FigureMeasure[] = [
  {
    name: 'errors.share',
    kind: 'share',
    about: 'calls that failed, were refused or were lost, of all begun',
    of: ({ measures }) => measures.errorShare,
  },
  {
    name: 'errors.count',
    kind: 'count',
    about: 'calls that failed, were refused or were lost',
    of: ({ calls }) => calls.failed + calls.refused + calls.lost,
  },
  {
    name: 'calls.planned',
    kind: 'count',
    about: 'calls that were planned, without the warm-up',
    of: ({ calls }) => calls.planned,
  },
  { name: 'calls.talked', kind: 'count', about: 'calls that talked to their end', of: ({ calls }) => calls.talked },
  {
    name: 'calls.refused',
    kind: 'count',
    about: 'calls to which the target said no',
    of: ({ calls }) => calls.refused,
  },
  { name: 'calls.failed', kind: 'count', about: 'calls that came to nothing', of: ({ calls }) => calls.failed },
  { name: 'calls.lost', kind: 'count', about: 'answered calls whose stream broke', of: ({ calls }) => calls.lost },
  {
    name: 'calls.heldBack',
    kind: 'count',
    about: 'calls not begun because too many went on',
    of: ({ calls }) => calls.heldBack,
  },
  { name: 'calls.atOnce', kind: 'count', about: 'the most calls at once', of: ({ calls }) => calls.mostAtOnce },
  {
    name: 'gaps.perCallMinute',
    kind: 'rate',
    about: 'gaps in the sound, for each minute of a call',
    of: ({ measures }) => measures.gapsPerCallMinute,
  },
  {
    name: 'realTime.worst',
    kind: 'share',
    about: 'audio that came of what the time asks for, in the worst call',
    of: ({ measures }) => measures.realTimeShareWorst,
  },
  {
    name: 'realTime.mean',
    kind: 'share',
    about: 'audio that came of what the time asks for, of all calls',
    of: ({ measures }) => measures.realTimeShareMean,
  },
  {
    name: 'lost.share',
    kind: 'share',
    about: 'audio that never came; of targets that send a known signal',
    of: ({ measures }) => measures.lostShare,
  },
  {
    name: 'repeated.share',
    kind: 'share',
    about: 'audio that came twice; of targets that send a known signal',
    of: ({ measures }) => measures.repeatedShare,
  },
  {
    name: 'bargeIns.stoppedShare',
    kind: 'share',
    about: 'interruptions that stopped the target',
    of: ({ measures }) => part(measures.bargeInsThatStopped, measures.bargeIns),
  },
  {
    name: 'turns.unanswered',
    kind: 'count',
    about: 'turns of callers to which nobody replied',
    of: ({ measures }) => measures.turnsUnanswered,
  },
  {
    name: 'turns.unansweredShare',
    kind: 'share',
    about: 'the same, of all their turns',
    of: ({ measures }) => part(measures.turnsUnanswered, measures.turnsUnanswered + measures.replyMs.count),
  },
  {
    name: 'usage.cpuMsPerCallSecond',
    kind: 'rate',
    about: 'milliseconds of processor of the whole target for a second of a call',
    of: ({ usage }) => usage.cpuMsPerCallSecond,
  },
  {
    name: 'usage.memoryPerCall',
    kind: 'bytes',
    about: 'resident memory that a further call takes',
    of: ({ usage }) => usage.residentBytesPerCall,
  },
  {
    name: 'usage.commitsPerCall',
    kind: 'rate',
    about: 'commits of PostgreSQL a call',
    of: ({ usage }) => usage.commitsPerCall,
  },
  {
    name: 'usage.walPerCall',
    kind: 'bytes',
    about: 'write-ahead log of PostgreSQL a call',
    of: ({ usage }) => usage.walBytesPerCall,
  },
  {
    name: 'knee.carried',
    kind: 'rate',
    about: 'the greatest load that was carried well',
    of: ({ knee }) => knee?.carried ?? null,
  },
  {
    name: 'generator.cpuShare',
    kind: 'share',
    about: 'the busiest process of the tool, of one core',
    of: ({ generator }) => generator.cpuShare,
  },
];
