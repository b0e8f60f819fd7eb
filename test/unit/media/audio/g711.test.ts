import { describe, expect, it } from 'vitest';
import { decodeAlaw, decodeMulaw, encodeAlaw, encodeMulaw } from '../../../../media/audio/g711.ts';

/**
 * The tables of ITU-T G.711 (table 1: A-law, table 2: mu-law), rebuilt from their rule: eight segments of sixteen
 * intervals whose step doubles, quantised to the middle of an interval. Positive half; decision
 * value i opens interval i.
 */
function mulawTable() {
  const decisions = [0];
  const levels = [0];
  let decision = 1;
  for (let step = 2; step <= 256; step *= 2) {
    for (let i = step === 2 ? 1 : 0; i < 16; i++) {
      decisions.push(decision);
      levels.push(decision + step / 2);
      decision += step;
    }
  }
  return { decisions, levels };
}

function alawTable() {
  const decisions: number[] = [];
  const levels: number[] = [];
  let decision = 0;
  for (const step of [2, 2, 4, 8, 16, 32, 64, 128]) {
    for (let i = 0; i < 16; i++) {
      decisions.push(decision);
      levels.push(decision + step / 2);
      decision += step;
    }
  }
  return { decisions, levels };
}

function intervalOf(decisions: number[], magnitude: number): number {
  let index = decisions.length - 1;
  while (decisions[index]! > magnitude) index--;
  return index;
}

const everySample = Int16Array.from({ length: 65536 }, (_, i) => i - 32768);
const everyCode = Uint8Array.from({ length: 256 }, (_, i) => i);

describe('G.711 mu-law', () => {
  const { decisions, levels } = mulawTable();

  it('rebuilds the standard’s own end points: 128 intervals, first level of segment 2 is 33, last level 8031', () => {
    expect(levels.length).toBe(128);
    expect(levels[16]).toBe(33);
    expect(decisions[127]).toBe(7903);
    expect(levels[127]).toBe(8031);
  });

  it('decodes all 256 codes to the levels of table 2 at 16 bits', () => {
    const got = new Int16Array(256);
    decodeMulaw(everyCode, 0, 256, got, 0);
    for (let code = 0; code < 256; code++) {
      const level = levels[~code & 0x7f]! * 4;
      expect(got[code]).toBe(code & 0x80 ? level : 0 - level);
    }
  });

  it('encodes all 65536 samples by the decision values of table 2', () => {
    const got = new Uint8Array(65536);
    encodeMulaw(everySample, 0, 65536, got, 0);
    const want = Uint8Array.from(everySample, (sample) => {
      const magnitude = (sample < 0 ? -1 - sample : sample) >> 2;
      const inverted = intervalOf(decisions, magnitude) | (sample < 0 ? 0x80 : 0);
      return ~inverted & 0xff;
    });
    expect(Buffer.compare(got, want)).toBe(0);
  });
});

describe('G.711 A-law', () => {
  const { decisions, levels } = alawTable();

  it('decodes all 256 codes to the levels of table 1 at 16 bits, even bits inverted', () => {
    expect(levels[127]).toBe(4032);
    const got = new Int16Array(256);
    decodeAlaw(everyCode, 0, 256, got, 0);
    for (let code = 0; code < 256; code++) {
      const level = levels[(code ^ 0x55) & 0x7f]! * 8;
      expect(got[code]).toBe((code ^ 0x55) & 0x80 ? level : -level);
    }
  });

  it('encodes all 65536 samples by the decision values of table 1', () => {
    const got = new Uint8Array(65536);
    encodeAlaw(everySample, 0, 65536, got, 0);
    const want = Uint8Array.from(everySample, (sample) => {
      const magnitude = (sample < 0 ? -1 - sample : sample) >> 3;
      return (intervalOf(decisions, magnitude) | (sample < 0 ? 0 : 0x80)) ^ 0x55;
    });
    expect(Buffer.compare(got, want)).toBe(0);
  });
});

it('writes only the range it was given, at both offsets', () => {
  const samples = new Int16Array([9, 9, 9, 9]);
  decodeMulaw(new Uint8Array([0x00, 0xff, 0x80, 0x00]), 1, 2, samples, 1);
  expect([...samples]).toEqual([9, 0, 32124, 9]);
  const codes = new Uint8Array([7, 7, 7, 7]);
  encodeMulaw(new Int16Array([1, 0, -32768, 1]), 1, 2, codes, 2);
  expect([...codes]).toEqual([7, 7, 0xff, 0x00]);
});
