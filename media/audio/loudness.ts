/**
 * Integrated loudness of one channel in LUFS: ITU-R BS.1770-4, the measure of EBU R 128. K-weighting (two biquads),
 * mean square over blocks of 400 ms that overlap by 75 %, an absolute gate at -70 LUFS and a relative one 10 LU under
 * what passes it. Pure.
 */

const HOP_MS = 100;
const HOPS_A_BLOCK = 4;
const ABSOLUTE_GATE_LUFS = -70;
const RELATIVE_GATE_LU = 10;
/** So that a 997 Hz sine of full scale in one channel reads -3.01 LUFS (BS.1770-4, annex 1). */
const OFFSET_LU = -0.691;

interface Biquad {
  b0: number;
  b1: number;
  b2: number;
  a1: number;
  a2: number;
}

/** Minus infinity for silence. Sound shorter than a block counts as one block. */
export function integratedLufs(monoSamples: Float32Array, rateHz: number): number {
  const powers = blockPowers(monoSamples, rateHz);
  const loud = powers.filter((power) => lufsOf(power) > ABSOLUTE_GATE_LUFS);
  if (loud.length === 0) return Number.NEGATIVE_INFINITY;
  const gateLufs = lufsOf(mean(loud)) - RELATIVE_GATE_LU;
  return lufsOf(mean(loud.filter((power) => lufsOf(power) > gateLufs)));
}

const lufsOf = (power: number): number => OFFSET_LU + 10 * Math.log10(power);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function blockPowers(monoSamples: Float32Array, rateHz: number): number[] {
  const hopSamples = Math.round((rateHz * HOP_MS) / 1000);
  const shelf = headShelf(rateHz);
  const highPass = lowCut(rateHz);
  const hops: number[] = [];
  let [x1, x2, y1, y2, z1, z2] = [0, 0, 0, 0, 0, 0];
  let sum = 0;
  let count = 0;
  for (let i = 0; i < monoSamples.length; i++) {
    const x = monoSamples[i]!;
    const y = shelf.b0 * x + shelf.b1 * x1 + shelf.b2 * x2 - shelf.a1 * y1 - shelf.a2 * y2;
    const z = highPass.b0 * y + highPass.b1 * y1 + highPass.b2 * y2 - highPass.a1 * z1 - highPass.a2 * z2;
    x2 = x1;
    x1 = x;
    y2 = y1;
    y1 = y;
    z2 = z1;
    z1 = z;
    sum += z * z;
    if (++count < hopSamples) continue;
    hops.push(sum / count);
    sum = 0;
    count = 0;
  }
  if (hops.length < HOPS_A_BLOCK) {
    const all = hops.reduce((total, power) => total + power * hopSamples, sum);
    return [all / Math.max(1, monoSamples.length)];
  }
  return hops.slice(HOPS_A_BLOCK - 1).map((_power, i) => mean(hops.slice(i, i + HOPS_A_BLOCK)));
}

/**
 * Stage 1: a shelf of 4 dB above 1.7 kHz, for the head. The standard's table for 48 kHz, designed anew for any rate.
 */
function headShelf(rateHz: number): Biquad {
  const q = 0.7071752369554196;
  const k = Math.tan((Math.PI * 1681.974450955533) / rateHz);
  const high = 10 ** (3.999843853973347 / 20);
  const band = high ** 0.4996667741545416;
  const a0 = 1 + k / q + k * k;
  return {
    b0: (high + (band * k) / q + k * k) / a0,
    b1: (2 * (k * k - high)) / a0,
    b2: (high - (band * k) / q + k * k) / a0,
    a1: (2 * (k * k - 1)) / a0,
    a2: (1 - k / q + k * k) / a0,
  };
}

/** Stage 2: a high pass at 38 Hz (the revised low-frequency B curve). */
function lowCut(rateHz: number): Biquad {
  const q = 0.5003270373238773;
  const k = Math.tan((Math.PI * 38.13547087602444) / rateHz);
  const a0 = 1 + k / q + k * k;
  return { b0: 1, b1: -2, b2: 1, a1: (2 * (k * k - 1)) / a0, a2: (1 - k / q + k * k) / a0 };
}
