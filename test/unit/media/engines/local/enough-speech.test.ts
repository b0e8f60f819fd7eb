import { expect, it } from 'vitest';
import { createRandom } from '../../../../../bench/harness/seeded-random.ts';
import { hasEnoughSpeech } from '../../../../../media/engines/local/enough-speech.ts';

const FRAME = 80;

/** Noise of the given amplitudes, each for so many frames of 10 ms. */
function noise(...parts: [frames: number, amplitude: number][]): Float32Array {
  const random = createRandom(5);
  const samples: number[] = [];
  for (const [frames, amplitude] of parts) {
    for (let i = 0; i < frames * FRAME; i++) samples.push(amplitude * (2 * random() - 1));
  }
  return Float32Array.from(samples);
}

it('has enough with 400 ms of sound on a silent line, wherever it stands, and not with 390 ms', () => {
  expect(hasEnoughSpeech(noise([50, 0], [40, 0.1]), FRAME)).toBe(true);
  expect(hasEnoughSpeech(noise([20, 0.1], [50, 0], [20, 0.1]), FRAME)).toBe(true);
  expect(hasEnoughSpeech(noise([50, 0], [39, 0.1]), FRAME)).toBe(false);
});

it('has not enough with 1 s of steady noise, and has with 400 ms that are 20 dB louder', () => {
  expect(hasEnoughSpeech(noise([100, 0.01]), FRAME)).toBe(false);
  expect(hasEnoughSpeech(noise([50, 0.01], [40, 0.1]), FRAME)).toBe(true);
});

it('takes the lowest steps of mu-law for no sound, and too few samples for too few', () => {
  expect(hasEnoughSpeech(noise([20, 0], [80, 8 / 32768]), FRAME)).toBe(false);
  expect(hasEnoughSpeech(noise([39, 0.1]), FRAME)).toBe(false);
  expect(hasEnoughSpeech(new Float32Array(0), FRAME)).toBe(false);
});
