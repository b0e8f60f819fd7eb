/**
 * Received audio of one leg: cut into 20 ms frames, whatever the carrier's chunks, and written to the call's uplink
 * ring and to the record ring, each frame at its place in stream time. A carrier's codec tells it the sound of every
 * audio message, a browser's comes by `web-uplink.ts`; allocates nothing. A frame that is cut short by a gap is filled
 * up with silence. What a full ring refuses, the ring counts.
 */
import { FRAME_MS, frameBytesOf, type LegFormat, silenceByteOf } from '../../../contract/audio-format.ts';
import type { FrameRing } from '../../../rings/frame-ring.ts';
import { RECEIVED } from '../../../rings/record-ring.ts';
import type { SoundTap } from './sound-tap.ts';
import { StreamTimeline } from './stream-timeline.ts';

export class Uplink {
  readonly timeline = new StreamTimeline();
  receivedFrames = 0;
  receivedBytes = 0;
  /** Who listens in; null: nobody. */
  tap: SoundTap | null = null;
  /** When the message came that a codec is reading, stream ms. */
  arrivedMs = 0;
  readonly #frameBytes: number;
  readonly #silenceByte: number;
  readonly #record: FrameRing | null;
  readonly #partial: Uint8Array;
  #ring: FrameRing;
  #partialBytes = 0;
  #partialAtMs = 0;

  constructor(format: LegFormat, ring: FrameRing, record: FrameRing | null) {
    this.#frameBytes = frameBytesOf(format);
    this.#silenceByte = silenceByteOf(format);
    this.#ring = ring;
    this.#record = record;
    this.#partial = new Uint8Array(this.#frameBytes);
  }

  /** For a codec, which has nothing else to do with us: sound of the message that came at `arrivedMs`. */
  readonly audio = (bytes: Uint8Array, start: number, lengthBytes: number, timestampMs: number): void =>
    this.push(bytes, start, lengthBytes, timestampMs, this.arrivedMs);

  /** The call has moved to another pipeline thread. */
  rebind(ring: FrameRing): void {
    this.#ring = ring;
  }

  get receivedMs(): number {
    return (this.receivedBytes * FRAME_MS) / this.#frameBytes;
  }

  /** `arrivedMs` is stream time. */
  push(bytes: Uint8Array, start: number, lengthBytes: number, timestampMs: number, arrivedMs: number): void {
    const frameBytes = this.#frameBytes;
    const msPerByte = FRAME_MS / frameBytes;
    const partialEndMs = this.timeline.endMs;
    let atMs = this.timeline.place(timestampMs, lengthBytes * msPerByte, arrivedMs);
    if (this.#partialBytes > 0 && atMs - partialEndMs > 1) this.#fillUp();
    this.receivedBytes += lengthBytes;
    let at = start;
    const end = start + lengthBytes;
    if (this.#partialBytes > 0) {
      const take = Math.min(frameBytes - this.#partialBytes, end - at);
      this.#keep(bytes, at, take);
      at += take;
      atMs += take * msPerByte;
      if (this.#partialBytes < frameBytes) return;
      this.#emit(this.#partial, 0, this.#partialAtMs);
      this.#partialBytes = 0;
    }
    while (end - at >= frameBytes) {
      this.#emit(bytes, at, atMs);
      at += frameBytes;
      atMs += FRAME_MS;
    }
    if (at < end) {
      this.#partialAtMs = atMs;
      this.#keep(bytes, at, end - at);
    }
  }

  /** The stream is over: what is left goes out as a last frame. */
  finish(): void {
    if (this.#partialBytes > 0) this.#fillUp();
  }

  #keep(bytes: Uint8Array, from: number, lengthBytes: number): void {
    for (let i = 0; i < lengthBytes; i++) this.#partial[this.#partialBytes + i] = bytes[from + i]!;
    this.#partialBytes += lengthBytes;
  }

  #fillUp(): void {
    this.#partial.fill(this.#silenceByte, this.#partialBytes);
    this.#emit(this.#partial, 0, this.#partialAtMs);
    this.#partialBytes = 0;
  }

  #emit(bytes: Uint8Array, start: number, atMs: number): void {
    const frameSeq = ++this.receivedFrames;
    const roundedAtMs = Math.round(atMs);
    this.#ring.tryWrite(bytes, start, this.#frameBytes, 0, frameSeq, roundedAtMs);
    this.#record?.tryWrite(bytes, start, this.#frameBytes, RECEIVED, frameSeq, roundedAtMs);
    if (this.tap !== null) this.tap.frame(RECEIVED, bytes, start, this.#frameBytes, roundedAtMs);
  }
}
