/**
 * Two runs beside each other, measure by measure, each with a verdict that says what can be told and what cannot. Used
 * by `bench compare`. The same two results always get the same verdict: chance is seeded.
 *
 * A percentile is drawn again as a bootstrap would: the one of a fresh sample of n values lies at a part of the old
 * sample that has a Beta distribution (an order statistic), so no sample has to be drawn. A share is drawn by what the
 * counts say of it (Beta, Jeffreys), a rate of events likewise (Gamma). Of values that hang together, such as the
 * frames of one call, no more are believed than there were calls. What two runs of the same service differ by, from one
 * hour to the next, no single pair of runs can say: that is what the tolerance is for.
 */
import { percentiles } from '../../harness/percentile.ts';
import { createRandom } from '../../harness/seeded-random.ts';
import type { RunResult } from '../contract/run-result.ts';
import { type Chance, createChance } from './chance.ts';
import type { FigureKind } from './format-figure.ts';
import { TIME_MEASURES, type TimeMeasure } from './measures.ts';
import { quantilesOf } from './quantiles.ts';
import { type Verdict, verdictOf } from './verdict.ts';

export interface CompareOptions {
  /** What may get worse without a verdict of "worse": 0.05 is 5 %. */
  tolerance: number;
  seed?: number;
  /** Draws a measure. */
  draws?: number;
}

export interface ComparedMeasure {
  name: string;
  kind: FigureKind;
  before: number | null;
  after: number | null;
  /** Of the difference `after − before`, in the measure's own unit; null: cannot be told. */
  difference: { low: number; high: number } | null;
  verdict: Verdict;
}

const DRAWS = 4_000;
/** A dozen measures are judged at once: of a hundred comparisons one may be wrong. */
const CONFIDENCE = 0.99;
const TIME_PARTS = [0.5, 0.95, 0.99];
/** Fewer than this beyond a percentile, and it is the place of one value. */
const LEAST_BEYOND = 3;
/** A tenth of a percentage point, a gap in twenty minutes: less is no difference that matters. */
const LEAST_SHARE = 0.001;
const LEAST_RATE = 0.05;

export function compareResults(before: RunResult, after: RunResult, options: CompareOptions): ComparedMeasure[] {
  const draws = options.draws ?? DRAWS;
  const seed = options.seed ?? 1;
  const chanceOf = (name: string): Chance => createChance(createRandom(seed + hashOf(name)));
  const { tolerance } = options;
  const times = TIME_MEASURES.flatMap((measure) =>
    TIME_PARTS.map((part) => comparedTime(measure, part, before, after, { tolerance, draws, chanceOf })),
  );
  const counts = COUNTED.map((counted) => comparedCount(counted, before, after, { tolerance, draws, chanceOf }));
  const all = [...times, ...counts, comparedKnee(before, after, tolerance), ...comparedFigures(before, after)];
  return all.filter(({ before, after }) => before !== null || after !== null);
}

interface Means {
  tolerance: number;
  draws: number;
  chanceOf: (name: string) => Chance;
}

function comparedTime(
  measure: TimeMeasure,
  part: number,
  before: RunResult,
  after: RunResult,
  { tolerance, draws, chanceOf }: Means,
): ComparedMeasure {
  const name = `${measure.name}.p${part * 100}`;
  const chance = chanceOf(name);
  const sides = [before, after].map((result) => {
    const times = measure.of(result);
    const independent = measure.isPerCall ? Math.min(times.count, callsHeard(result)) : times.count;
    const quantile = quantilesOf(times);
    return { independent, quantile, seen: quantile(part) };
  });
  const [old, fresh] = sides as [(typeof sides)[number], (typeof sides)[number]];
  const isTold = sides.every(({ independent }) => independent * (1 - part) >= LEAST_BEYOND);
  const drawn = ({ independent, quantile }: (typeof sides)[number]): number => {
    const rank = Math.ceil(part * independent);
    return quantile(chance.beta(rank, independent - rank + 1)) ?? 0;
  };
  const difference = isTold ? spreadOf(draws, () => drawn(fresh) - drawn(old)) : null;
  return compared({ name, kind: 'time', before: old.seen, after: fresh.seen, difference }, tolerance, measure.leastMs);
}

const callsHeard = ({ calls }: RunResult): number => calls.talked + calls.lost + calls.cut;

interface CountedMeasure {
  name: string;
  kind: 'share' | 'rate';
  isMoreBetter?: boolean;
  /** So many events, of so many chances to happen (a share) or in so many call minutes (a rate). */
  of: (result: RunResult) => { events: number; among: number };
}

const begunOf = ({ calls }: RunResult): number => calls.planned - calls.heldBack;

