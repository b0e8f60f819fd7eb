/**
 * Tells when the beginning of an utterance holds enough speech to know the voice and the line by. Called by a decoder
 * with each batch that it holds back, up to 1.2 s. Speech here is what stands out of the quietest frames; sound that
 * never changes (noise, or a stream that begins in the middle of a word) is never enough, and the decoder's own limit
 * ends the wait.
 */
const ENOUGH_FRAMES = 40;
/** The quietest fifth of the frames is the line. */
const FLOOR_SHARE = 0.2;
/** 8 dB in power. */
const ABOVE_FLOOR = 6.3;
/** -66 dBFS in power: on a line of digital silence everything would stand out. */
const LEAST_POWER = 2.5e-7;

/** `samples` are in [-1, 1]; a frame is 10 ms. 40 frames (400 ms) are enough. */
export function hasEnoughSpeech(samples: Float32Array, frameSamples: number): boolean {
  const frames = Math.floor(samples.length / frameSamples);
  if (frames < ENOUGH_FRAMES) return false;
  const powers = new Float64Array(frames);
  for (let frame = 0; frame < frames; frame++) {
    let sum = 0;
    for (let i = frame * frameSamples; i < (frame + 1) * frameSamples; i++) sum += samples[i]! * samples[i]!;
    powers[frame] = sum / frameSamples;
  }
  powers.sort();
  const floor = Math.max(LEAST_POWER, powers[Math.floor(frames * FLOOR_SHARE)]!) * ABOVE_FLOOR;
  let speech = 0;
  for (const power of powers) if (power > floor) speech++;
  return speech >= ENOUGH_FRAMES;
}
