import { expect, it } from 'vitest';
import { timedWords } from '../../../../../media/engines/local/rejection.ts';

it('takes words and their times out of the segments of a decoder, without sounds, pauses and variants', () => {
  const segments = [
    { t: '~DH', b: 0, d: 0.06, p: 0.9 },
    { t: '<sil>', b: 0.06, d: 0.3, p: 0.9 },
    { t: 'to(2)', b: 0.36, d: 0.13, p: 0.96 },
    { t: "o'clock", b: 0.49, d: 0.5, p: 0.8 },
    { t: '(NULL)', b: 0.99, d: 0, p: 1 },
  ];
  expect(timedWords(segments)).toEqual([
    { word: 'to', startMs: 360, endMs: 490, confidence: 0.96 },
    { word: "o'clock", startMs: 490, endMs: 990, confidence: 0.8 },
  ]);
});
