/**
 * What far ends say, cut into frames before the run: each frame's mu-law and its base64 stand ready, so that a frame
 * costs no conversion while calls go on. Shared by all calls of a process.
 */
import { MULAW_SILENCE } from '../../../media/contract/audio-format.ts';

export const FRAME_BYTES = 160;

export interface SaidFrame {
  /** 20 ms, 160 bytes. Never written to. */
  readonly mulaw: Uint8Array;
  readonly base64: string;
}

export type Clip = readonly SaidFrame[];

export const SILENT_FRAME: SaidFrame = frameOf(new Uint8Array(FRAME_BYTES).fill(MULAW_SILENCE));

function frameOf(mulaw: Uint8Array): SaidFrame {
  return { mulaw, base64: Buffer.from(mulaw).toString('base64') };
}

/** Mu-law 8 kHz of any length but none as frames; the last is filled up with silence. */
export function clipOf(mulaw: Uint8Array): Clip {
  const frames: SaidFrame[] = [];
  for (let at = 0; at < mulaw.length; at += FRAME_BYTES) {
    const frame = new Uint8Array(FRAME_BYTES).fill(MULAW_SILENCE);
    frame.set(mulaw.subarray(at, at + FRAME_BYTES));
    frames.push(frameOf(frame));
  }
  return frames;
}
