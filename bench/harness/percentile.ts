/** The value at or below which this part of the values lies (nearest rank): 0.5 is the median, 1 the greatest. NaN of none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}
