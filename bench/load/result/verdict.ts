/** What a difference between two runs means, in one word and in one sentence. Used by the comparison. */
import { type FigureKind, formatFigure, formatNumber } from './format-figure.ts';

export interface Verdict {
  /** `shown`: one figure a run, of which nothing says how much it differs by itself. */
  is: 'no worse' | 'better' | 'worse' | 'cannot tell' | 'shown';
  sentence: string;
}

interface Judged {
  kind: FigureKind;
  before: number | null;
  after: number | null;
  difference: { low: number; high: number } | null;
}

interface Limits {
  /** Of what was before. */
  tolerance: number;
  /** In the measure's own unit: what lies below is no difference. */
  least: number;
  isMoreBetter: boolean;
}

export function verdictOf(judged: Judged, { tolerance, least, isMoreBetter }: Limits): Verdict {
  const { before, after, difference } = judged;
  if (before === null || after === null) return { is: 'cannot tell', sentence: 'cannot tell: in one of them only' };
  if (difference === null) return { is: 'cannot tell', sentence: 'cannot tell: too few' };
  // From here on more is worse.
  const worse = isMoreBetter ? { low: -difference.high, high: -difference.low } : difference;
  const allowed = Math.max(least, Math.abs(before) * tolerance);
  if (worse.low > allowed) return { is: 'worse', sentence: `worse by ${span(judged, worse)}` };
  if (worse.high < 0 && -worse.high > least) {
    return { is: 'better', sentence: `better by ${span(judged, { low: -worse.high, high: -worse.low })}` };
  }
  if (worse.high <= allowed) return { is: 'no worse', sentence: 'no worse' };
  return { is: 'cannot tell', sentence: `cannot tell: ${signed(judged, worse.low)} to ${signed(judged, worse.high)}` };
}

/** Of what was before in percent; shares in percentage points; where there was next to nothing, as it is. */
function span({ kind, before }: Judged, { low, high }: { low: number; high: number }): string {
  if (kind === 'share') return `${formatNumber(round(low * 100))}–${formatNumber(round(high * 100))} percentage points`;
  if (isNothing(kind, before)) return `${formatFigure(kind, round(low))} to ${formatFigure(kind, round(high))}`;
  return `${percent(low / before!)}–${percent(high / before!)} %`;
}

function signed({ kind, before }: Judged, value: number): string {
  const sign = value >= 0 ? '+' : '−';
  const size = Math.abs(value);
  if (kind === 'share') return `${sign}${formatNumber(round(size * 100))} points`;
  if (isNothing(kind, before)) return `${sign}${formatFigure(kind, round(size))}`;
  return `${sign}${percent(size / before!)} %`;
}

const isNothing = (kind: FigureKind, before: number | null): boolean =>
  before === null || before === 0 || (kind === 'time' && before < 5);
const percent = (part: number): string => formatNumber(part >= 0.1 ? Math.round(part * 100) : round(part * 100));
const round = (value: number): number => Math.round(value * 100) / 100;
