/**
 * `--fail-if "reply.p95>900ms"`: a condition of one measure, read from text and looked up in a result. Used by the
 * command line for its exit code and by the search for the knee, whose steps are results of their own.
 *
 *   condition = measure ("<" | "<=" | ">" | ">=") number unit
 *   measure   = a time with its figure (reply.p95, placement.p99.9, gap.count) or a single figure (errors.share)
 *
 * A measure that the run did not have makes its condition true: a check that looked at nothing must not pass.
 */
import type { Distribution } from '../contract/distribution.ts';
import type { RunResult } from '../contract/run-result.ts';
import { type FigureKind, formatFigure } from './format-figure.ts';
import { FIGURE_MEASURES, type FigureMeasure, TIME_MEASURES, type TimeMeasure, TOOL_TIMES } from './measures.ts';
import { quantileOf } from './quantiles.ts';

/** It cannot be read: the sentence says what stands there and what could. Wrong use, exit code 2. */
export class ConditionFault extends Error {
  override readonly name = 'ConditionFault';
}

export interface Condition {
  /** As it was written. */
  text: string;
  kind: FigureKind;
  operator: keyof typeof OPERATORS;
  /** Milliseconds, shares of 1, bytes, or plain numbers. */
  limit: number;
  measured: (result: RunResult) => number | null;
}

export interface JudgedCondition {
  text: string;
  isTrue: boolean;
  /** Null: this run did not measure it, which counts as true. */
  measured: number | null;
  /** For a person. */
  sentence: string;
}

const OPERATORS = {
  '>=': (measured: number, limit: number) => measured >= limit,
  '<=': (measured: number, limit: number) => measured <= limit,
  '>': (measured: number, limit: number) => measured > limit,
  '<': (measured: number, limit: number) => measured < limit,
} as const;

const UNITS: Record<FigureKind, Record<string, number>> = {
  time: { us: 0.001, µs: 0.001, ms: 1, s: 1_000, min: 60_000 },
  share: { '': 1, '%': 0.01 },
  rate: { '': 1 },
  count: { '': 1 },
  bytes: { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 },
};
const UNIT_LESSONS: Record<FigureKind, string> = {
  time: 'it is a time: say 900ms or 1.2s',
  share: 'it is a share: say 1% or 0.01',
  rate: 'it is a number without a unit: say 1 or 0.5',
  count: 'it is a number without a unit: say 1 or 20',
  bytes: 'it is a size: say 200kB or 1.5MB',
};

const SHAPE = /^\s*([A-Za-z][\w.]*?)\s*(>=|<=|>|<)\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*([A-Za-zµ%]*)\s*$/;

/** Throws a `ConditionFault`. */
export function parseCondition(text: string): Condition {
  const [, name, operator, number, unit = ''] = SHAPE.exec(text) ?? [];
  if (name === undefined || operator === undefined) {
    throw new ConditionFault(
      `"${text}" is no condition. It is a measure, one of > >= < <=, and a limit: "reply.p95>900ms", "errors.share>1%".\n${listOfMeasures()}`,
    );
  }
  const { kind, measured } = measureNamed(name, text);
  const factor = Object.hasOwn(UNITS[kind], unit) ? UNITS[kind][unit] : undefined;
  if (factor === undefined) {
    const said = unit === '' ? 'has no unit' : `has the unit "${unit}"`;
    throw new ConditionFault(
      `"${text}" ${said}, but ${name} does not go with that: ${UNIT_LESSONS[kind]}. Units: ${unitsOf(kind)}.`,
    );
  }
  const limit = Number(number) * factor;
  return { text: text.trim(), kind, operator: operator as Condition['operator'], limit, measured };
}

export function judgeCondition(condition: Condition, result: RunResult): JudgedCondition {
  const { text, kind, operator, limit } = condition;
  const measured = condition.measured(result);
  if (measured === null) {
    return {
      text,
      isTrue: true,
      measured,
      sentence: `${text}: this run did not measure it, which counts as a failure`,
    };
  }
  const isTrue = OPERATORS[operator](measured, limit);
  return { text, isTrue, measured, sentence: `${text}: it is ${formatFigure(kind, measured)}` };
}

function unitsOf(kind: FigureKind): string {
  const names = Object.keys(UNITS[kind]).filter((name) => name !== 'µs');
  return names.map((name) => (name === '' ? 'none' : name)).join(', ');
}

function measureNamed(name: string, text: string): Pick<Condition, 'kind' | 'measured'> {
  const figure = FIGURE_MEASURES.find((one) => one.name === name);
  if (figure !== undefined) return { kind: figure.kind, measured: figure.of };
  const times = [...TIME_MEASURES, ...TOOL_TIMES];
  const time = times.find((one) => name === one.name || name.startsWith(`${one.name}.`));
  if (time === undefined) throw new ConditionFault(`"${text}": there is no measure "${name}".\n${listOfMeasures()}`);
  const figureOfTime = readFigure(name.slice(time.name.length + 1));
  if (figureOfTime !== null) return { kind: figureOfTime.kind, measured: (result) => figureOfTime.of(time.of(result)) };
  throw new ConditionFault(
    `"${text}": ${time.name} is a distribution; say which figure of it: ${time.name}.p50, .p95, .p99.9 (any percentile), .min, .mean, .max or .count.`,
  );
}

interface FigureOfTime {
  kind: FigureKind;
  of: (distribution: Distribution) => number | null;
}

function readFigure(figure: string): FigureOfTime | null {
  if (figure === 'count') return { kind: 'count', of: ({ count }) => count };
  if (figure === 'min' || figure === 'mean' || figure === 'max') return { kind: 'time', of: (times) => times[figure] };
  const percent = Number(/^p(\d{1,2}(?:\.\d{1,3})?|100)$/.exec(figure)?.[1] ?? Number.NaN);
  if (Number.isNaN(percent)) return null;
  return { kind: 'time', of: (times) => exactly(times, percent) ?? quantileOf(times, percent / 100) };
}

/** The figure that the table shows, where it is one of those: a condition and the table never differ by a bucket. */
function exactly(times: Distribution, percent: number): number | null {
  const shown: Record<string, number | null> = {
    50: times.p50,
    90: times.p90,
    95: times.p95,
    99: times.p99,
    99.9: times.p999,
    100: times.max,
  };
  return shown[String(percent)] ?? null;
}

const NAME_COLUMNS = 36;

/** What can be asked, a line each. */
export function listOfMeasures(): string {
  const line = ({ name, about }: FigureMeasure): string => `  ${name.padEnd(NAME_COLUMNS)}${about}`;
  const timeLine = ({ name, title }: TimeMeasure): string =>
    `  ${`${name}.p95`.padEnd(NAME_COLUMNS)}${title.toLowerCase()}`;
  return [
    'Times, each with .p50, .p95, .p99.9 (any percentile), .min, .mean, .max or .count:',
    ...[...TIME_MEASURES, ...TOOL_TIMES].map(timeLine),
    'Figures:',
    ...FIGURE_MEASURES.map(line),
  ].join('\n');
}
