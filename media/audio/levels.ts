/**
 * Loudness of linear samples. Called by the pipeline (caller's level), the recorder's tests and the bench; pure
 * arithmetic, no state. 0 dBFS is the RMS of a square wave at full scale, so a sine at full scale measures -3.01 dBFS.
 */

/**
 * What silence measures: below the quietest 16-bit signal (one sample of 1 in 20 ms at 48 kHz
 * is -120 dBFS), yet a number.
 */
export const SILENCE_DBFS = -127;

/** RMS level of `samples` values from `start`, in dBFS: `SILENCE_DBFS` (also for no samples at all) to 0. */
export function rmsDbfs(monoSamples: Int16Array, start: number, samples: number): number {
  let sumOfSquares = 0;
  for (let i = start; i < start + samples; i++) {
    const value = monoSamples[i]!;
    sumOfSquares += value * value;
  }
  if (sumOfSquares === 0) return SILENCE_DBFS;
  return 10 * Math.log10(sumOfSquares / samples / (32768 * 32768));
}
