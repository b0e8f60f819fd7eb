/**
 * G.711 mu-law and A-law against 16-bit linear samples, by table: 64 KiB a law to encode, 512 bytes to decode, built
 * once at import. Called once a frame by the pipeline, by the recorder and by the carrier codecs that need linear
 * audio. 16-bit samples are the standard's 14-bit (mu-law) and 13-bit (A-law) values, left-justified; a sample between
 * two levels goes where the decision values of ITU-T G.711 tables 1 and 2 send it. No allocation, no bounds checks: the
 * caller's ranges must lie inside its arrays. Measured, warm, 160 samples (Node 20, EPYC, CPU time): 0.1 µs each way.
 */

/** 14-bit magnitude bias of mu-law: every segment then starts at a power of two. */
const MULAW_BIAS = 33;
const MULAW_CLIP = 0x1fff;
/** A-law codes travel with their even bits inverted. */
const ALAW_TOGGLE = 0x55;

const mulawToLinear = new Int16Array(256);
const alawToLinear = new Int16Array(256);
const linearToMulaw = new Uint8Array(65536);
const linearToAlaw = new Uint8Array(65536);

function mulawLevelOf(code: number): number {
  const inverted = ~code & 0xff;
  const segment = (inverted >> 4) & 7;
  const magnitude = ((2 * (inverted & 15) + MULAW_BIAS) << segment) - MULAW_BIAS;
  return inverted & 0x80 ? -magnitude * 4 : magnitude * 4;
}

function mulawCodeOf(sample: number): number {
  const negative = sample < 0;
  // One's complement of a negative sample: the two halves of the range are then mirror images, 32768 values each.
  const biased = Math.min(((negative ? ~sample : sample) >> 2) + MULAW_BIAS, MULAW_CLIP);
  const segment = 26 - Math.clz32(biased);
  const code = (segment << 4) | ((biased >> (segment + 1)) & 15);
  return (negative ? ~(code | 0x80) : ~code) & 0xff;
}

function alawLevelOf(code: number): number {
  const plain = code ^ ALAW_TOGGLE;
  const segment = (plain >> 4) & 7;
  const step = 2 * (plain & 15) + 1;
  const magnitude = segment === 0 ? step : (step + 32) << (segment - 1);
  return plain & 0x80 ? magnitude * 8 : -magnitude * 8;
}

function alawCodeOf(sample: number): number {
  const negative = sample < 0;
  const magnitude = (negative ? ~sample : sample) >> 4;
  const segment = magnitude < 32 ? magnitude >> 4 : 28 - Math.clz32(magnitude);
  const code = (segment << 4) | ((segment < 2 ? magnitude : magnitude >> (segment - 1)) & 15);
  return (negative ? code : code | 0x80) ^ ALAW_TOGGLE;
}

for (let code = 0; code < 256; code++) {
  mulawToLinear[code] = mulawLevelOf(code);
  alawToLinear[code] = alawLevelOf(code);
}
for (let sample = -32768; sample < 32768; sample++) {
  linearToMulaw[sample & 0xffff] = mulawCodeOf(sample);
  linearToAlaw[sample & 0xffff] = alawCodeOf(sample);
}

/** Writes `lengthBytes` samples from `targetStart`. Code 0xff becomes 0, code 0x00 becomes -32124. */
export function decodeMulaw(
  source: Uint8Array,
  sourceStart: number,
  lengthBytes: number,
  target: Int16Array,
  targetStart: number,
): void {
  for (let i = 0; i < lengthBytes; i++) target[targetStart + i] = mulawToLinear[source[sourceStart + i]!]!;
}

/** Writes `samples` codes from `targetStart`. Sample 0 becomes 0xff. */
export function encodeMulaw(
  source: Int16Array,
  sourceStart: number,
  samples: number,
  target: Uint8Array,
  targetStart: number,
): void {
  for (let i = 0; i < samples; i++) target[targetStart + i] = linearToMulaw[source[sourceStart + i]! & 0xffff]!;
}

/** Writes `lengthBytes` samples from `targetStart`. Code 0xd5 becomes 8, code 0x2a becomes -32256. */
export function decodeAlaw(
  source: Uint8Array,
  sourceStart: number,
  lengthBytes: number,
  target: Int16Array,
  targetStart: number,
): void {
  for (let i = 0; i < lengthBytes; i++) target[targetStart + i] = alawToLinear[source[sourceStart + i]!]!;
}

/** Writes `samples` codes from `targetStart`. Sample 0 becomes 0xd5. */
export function encodeAlaw(
  source: Int16Array,
  sourceStart: number,
  samples: number,
  target: Uint8Array,
  targetStart: number,
): void {
  for (let i = 0; i < samples; i++) target[targetStart + i] = linearToAlaw[source[sourceStart + i]! & 0xffff]!;
}
