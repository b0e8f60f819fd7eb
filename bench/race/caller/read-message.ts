/** What a gateway says over Plivo's stream, found in the bytes: sound is not decoded, only looked at. Pure. */
export type Message =
  | { kind: 'sound'; samples: number; isLoud: boolean }
  | { kind: 'clear' }
  | { kind: 'checkpoint'; name: string }
  | { kind: 'other' };

const PAYLOAD_KEY = Buffer.from('"payload":');
const QUOTE = 0x22;
const PAD = 0x3d;
/** The event's name stands at the beginning, whoever wrote it. */
const HEAD_BYTES = 48;
/** So many bytes of the sound are looked at: whole groups of base64. */
const LOOKED_AT = 64;
const LOUD_SEGMENT = 3;

/** `bytes[start, end)` is a message's text. */
export function readMessage(bytes: Buffer, start: number, end: number): Message {
  const head = bytes.toString('latin1', start, Math.min(end, start + HEAD_BYTES));
  if (head.includes('"clearAudio"')) return { kind: 'clear' };
  if (head.includes('"checkpoint"')) {
    const { name } = JSON.parse(bytes.toString('utf8', start, end)) as { name: string };
    return { kind: 'checkpoint', name };
  }
  const key = bytes.indexOf(PAYLOAD_KEY, start);
  if (key < 0 || key >= end) return { kind: 'other' };
  const from = bytes.indexOf(QUOTE, key + PAYLOAD_KEY.length) + 1;
  const to = bytes.indexOf(QUOTE, from);
  const padding = bytes[to - 2] === PAD ? 2 : bytes[to - 1] === PAD ? 1 : 0;
  const samples = ((to - from) * 3) / 4 - padding;
  const looked = Buffer.from(bytes.toString('latin1', from, Math.min(to, from + LOOKED_AT)), 'base64');
  // Mu-law: bits 4 to 6, inverted, are the exponent.
  const isLoud = looked.some((code) => ((~code >> 4) & 7) >= LOUD_SEGMENT);
  return { kind: 'sound', samples, isLoud };
}
