/**
 * The binary message in which listeners get a call's sound: what both sides' frames of the last 20 ms were, as they are
 * on the leg. One room a call, filled frame by frame on the frame path and sent by `call-monitor.ts`; nothing is
 * allocated for a frame. Little-endian:
 *
 *   Uint32 streamMs (now) │ { Uint8 side │ Uint8 0 │ Uint16 lengthBytes │ Uint32 atMs │ payload } …
 *
 * Bounded: what does not fit any more is left out and counted. A stalled network's second of mu-law fits, both sides.
 */
import type { SoundSide, SoundTap } from '../legs/core/sound-tap.ts';

const HEAD_BYTES = 4;
const FRAME_HEAD_BYTES = 8;
const ROOM_BYTES = 32 * 1024;

export class SoundMessage implements SoundTap {
  /** Frames that found no room. */
  droppedFrames = 0;
  /** Frames in the message. */
  frames = 0;
  readonly #bytes = new Uint8Array(ROOM_BYTES);
  readonly #view = new DataView(this.#bytes.buffer);
  #end = HEAD_BYTES;

  frame(side: SoundSide, bytes: Uint8Array, start: number, lengthBytes: number, atMs: number): void {
    const at = this.#end;
    if (at + FRAME_HEAD_BYTES + lengthBytes > ROOM_BYTES) {
      this.droppedFrames++;
      return;
    }
    this.#view.setUint8(at, side);
    this.#view.setUint8(at + 1, 0);
    this.#view.setUint16(at + 2, lengthBytes, true);
    this.#view.setUint32(at + 4, Math.max(0, atMs), true);
    const to = at + FRAME_HEAD_BYTES;
    for (let i = 0; i < lengthBytes; i++) this.#bytes[to + i] = bytes[start + i]!;
    this.#end = to + lengthBytes;
    this.frames++;
  }

  /** The message as it is now, good until the next frame; then it begins anew. */
  take(streamMs: number): Uint8Array {
    this.#view.setUint32(0, streamMs, true);
    const message = this.#bytes.subarray(0, this.#end);
    this.#end = HEAD_BYTES;
    this.frames = 0;
    return message;
  }
}
