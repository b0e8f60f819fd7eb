/**
 * What the recorder thread is fed: one ring a call, written by the I/O thread, of frames received and frames played.
 * `generation` holds the direction, `frameSeq` counts the direction's frames, and `atMs` is the frame's place on the
 * stream's time line (ms since the stream began): for received audio the time of its first sample, for played audio the
 * time at which the far end began to play it. Two seconds deep, so that a recorder that restarts loses nothing.
 */
import { frameBytesOf, type LegFormat } from '../contract/audio-format.ts';
import { FrameRing, frameRingBytes, viewsOf } from './frame-ring.ts';

export const RECEIVED = 0;
export const PLAYED = 1;
/** 2 s of both directions at 20 ms a frame. */
const RECORD_RING_FRAMES = 200;

/** `played`: the other direction's format, where it differs. */
export function createRecordRing(
  format: LegFormat,
  played: LegFormat = format,
): { memory: SharedArrayBuffer; ring: FrameRing } {
  const frameBytes = Math.max(frameBytesOf(format), frameBytesOf(played));
  const memory = new SharedArrayBuffer(frameRingBytes(RECORD_RING_FRAMES, frameBytes));
  return { memory, ring: attachRecordRing(memory, format, played) };
}

export function attachRecordRing(memory: SharedArrayBuffer, format: LegFormat, played: LegFormat = format): FrameRing {
  return new FrameRing(viewsOf(memory), 0, RECORD_RING_FRAMES, Math.max(frameBytesOf(format), frameBytesOf(played)));
}
