/** How loud each side is along a recording, for drawing it and for finding where nobody speaks. */

export interface Peaks {
  /** 0 to 1, one a bin. */
  caller: Float32Array;
  agent: Float32Array;
  durationSeconds: number;
}

const BINS = 900;
const RATE_HZ = 8_000;
/** Below this nobody speaks. */
const QUIET = 0.02;
const LEAST_SILENCE_SECONDS = 1.2;
/** Left of a silence that is skipped, at each end. */
const BREATH_SECONDS = 0.25;

/** Of the sound file's bytes. Rejects where the browser cannot decode it. */
export async function peaksOf(bytes: ArrayBuffer): Promise<Peaks> {
  const sound = await new OfflineAudioContext(2, 1, RATE_HZ).decodeAudioData(bytes);
  const caller = binned(sound.getChannelData(0));
  const agent = sound.numberOfChannels > 1 ? binned(sound.getChannelData(1)) : new Float32Array(BINS);
  return { caller, agent, durationSeconds: sound.duration };
}

function binned(samples: Float32Array): Float32Array {
  const bins = new Float32Array(BINS);
  const width = samples.length / BINS;
  for (let bin = 0; bin < BINS; bin++) {
    let most = 0;
    const end = Math.min(samples.length, Math.floor((bin + 1) * width));
    for (let at = Math.floor(bin * width); at < end; at++) most = Math.max(most, Math.abs(samples[at]!));
    bins[bin] = most;
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
