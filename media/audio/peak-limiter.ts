/**
 * Holds peaks under a ceiling without clipping: the gain falls before a peak comes (5 ms of foresight) and rises after
 * it, smoothly. For whole sounds in memory, not for streams. Pure.
 */

const FORESIGHT_MS = 5;
const RELEASE_MS = 80;

/** A new array: `samples` times `gain`, none above `ceiling`. */
export function limited(samples: Float32Array, rateHz: number, gain: number, ceiling: number): Float32Array {
  const foresight = Math.max(1, Math.round((rateHz * FORESIGHT_MS) / 1000));
  const release = 1 - Math.exp(-1000 / (rateHz * RELEASE_MS));
  const allowed = least(samples, foresight, gain, ceiling);
  let held = 1;
  for (let i = 0; i < allowed.length; i++) {
    held = Math.min(allowed[i]!, held + (1 - held) * release);
    allowed[i] = held;
  }
  const result = new Float32Array(samples.length);
  // A mean over the foresight: each of its values was held down for every peak within it, so their mean is too.
  let sum = foresight;
  for (let i = 0; i < samples.length; i++) {
    sum += allowed[i]! - (i < foresight ? 1 : allowed[i - foresight]!);
    const level = samples[i]! * gain * (i < foresight ? Math.min(allowed[i]!, sum / foresight) : sum / foresight);
    result[i] = Math.max(-ceiling, Math.min(ceiling, level));
  }
  return result;
}

/** For each sample the least gain that any of the next `window` samples needs; a queue of falling candidates. */
function least(samples: Float32Array, window: number, gain: number, ceiling: number): Float32Array {
  const needed = (i: number): number => Math.min(1, ceiling / Math.max(1e-9, Math.abs(samples[i]! * gain)));
  const result = new Float32Array(samples.length);
  const places = new Int32Array(samples.length);
  const values = new Float32Array(samples.length);
  let first = 0;
  let last = 0;
  let next = 0;
  for (let i = 0; i < samples.length; i++) {
    while (next < samples.length && next < i + window) {
      const value = needed(next);
      while (last > first && values[last - 1]! >= value) last--;
      places[last] = next++;
      values[last++] = value;
    }
    while (places[first]! < i) first++;
    result[i] = values[first]!;
  }
  return result;
}
