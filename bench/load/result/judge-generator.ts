/**
 * Whether the tool was able to judge the target: a generator that was late itself, or short of processor, measures
 * itself. Used by the gatherer.
 */
import type { Distribution } from '../contract/distribution.ts';
import type { RunResult } from '../contract/run-result.ts';
import { formatFigure } from './format-figure.ts';

/** A process that was busy for more than this part of a core was late for something. */
const MOST_CPU_SHARE = 0.85;

export interface GeneratorFigures {
  /** Its lateness at p99 may be this much; 10 ms. */
  limitMs: number;
  frameLatenessMs: Distribution;
  cpuShare: number;
  /** What else keeps it from judging, in a sentence. */
  alsoBecause?: string | null;
}

export function judgeGenerator(figures: GeneratorFigures, callLatenessMs: Distribution): RunResult['generator'] {
  const { limitMs, frameLatenessMs, cpuShare } = figures;
  const why = [
    callLatenessMs.count === 0 ? 'no call was begun' : null,
    lateBecause('began calls', callLatenessMs, limitMs),
    lateBecause('sent frames', frameLatenessMs, limitMs),
    cpuShare > MOST_CPU_SHARE
      ? `one of its processes was busy for ${formatFigure('share', cpuShare)} of a core (limit ${formatFigure('share', MOST_CPU_SHARE)})`
      : null,
    figures.alsoBecause ?? null,
  ].filter((reason) => reason !== null);
  return {
    judged: why.length === 0,
    why: why.length === 0 ? null : why.join('; '),
    limitMs,
    callLatenessMs,
    frameLatenessMs,
    cpuShare,
  };
}

function lateBecause(what: string, { p99 }: Distribution, limitMs: number): string | null {
  if (p99 === null || p99 <= limitMs) return null;
  return `the tool ${what} ${formatFigure('time', p99)} late at p99 (limit ${formatFigure('time', limitMs)})`;
}
