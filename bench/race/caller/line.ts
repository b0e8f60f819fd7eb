/** A caller's line as frames: trimmed, without a pause that would end a turn, and where its speech lies. */
import { decodeMulaw } from '../../../media/audio/g711.ts';
import { LOUD_SAMPLE } from '../conversation.ts';

export interface Line {
  /** 20 ms of mu-law each, in base64. */
  frames: readonly Uint8Array[];
  /** Of the frames. */
  firstLoud: number;
  lastLoud: number;
}

const FRAME_BYTES = 160;
/** The longest pause that is left in it, in frames. */
const MOST_QUIET_FRAMES = 5;

/** Of mu-law of 8 kHz. */
export function lineOf(mulaw: Uint8Array): Line {
  const frames: { payload: Uint8Array; isLoud: boolean }[] = [];
  let quiet = MOST_QUIET_FRAMES;
  for (let from = 0; from + FRAME_BYTES <= mulaw.length; from += FRAME_BYTES) {
    const frame = mulaw.subarray(from, from + FRAME_BYTES);
    const isLoud = isLoudFrame(frame);
    quiet = isLoud ? 0 : quiet + 1;
    if (quiet <= MOST_QUIET_FRAMES) frames.push({ payload: base64(frame), isLoud });
  }
  return {
    frames: frames.map(({ payload }) => payload),
    firstLoud: frames.findIndex(({ isLoud }) => isLoud),
    lastLoud: frames.findLastIndex(({ isLoud }) => isLoud),
  };
}

/** Frames of a line on which nobody speaks: 60 dB below full scale, as a telephone's is. */
export function lineNoise(random: () => number): Uint8Array[] {
  return Array.from({ length: 25 }, () =>
    base64(Uint8Array.from({ length: FRAME_BYTES }, () => (random() < 0.5 ? 0xfc : 0x7c) + Math.floor(random() * 4))),
  );
}

function isLoudFrame(mulaw: Uint8Array): boolean {
  const samples = new Int16Array(FRAME_BYTES);
  decodeMulaw(mulaw, 0, FRAME_BYTES, samples, 0);
  return samples.some((sample) => Math.abs(sample) > LOUD_SAMPLE);
}

const base64 = (bytes: Uint8Array): Uint8Array => Buffer.from(Buffer.from(bytes).toString('base64'), 'latin1');
