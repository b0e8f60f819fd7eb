/**
 * Percentiles by nearest rank, of all that benches and fault tests measure. What is counted in a histogram has its own.
 */

type Numbers = readonly number[] | Float64Array;

/** The value at or below which this part of the values lies: 0.5 is the median, 1 the greatest. NaN of none. */
export function percentile(values: Numbers, part: number): number {
  return percentiles(values, [part])[0]!;
}

/** Several of the same values, which are sorted once. */
export function percentiles(values: Numbers, parts: readonly number[]): number[] {
  const sorted = Float64Array.from(values).sort();
  return parts.map((part) => sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN);
}
