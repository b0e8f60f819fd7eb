import { expect, test } from 'vitest';
import { createRandom } from '../../../../../bench/harness/seeded-random.ts';
import { SoundDetector } from '../../../../../media/call/turn-taking/sound-detector.ts';

/** 20 ms of white noise of that level at 8 kHz, the same in each run. */
function noiseOf(rms: number): () => Int16Array {
  const random = createRandom(7);
  return () => Int16Array.from({ length: 160 }, () => (random() - 0.5) * 2 * rms * Math.sqrt(3));
}

const heard = (detector: SoundDetector, frame: () => Int16Array, frames: number): number =>
  Array.from({ length: frames }, () => detector.sounds(frame())).filter(Boolean).length;

test.each([0, 15, 60, 200])(
  'steady noise of %i is no sound once it is known, and what is twice as loud is',
  (level) => {
    const detector = new SoundDetector();
    heard(detector, noiseOf(level), 25);
    expect(heard(detector, noiseOf(level), 500)).toBeLessThanOrEqual(2);
    expect(heard(detector, noiseOf(Math.max(30, 2 * level)), 5)).toBe(5);
  },
);

test('a sentence of 2 s does not lift the noise that it is measured by', () => {
  const detector = new SoundDetector();
  heard(detector, noiseOf(30), 50);
  expect(heard(detector, noiseOf(3_000), 100)).toBe(100);
  expect(heard(detector, noiseOf(120), 3)).toBe(3);
});

test('a line that has become louder is known within 10 s', () => {
  const detector = new SoundDetector();
  heard(detector, noiseOf(30), 50);
  heard(detector, noiseOf(90), 500);
  expect(heard(detector, noiseOf(90), 100)).toBeLessThanOrEqual(2);
});
