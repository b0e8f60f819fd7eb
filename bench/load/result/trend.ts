/**
 * Whether something grows while the load stays even: the slope of a series by the hour, with its confidence. Pure; used
 * by the gatherer and, for the series alone, by the measures of the target's use.
 *
 * The slope is that of the least squares through means of equal spans. What such a series does from one span to the
 * next hangs together (memory is a saw, a slow minute has neighbours), so fewer spans are believed than there are: as
 * many as would be independent by the correlation of neighbours (n · (1 − r) / (1 + r)).
 */

export interface Slope {
  /** At the beginning, on the line. */
  from: number;
  perHour: number;
  /** Between these it lies with 95 % confidence. */
  low: number;
  high: number;
  /** Between the first and the last point. */
  overMs: number;
}

interface Point {
  atMs: number;
  value: number;
}

const MOST_POINTS = 4_000;

/** Values over time, in bounded memory: of a long run every second, fourth… point is kept. */
export class Series {
  #points: Point[] = [];
  #every = 1;
  #seen = 0;

  add(atMs: number, value: number): void {
    if (this.#seen++ % this.#every !== 0) return;
    this.#points.push({ atMs, value });
    if (this.#points.length < MOST_POINTS) return;
    this.#points = this.#points.filter((_point, at) => at % 2 === 0);
    this.#every *= 2;
  }

  /** Of the part between the two instants. */
  within(fromMs: number, untilMs: number): readonly Point[] {
    return this.#points.filter(({ atMs }) => atMs >= fromMs && atMs <= untilMs);
  }
}

const HOUR_MS = 3_600_000;
const SPANS = 60;
/** Less says nothing of an hour. */
const LEAST_SPANS = 10;
export const LEAST_TREND_MS = 120_000;

/** Null: too few points, or too short. */
export function slopeOf(points: readonly Point[]): Slope | null {
  const atMs = points.map((point) => point.atMs);
  const firstMs = atMs.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
  const lastMs = atMs.reduce((most, one) => Math.max(most, one), Number.NEGATIVE_INFINITY);
  const overMs = lastMs - firstMs;
  if (!(overMs >= LEAST_TREND_MS)) return null;
  const means = meansOf(points, firstMs, overMs / SPANS);
  if (means.length < LEAST_SPANS) return null;
  const centreMs = mean(means.map((one) => one.atMs));
  const centre = mean(means.map((one) => one.value));
  const squares = sum(means.map((one) => (one.atMs - centreMs) ** 2));
  const perMs = sum(means.map((one) => (one.atMs - centreMs) * (one.value - centre))) / squares;
  const off = means.map((one) => one.value - centre - perMs * (one.atMs - centreMs));
  // Two are spent on the line itself, and one says nothing of a spread.
  const free = Math.max(1, believed(off) - 2);
  const error = Math.sqrt(sum(off.map((one) => one * one)) / free / squares);
  const reach = studentOf(free) * error;
  return {
    from: centre + perMs * (firstMs - centreMs),
    perHour: perMs * HOUR_MS,
    low: (perMs - reach) * HOUR_MS,
    high: (perMs + reach) * HOUR_MS,
    overMs,
  };
}

/** Of equal spans; spans without a point are left out. */
function meansOf(points: readonly Point[], firstMs: number, spanMs: number): Point[] {
  const spans = new Map<number, Point[]>();
  for (const point of points) {
    const at = Math.min(SPANS - 1, Math.floor((point.atMs - firstMs) / spanMs));
    spans.set(at, [...(spans.get(at) ?? []), point]);
  }
  return [...spans]
    .sort(([a], [b]) => a - b)
    .map(([, own]) => ({ atMs: mean(own.map((one) => one.atMs)), value: mean(own.map((one) => one.value)) }));
}

/** So many of them count as independent. */
function believed(off: readonly number[]): number {
  const power = sum(off.map((one) => one * one));
  if (power === 0) return off.length;
  const neighbours = sum(off.slice(1).map((one, at) => one * off[at]!));
  const r = Math.min(0.95, Math.max(0, neighbours / power));
  return (off.length * (1 - r)) / (1 + r);
}

/**
 * The 97.5 % quantile of Student's distribution, by the expansion around the normal one (Abramowitz and Stegun 26.7.5);
 * with less than three degrees the tails are longer than it says, so those are told exactly or above.
 */
function studentOf(free: number): number {
  if (free < 2) return 12.71;
  if (free < 3) return 4.31;
  const z = 1.959_964;
  return (
    z +
    (z ** 3 + z) / (4 * free) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * free ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * free ** 3)
  );
}

const sum = (values: readonly number[]): number => values.reduce((whole, one) => whole + one, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
