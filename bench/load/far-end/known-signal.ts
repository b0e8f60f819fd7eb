/**
 * The known signal: sound that a cooperating target plays over and over, so that each piece that is lost or comes
 * twice can be told. Written to a WAV file for whoever load-tests a bot; followed by `signal-follower.ts`; played by
 * the tool's own targets.
 *
 * 512 pieces of 20 ms, 10.24 s, then from the beginning. Piece i is a sine of 500 + 100 · (2 · b[i] + i mod 2) Hz at
 * -12 dBFS that begins at phase 0, where b is a de Bruijn sequence of 8 symbols and order 3: any three pieces in a
 * row stand nowhere else, and neighbours always differ. Each tone is a whole number of turns a piece, and those in 10
 * ms are orthogonal, so the signal survives resampling, other codecs and another loudness.
 */
import { encodeMulaw } from '../../../media/audio/g711.ts';
import { WAV_HEADER_BYTES, writeWavHeader } from '../../../media/audio/wav.ts';

export const TONES = 16;
export const LOWEST_TONE_HZ = 500;
export const TONE_STEP_HZ = 100;
export const PIECE_MS = 20;
const SYMBOLS = 8;
const RATE_HZ = 8_000;
const PIECE_SAMPLES = (RATE_HZ * PIECE_MS) / 1000;
/** -12 dBFS. */
const AMPLITUDE = 8_230;

/** The tone of each piece, 0 to 15. */
export const SIGNAL_TONES = Uint8Array.from(deBruijn(), (symbol, index) => 2 * symbol + (index % 2));
export const SIGNAL_MS = SIGNAL_TONES.length * PIECE_MS;

/** "Prefer the largest": after the last two symbols comes the largest that did not follow them yet. */
function deBruijn(): number[] {
  const sequence = [0, 0];
  const used = new Set<number>();
  for (;;) {
    const pair = sequence.at(-2)! * SYMBOLS + sequence.at(-1)!;
    let symbol = SYMBOLS - 1;
    while (symbol >= 0 && used.has(pair * SYMBOLS + symbol)) symbol--;
    if (symbol < 0) break;
    used.add(pair * SYMBOLS + symbol);
    sequence.push(symbol);
  }
  // It ends as it began: that is where it closes to a circle.
  return sequence.slice(0, -2);
}

/** One round, mu-law 8 kHz: 81,920 bytes. */
export function knownSignal(): Uint8Array {
  const samples = new Int16Array(SIGNAL_TONES.length * PIECE_SAMPLES);
  for (const [piece, tone] of SIGNAL_TONES.entries()) {
    const turn = (2 * Math.PI * (LOWEST_TONE_HZ + TONE_STEP_HZ * tone)) / RATE_HZ;
    for (let i = 0; i < PIECE_SAMPLES; i++)
      samples[piece * PIECE_SAMPLES + i] = Math.round(AMPLITUDE * Math.sin(turn * i));
  }
  const mulaw = new Uint8Array(samples.length);
  encodeMulaw(samples, 0, samples.length, mulaw, 0);
  return mulaw;
}

/** The same as a WAV file (mu-law, mono, 8 kHz). */
export function knownSignalWav(): Uint8Array {
  const mulaw = knownSignal();
  const wav = new Uint8Array(WAV_HEADER_BYTES + mulaw.length);
  writeWavHeader(wav, { codec: 'mulaw', rateHz: RATE_HZ, channels: 1, dataBytes: mulaw.length });
  wav.set(mulaw, WAV_HEADER_BYTES);
  return wav;
}