const COUNTED: readonly CountedMeasure[] = [
  {
    name: 'errors.share',
    kind: 'share',
    of: (result) => ({
      events: result.calls.failed + result.calls.refused + result.calls.lost,
      among: begunOf(result),
    }),
  },
  {
    name: 'gaps.perCallMinute',
    kind: 'rate',
    of: (result) => {
      const { gapMs, gapsPerCallMinute } = result.measures;
      // Gaps come in bad calls: no more of them are believed than there were calls.
      const events = Math.min(gapMs.count, callsHeard(result));
      const minutes = gapMs.count === 0 ? result.calls.talkMs / 60_000 : events / (gapsPerCallMinute ?? Number.NaN);
      return { events, among: gapsPerCallMinute === null ? 0 : minutes };
    },
  },
  {
    name: 'bargeIns.stoppedShare',
    kind: 'share',
    isMoreBetter: true,
    of: ({ measures }) => ({ events: measures.bargeInsThatStopped, among: measures.bargeIns }),
  },
  {
    name: 'turns.unansweredShare',
    kind: 'share',
    of: ({ measures }) => ({
      events: measures.turnsUnanswered,
      among: measures.turnsUnanswered + measures.replyMs.count,
    }),
  },
];

function comparedCount(
  { name, kind, isMoreBetter = false, of }: CountedMeasure,
  before: RunResult,
  after: RunResult,
  { tolerance, draws, chanceOf }: Means,
): ComparedMeasure {
  const chance = chanceOf(name);
  const [old, fresh] = [of(before), of(after)];
  const seen = ({ events, among }: typeof old): number | null => (among === 0 ? null : events / among);
  const drawn = ({ events, among }: typeof old): number =>
    kind === 'share' ? chance.beta(events + 0.5, among - events + 0.5) : chance.gamma(events + 0.5) / among;
  const isTold = old.among > 0 && fresh.among > 0;
  const difference = isTold ? spreadOf(draws, () => drawn(fresh) - drawn(old)) : null;
  const least = kind === 'share' ? LEAST_SHARE : LEAST_RATE;
  return compared({ name, kind, before: seen(old), after: seen(fresh), difference }, tolerance, least, isMoreBetter);
}

/** The knee has a spread of its own: of the repetitions around it. */
function comparedKnee({ knee: old }: RunResult, { knee: fresh }: RunResult, tolerance: number): ComparedMeasure {
  const [before, after] = [old?.carried ?? null, fresh?.carried ?? null];
  const name = 'knee.carried';
  const [lowBefore, highBefore] = [old?.low ?? before, old?.high ?? before];
  const [lowAfter, highAfter] = [fresh?.low ?? after, fresh?.high ?? after];
  const isTold = lowBefore !== null && highBefore !== null && lowAfter !== null && highAfter !== null;
  const difference = isTold ? { low: lowAfter - highBefore, high: highAfter - lowBefore } : null;
  return compared({ name, kind: 'rate', before, after, difference }, tolerance, 0, true);
}

/** One figure a run: shown, and not judged, as nothing says how much it differs from run to run. */
function comparedFigures({ usage: old }: RunResult, { usage: fresh }: RunResult): ComparedMeasure[] {
  const shown = (name: string, kind: FigureKind, before: number | null, after: number | null): ComparedMeasure => ({
    name,
    kind,
    before,
    after,
    difference: null,
    verdict: { is: 'shown', sentence: before === null || after === null ? 'in one of them only' : 'not judged' },
  });
  return [
    shown('usage.cpuMsPerCallSecond', 'rate', old.cpuMsPerCallSecond, fresh.cpuMsPerCallSecond),
    shown('usage.memoryPerCall', 'bytes', old.residentBytesPerCall, fresh.residentBytesPerCall),
    shown('usage.commitsPerCall', 'rate', old.commitsPerCall, fresh.commitsPerCall),
    shown('usage.walPerCall', 'bytes', old.walBytesPerCall, fresh.walBytesPerCall),
  ];
}

function compared(
  measure: Omit<ComparedMeasure, 'verdict'>,
  tolerance: number,
  least: number,
  isMoreBetter = false,
): ComparedMeasure {
  return { ...measure, verdict: verdictOf(measure, { tolerance, least, isMoreBetter }) };
}

function spreadOf(draws: number, draw: () => number): { low: number; high: number } {
  const drawn = Float64Array.from({ length: draws }, draw);
  const [low, high] = percentiles(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]);
  return { low: low!, high: high! };
}

/** Each measure has chances of its own: one more measure changes no other's verdict. */
function hashOf(name: string): number {
  let hash = 0;
  for (const letter of name) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0;
  return hash;
}
