/**
 * A run in sentences: what was asked, what came, what to think of it. The terminal and the report say the same. Used by
 * both.
 */
import type { RunResult } from '../contract/run-result.ts';
import type { WorkloadPhase } from '../contract/workload.ts';
import type { JudgedCondition } from './fail-if.ts';
import { counted, formatFigure, formatNumber, formatSpan } from './format-figure.ts';

export interface Said {
  /** `note`: neither good nor bad. */
  is: 'good' | 'bad' | 'doubt' | 'note';
  sentence: string;
}

/** `Asked: 2 calls a second at random for 1 min; browser visitor and phone caller; no more than 2,000 at once.` */
export function askedOf({ workload }: RunResult): string {
  const { knee, phases, callers } = workload;
  const what =
    knee === undefined
      ? phases.map(phaseOf).join(', then ')
      : `the greatest load between ${formatNumber(knee.from)} and ${formatNumber(knee.to)} ${knee.of === 'calls' ? 'calls at once' : 'calls a second'}, ${formatNumber(knee.stepSeconds)} s a step`;
  const whom = callers.length === 1 ? '' : `; ${counted(callers.length, 'kind of caller', 'kinds of callers')}`;
  return `Asked: ${what}${whom}.`;
}

function phaseOf(phase: WorkloadPhase): string {
  const span = (seconds: number): string => formatSpan(seconds * 1_000);
  if (phase.arrivals === 'poisson')
    return `${formatNumber(phase.perSecond)} calls a second at random for ${span(phase.forSeconds)}`;
  if (phase.arrivals === 'ramp') {
    return `from ${formatNumber(phase.fromPerSecond)} to ${formatNumber(phase.toPerSecond)} calls a second within ${span(phase.forSeconds)}`;
  }
  if (phase.arrivals === 'burst') {
    const over = phase.overSeconds === 0 ? 'at one instant' : `within ${span(phase.overSeconds)}`;
    return `${counted(phase.calls, 'call')} ${over}${phase.restSeconds === 0 ? '' : ` and ${span(phase.restSeconds)} of rest`}`;
  }
  if (phase.arrivals === 'level') return `${counted(phase.calls, 'call')} at once for ${span(phase.forSeconds)}`;
  return `the arrivals of a call log${phase.forSeconds === undefined ? '' : `, within ${span(phase.forSeconds)}`}`;
}

/** `Came: 118 of 120 calls talked, 41 min 12 s together and at most 38 at once, in 1 min 24 s.` */
export function cameOf({ calls, tookMs }: RunResult): string {
  const talked = `${formatFigure('count', calls.talked)} of ${counted(calls.planned, 'call')} talked`;
  const together =
    calls.talkMs === 0 ? '' : `, ${formatSpan(calls.talkMs)} together and at most ${calls.mostAtOnce} at once`;
  return `Came: ${talked}${together}, in ${formatSpan(tookMs)}.`;
}

/** The gravest first. */
export function verdictsOf(result: RunResult, conditions: readonly JudgedCondition[] = []): Said[] {
  const { calls, generator, measures, complete, incompleteBecause } = result;
  const said: Said[] = [];
  if (!complete) {
    said.push({
      is: 'doubt',
      sentence: `Incomplete: ${withoutStop(incompleteBecause ?? 'the run was stopped')}. What is here covers the part before that.`,
    });
  }
  if (!generator.judged) {
    said.push({
      is: 'doubt',
      sentence: `Not judged: ${withoutStop(generator.why ?? 'the tool was late itself')}. The figures say as much about the tool as about the target.`,
    });
  }
  const failed = conditions.filter(({ isTrue }) => isTrue);
  if (failed.length > 0) {
    said.push({ is: 'bad', sentence: `Failed by ${failed.length} of ${counted(conditions.length, 'condition')}.` });
  }
  const wrong = calls.refused + calls.failed + calls.lost;
  if (wrong > 0) {
    const parts = [
      calls.refused > 0 && `${formatFigure('count', calls.refused)} refused`,
      calls.failed > 0 && `${formatFigure('count', calls.failed)} failed`,
      calls.lost > 0 && `${formatFigure('count', calls.lost)} lost after the answer`,
    ].filter((part) => part !== false);
    said.push({
      is: result.workload.mayFail ? 'note' : 'bad',
      sentence: `${counted(wrong, 'call')} went wrong (${formatFigure('share', measures.errorShare)}): ${parts.join(', ')}.`,
    });
  } else if (calls.talked > 0) said.push({ is: 'good', sentence: 'No call failed, was refused or was lost.' });
  if (calls.planned === 0) said.push({ is: 'doubt', sentence: 'No call was counted.' });
  if (calls.heldBack > 0) {
    said.push({
      is: 'doubt',
      sentence: `${counted(calls.heldBack, 'call')} held back: more would have gone on at once than the workload allows (${formatFigure('count', result.workload.mostAtOnce)}). Placement counts them with the least that they would have waited.`,
    });
  }
  if (conditions.length > 0 && failed.length === 0) {
    said.push({ is: 'good', sentence: `None of ${counted(conditions.length, 'condition')} is true.` });
  }
  return said;
}

/** One sentence for the top: the gravest, or that all went well. */
export function headlineOf(result: RunResult, conditions: readonly JudgedCondition[] = []): Said {
  const said = verdictsOf(result, conditions);
  const first = said.find(({ is }) => is === 'doubt' || is === 'bad');
  return first ?? { is: 'good', sentence: `All went well: ${counted(result.calls.talked, 'call')} talked.` };
}

const withoutStop = (text: string): string => text.replace(/[.\s]+$/, '');
