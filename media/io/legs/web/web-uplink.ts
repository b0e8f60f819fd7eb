/**
 * A browser's microphone into the call's uplink ring and the record ring: PCM and mu-law in 20 ms frames, whatever the
 * messages hold, Opus a packet a frame, decoded on the other side. Browsers stamp no time: sound is placed by its own
 * length, and by its arrival after a pause. Called by `microphone.ts` for each binary message; allocates nothing.
 */
import type { LegFormat } from '../../../contract/audio-format.ts';
import { MOST_OPUS_FRAME_BYTES } from '../../../contract/audio-format.ts';
import type { FrameRing } from '../../../rings/frame-ring.ts';
import { RECEIVED } from '../../../rings/record-ring.ts';
import type { SoundTap } from '../core/sound-tap.ts';
import { StreamTimeline } from '../core/stream-timeline.ts';
import { Uplink } from '../core/uplink.ts';

/** RFC 6716 §3.1, table 2: by the five bits of a packet's configuration. */
const SILK_MS = [10, 20, 40, 60] as const;
const HYBRID_MS = [10, 20] as const;
const CELT_MS = [2.5, 5, 10, 20] as const;
const LONGEST_PACKET_MS = 120;

/** How long a packet sounds by its first byte (RFC 6716 §3.1); 0 when it is none. */
export function opusPacketMs(bytes: Uint8Array): number {
  if (bytes.length === 0) return 0;
  const toc = bytes[0]!;
  const config = toc >> 3;
  const frameMs = config < 12 ? SILK_MS[config & 3]! : config < 16 ? HYBRID_MS[config & 1]! : CELT_MS[config & 3]!;
  const code = toc & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : bytes.length < 2 ? 0 : bytes[1]! & 0x3f;
  const packetMs = frames * frameMs;
  return packetMs <= LONGEST_PACKET_MS ? packetMs : 0;
}

export class WebUplink {
  receivedFrames = 0;
  receivedMs = 0;
  readonly #sampled: Uplink | null;
  readonly #sampleBytes: number;
  readonly #timeline: StreamTimeline;
  readonly #record: FrameRing | null;
  readonly #bytesPerMs: number;
  #ring: FrameRing;
  #tap: SoundTap | null = null;

  constructor(format: LegFormat, ring: FrameRing, record: FrameRing | null) {
    const isOpus = format.codec === 'opus';
    this.#ring = ring;
    this.#record = record;
    this.#sampled = isOpus ? null : new Uplink(format, ring, record);
    this.#timeline = this.#sampled?.timeline ?? new StreamTimeline();
    this.#sampleBytes = format.codec === 'mulaw' ? 1 : 2;
    this.#bytesPerMs = (format.rateHz / 1000) * this.#sampleBytes;
  }

  get timeline(): StreamTimeline {
    return this.#timeline;
  }

  rebind(ring: FrameRing): void {
    this.#ring = ring;
    this.#sampled?.rebind(ring);
  }

  /** Who listens in; null: nobody. */
  listen(tap: SoundTap | null): void {
    this.#tap = tap;
    if (this.#sampled !== null) this.#sampled.tap = tap;
  }

  /** How long the message sounds; 0: it holds no sound in this format. */
  lengthMs(message: Uint8Array): number {
    if (this.#sampled === null) return message.length > MOST_OPUS_FRAME_BYTES ? 0 : opusPacketMs(message);
    return message.length % this.#sampleBytes === 0 ? message.length / this.#bytesPerMs : 0;
  }

  /** `lengthMs` is its own; `arrivedMs` is stream time. */
  push(message: Uint8Array, lengthMs: number, arrivedMs: number): void {
    this.receivedMs += lengthMs;
    if (this.#sampled !== null) {
      this.#sampled.push(message, 0, message.length, Number.NaN, arrivedMs);
      this.receivedFrames = this.#sampled.receivedFrames;
      return;
    }
    const atMs = Math.round(this.#timeline.place(Number.NaN, lengthMs, arrivedMs));
    const frameSeq = ++this.receivedFrames;
    this.#ring.tryWrite(message, 0, message.length, 0, frameSeq, atMs);
    this.#record?.tryWrite(message, 0, message.length, RECEIVED, frameSeq, atMs);
    if (this.#tap !== null) this.#tap.frame(RECEIVED, message, 0, message.length, atMs);
  }

  finish(): void {
    this.#sampled?.finish();
  }
}
