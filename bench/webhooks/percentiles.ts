/** Percentiles of what the webhook bench saw, and how sure a comparison of two p99 is. Pure; used by `main.ts` and `bench/webhooks-beside`. */

const RESAMPLES = 2_000;

export function ascending(numbers: readonly number[]): number[] {
  return numbers.toSorted((a, b) => a - b);
}

/** `share` 0.5 is the median. */
export function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** "+3.1 % (95 %: −4.0 % to +9.2 %)": both are drawn again and again from what was seen. */
export function comparedP99(above: readonly number[], below: readonly number[]): string {
  const drawn = (times: readonly number[]): number =>
    at(ascending(times.map(() => times[Math.floor(Math.random() * times.length)]!)), 0.99);
  const ratios = ascending(Array.from({ length: RESAMPLES }, () => drawn(above) / drawn(below)));
  const ratio = at(ascending(above), 0.99) / at(ascending(below), 0.99);
  return `${percent(ratio)} (95 %: ${percent(at(ratios, 0.025))} to ${percent(at(ratios, 0.975))})`;
}

function percent(ratio: number): string {
  return `${ratio >= 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)} %`;
}
