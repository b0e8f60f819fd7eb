/** How loud each side is along a recording, for drawing it and for finding where nobody speaks. Pure. */
import type { SoundPeaks } from '../../api/overview.ts';

export interface Peaks {
  /** 0 to 1, one a bin. */
  caller: Float32Array;
  agent: Float32Array;
  durationSeconds: number;
}

const BINS = 900;
/** Below this nobody speaks. */
const QUIET = 0.02;
const LEAST_SILENCE_SECONDS = 1.2;
/** Left of a silence that is skipped, at each end. */
const BREATH_SECONDS = 0.25;

/** What the service made of the sound, in as many bins as are drawn. */
export function peaksOf({ durationSeconds, caller, agent }: SoundPeaks): Peaks {
  return { caller: binned(caller), agent: binned(agent), durationSeconds };
}

function binned(levels: readonly number[]): Float32Array {
  const bins = new Float32Array(Math.max(2, Math.min(BINS, levels.length)));
  for (const [at, level] of levels.entries()) {
    const bin = Math.min(bins.length - 1, Math.floor((at * bins.length) / levels.length));
    bins[bin] = Math.max(bins[bin]!, level / 255);
  }
  return bins;
}

/** Where nobody speaks for long, in seconds, without the breath at either end. */
export function silencesOf({ caller, agent, durationSeconds }: Peaks): [from: number, to: number][] {
  const found: [number, number][] = [];
  const width = durationSeconds / caller.length;
  let since = 0;
  for (let bin = 0; bin <= caller.length; bin++) {
    const isQuiet = bin < caller.length && caller[bin]! < QUIET && agent[bin]! < QUIET;
    if (isQuiet) continue;
    const [from, to] = [since * width, bin * width];
    if (to - from >= LEAST_SILENCE_SECONDS) found.push([from + BREATH_SECONDS, to - BREATH_SECONDS]);
    since = bin + 1;
  }
  return found;
}

/** An area for an SVG of `bins` × 100, mirrored about nothing: up for the caller, down for the agent. */
export function areaOf(peaks: Float32Array, direction: 1 | -1): string {
  // By loudness as it is heard, so that soft speech is seen too.
  const points = Array.from(peaks, (peak, at) => `${at},${(50 - direction * (1 + 47 * Math.sqrt(peak))).toFixed(1)}`);
  return `M0,50L${points.join('L')}L${peaks.length - 1},50Z`;
}
