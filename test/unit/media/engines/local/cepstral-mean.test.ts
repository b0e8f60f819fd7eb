import { expect, it } from 'vitest';
import { cepstralMean } from '../../../../../media/engines/local/cepstral-mean.ts';

const FILTERS = 20;

function logMel(...frames: ((filter: number) => number)[]): Float32Array {
  return Float32Array.from({ length: frames.length * FILTERS }, (_, i) =>
    frames[Math.floor(i / FILTERS)]!(i % FILTERS),
  );
}

it('gives the level of a flat spectrum in the first cepstrum and zeros in the other 12', () => {
  const mean = cepstralMean(
    logMel(
      () => 10,
      () => 12,
    ),
    2,
    FILTERS,
  )!;
  expect(mean).toHaveLength(13);
  expect(mean[0]).toBeCloseTo(11 * Math.sqrt(FILTERS), 4);
  for (const value of mean.slice(1)) expect(value).toBeCloseTo(0, 4);
});

it('gives a spectrum shaped like the third cosine in the third cepstrum, with the lifter of 22', () => {
  const mean = cepstralMean(
    logMel((k) => 10 + Math.cos((Math.PI * 2 * (k + 0.5)) / FILTERS)),
    1,
    FILTERS,
  )!;
  expect(mean[2]).toBeCloseTo(Math.sqrt(FILTERS / 2) * (1 + 11 * Math.sin((2 * Math.PI) / 22)), 4);
  expect(mean[1]).toBeCloseTo(0, 4);
  expect(mean[3]).toBeCloseTo(0, 4);
});

it('leaves out frames without energy and frames 39 dB below the loudest', () => {
  const loud = logMel(() => 10);
  const mixed = logMel(
    () => 10,
    () => -5,
    () => 0.9,
    () => 10,
  );
  expect(cepstralMean(mixed, 4, FILTERS)).toEqual(cepstralMean(loud, 1, FILTERS));
  const faint = logMel(() => 2);
  const faintAndDead = logMel(
    () => 2,
    () => -0.1,
  );
  expect(cepstralMean(faintAndDead, 2, FILTERS)).toEqual(cepstralMean(faint, 1, FILTERS));
});

it('has no mean of digital silence or of no frames', () => {
  expect(
    cepstralMean(
      logMel(() => -11),
      1,
      FILTERS,
    ),
  ).toBeNull();
  expect(cepstralMean(new Float32Array(0), 0, FILTERS)).toBeNull();
});
