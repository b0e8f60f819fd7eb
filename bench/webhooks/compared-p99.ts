/** How sure a comparison of two p99 is. Used by `main.ts` and `bench/webhooks-beside`. */
import { percentile, percentiles } from '../harness/percentile.ts';

const RESAMPLES = 2_000;

/** "+3.1 % (95 %: −4.0 % to +9.2 %)": both are drawn again and again from what was seen. */
export function comparedP99(above: readonly number[], below: readonly number[]): string {
  const drawn = (times: readonly number[]): number =>
    percentile(
      times.map(() => times[Math.floor(Math.random() * times.length)]!),
      0.99,
    );
  const ratios = Array.from({ length: RESAMPLES }, () => drawn(above) / drawn(below));
  const [low, high] = percentiles(ratios, [0.025, 0.975]);
  return `${percent(percentile(above, 0.99) / percentile(below, 0.99))} (95 %: ${percent(low!)} to ${percent(high!)})`;
}

function percent(ratio: number): string {
  return `${ratio >= 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)} %`;
}
