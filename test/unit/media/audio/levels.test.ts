import { expect, it } from 'vitest';
import { rmsDbfs, SILENCE_DBFS } from '../../../../media/audio/levels.ts';

const sine = (peak: number) =>
  Int16Array.from({ length: 8000 }, (_, i) => Math.round(peak * Math.sin((2 * Math.PI * 100 * i) / 8000)));

it('measures a full-scale sine at -3.01 dBFS and a tenth of it 20 dB lower', () => {
  expect(rmsDbfs(sine(32767), 0, 8000)).toBeCloseTo(-3.01, 2);
  expect(rmsDbfs(sine(3276.7), 0, 8000)).toBeCloseTo(-23.01, 2);
});

it('measures a square wave of -32768 at 0 dBFS', () => {
  expect(rmsDbfs(new Int16Array(160).fill(-32768), 0, 160)).toBe(0);
});

it('measures silence and no samples at all at -127 dBFS, which is below the quietest sound', () => {
  expect(rmsDbfs(new Int16Array(160), 0, 160)).toBe(SILENCE_DBFS);
  expect(rmsDbfs(new Int16Array(0), 0, 0)).toBe(SILENCE_DBFS);
  const quietest = new Int16Array(960);
  quietest[5] = 1;
  expect(rmsDbfs(quietest, 0, 960)).toBeGreaterThan(SILENCE_DBFS);
});

it('looks at its range only', () => {
  const samples = new Int16Array([32767, 0, 0, 32767]);
  expect(rmsDbfs(samples, 1, 2)).toBe(SILENCE_DBFS);
});
