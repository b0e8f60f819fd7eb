/**
 * The uplink chain's first half: ring → gap fill → decode → voice-activity gate. Hands each 20 ms of linear samples on,
 * in order and without holes, with its audio time. Called by the call session on each wake. Keeps the last 500 ms, so
 * that a recogniser which is opened when speech is certain still hears how it began. Allocates nothing per frame.
 */
import { decodeMulaw } from '../../audio/g711.ts';
import type { OpusDecoder } from '../../audio/opus-codec.ts';
import type { Resampler } from '../../audio/resampler.ts';
import { FRAME_MS, frameBytesOf, type LegFormat, MULAW_SILENCE } from '../../contract/audio-format.ts';
import type { Clock } from '../../contract/clock.ts';
import type { VoiceActivity } from '../../contract/engines.ts';
import type { FrameRing } from '../../rings/frame-ring.ts';

export interface FrameSink {
  /**
   * 20 ms at `listenRateHz`; `atMs` is the audio time of the first sample. The array is overwritten 500 ms later.
   * `mulawBytes`: the same of a mu-law leg as it came, overwritten by the next frame; null of any other leg.
   */
  frame(atMs: number, monoSamples: Int16Array, isSpeech: boolean, mulawBytes: Uint8Array | null): void;
  /** Nothing has come for 1 s; told once until audio comes again. */
  audioStopped(): void;
}

/** Audio from before a turn was certain, kept for the recogniser. */
export const PRE_ROLL_MS = 500;
const PRE_ROLL_FRAMES = PRE_ROLL_MS / FRAME_MS;
/** A hole of this or more is filled with silence; less is jitter of the time stamps. */
const GAP_MS = 40;
const LONGEST_FILL_MS = 10_000;
const STOPPED_AFTER_MS = 1_000;
/** RFC 6716 §3.2.5. */
const LONGEST_PACKET_MS = 120;

/** The rate at which a leg is listened to: telephony as it is, everything wider at 16 kHz. */
export function listenRateOf(format: LegFormat): 8000 | 16000 {
  return format.rateHz === 8000 ? 8000 : 16000;
}

export class FrameIntake {
  readonly #ring: FrameRing;
  readonly #voiceActivity: VoiceActivity;
  /** For legs of more than 16 kHz. */
  readonly #resampler: Resampler | null;
  readonly #clock: Clock;
  readonly #sink: FrameSink;
  readonly #preRoll: Int16Array[] = [];
  readonly #wide: Int16Array;
  readonly #mulaw: Uint8Array | null;
  readonly #opus: OpusDecoder | null;
  /** Opus: what a packet holds, and what of it was not handed on. */
  readonly #packetSamples: Int16Array;
  readonly #left: Int16Array;
  #leftSamples = 0;
  /** Slot of the next frame, and how many before it hold audio that no recogniser has heard. */
  #slot = 0;
  #fresh = 0;
  /** Audio time of the next frame; -1 before the first. */
  #nextAtMs = -1;
  #lastArrivalMs: number;
  #stopped = false;

  constructor(
    ring: FrameRing,
    format: LegFormat,
    voiceActivity: VoiceActivity,
    resampler: Resampler | null,
    clock: Clock,
    sink: FrameSink,
    opus: OpusDecoder | null = null,
  ) {
    this.#opus = opus;
    const longestSamples = opus === null ? 0 : (listenRateOf(format) * LONGEST_PACKET_MS) / 1000;
    this.#packetSamples = new Int16Array(longestSamples);
    this.#left = new Int16Array(longestSamples * 2);
    this.#ring = ring;
    this.#voiceActivity = voiceActivity;
    this.#resampler = resampler;
    this.#clock = clock;
    this.#sink = sink;
    const frameSamples = (listenRateOf(format) * FRAME_MS) / 1000;
    for (let i = 0; i < PRE_ROLL_FRAMES; i++) this.#preRoll.push(new Int16Array(frameSamples));
    this.#mulaw = format.codec === 'mulaw' ? new Uint8Array(frameBytesOf(format)) : null;
    this.#wide = new Int16Array((format.rateHz * FRAME_MS) / 1000);
    this.#lastArrivalMs = clock.nowMs();
  }

  /** Takes all that has come. */
  drain(): void {
    let came = false;
    while (this.#ring.peek()) {
      came = true;
      this.#fillUpTo(this.#ring.atMs);
      if (this.#opus !== null) {
        this.#takePacket(this.#opus);
        continue;
      }
      const samples = this.#preRoll[this.#slot]!;
      this.#decode(samples);
      this.#ring.release();
      this.#handOn(samples, this.#voiceActivity.isSpeech(samples));
    }
    const nowMs = this.#clock.nowMs();
    if (came) {
      this.#lastArrivalMs = nowMs;
      this.#stopped = false;
    } else if (!this.#stopped && nowMs - this.#lastArrivalMs >= STOPPED_AFTER_MS) {
      this.#stopped = true;
      this.#sink.audioStopped();
    }
  }

  /** The last 500 ms, oldest first, but nothing from before `forgetPreRoll`. */
  replay(push: (monoSamples: Int16Array) => void): void {
    for (let back = this.#fresh; back > 0; back--) {
      push(this.#preRoll[(this.#slot - back + PRE_ROLL_FRAMES) % PRE_ROLL_FRAMES]!);
    }
  }

  /** What has come so far belongs to a turn that is over. */
  forgetPreRoll(): void {
    this.#fresh = 0;
  }

  close(): void {
    this.#voiceActivity.close();
    this.#resampler?.close();
    this.#opus?.close();
  }

  /**
   * Packets may hold 2.5 to 120 ms: they are cut into frames of 20. One that does not decode is
   * taken for 20 ms of silence.
   */
  #takePacket(opus: OpusDecoder): void {
    const { bytes, payloadStart, lengthBytes } = this.#ring;
    const frameSamples = this.#preRoll[0]!.length;
    let samples = opus.decode(bytes, payloadStart, lengthBytes, this.#packetSamples);
    this.#ring.release();
    if (samples < 0) {
      samples = frameSamples;
      this.#packetSamples.fill(0, 0, samples);
    }
    for (let i = 0; i < samples; i++) this.#left[this.#leftSamples + i] = this.#packetSamples[i]!;
    this.#leftSamples += samples;
    let from = 0;
    for (; this.#leftSamples - from >= frameSamples; from += frameSamples) {
      const frame = this.#preRoll[this.#slot]!;
      for (let i = 0; i < frameSamples; i++) frame[i] = this.#left[from + i]!;
      this.#handOn(frame, this.#voiceActivity.isSpeech(frame));
    }
    this.#left.copyWithin(0, from, this.#leftSamples);
    this.#leftSamples -= from;
  }

  #fillUpTo(atMs: number): void {
    if (this.#nextAtMs < 0 || atMs - this.#nextAtMs > LONGEST_FILL_MS) this.#nextAtMs = atMs;
    if (atMs - this.#nextAtMs < GAP_MS) return;
    while (this.#nextAtMs + FRAME_MS <= atMs) {
      const samples = this.#preRoll[this.#slot]!;
      samples.fill(0);
      this.#mulaw?.fill(MULAW_SILENCE);
      this.#handOn(samples, false);
    }
  }

  #handOn(samples: Int16Array, isSpeech: boolean): void {
    const atMs = this.#nextAtMs;
    this.#nextAtMs = atMs + FRAME_MS;
    this.#slot = (this.#slot + 1) % PRE_ROLL_FRAMES;
    if (this.#fresh < PRE_ROLL_FRAMES) this.#fresh++;
    this.#sink.frame(atMs, samples, isSpeech, this.#mulaw);
  }

  #decode(target: Int16Array): void {
    const { bytes, payloadStart, lengthBytes } = this.#ring;
    if (this.#mulaw !== null) {
      const samples = Math.min(lengthBytes, target.length);
      for (let i = 0; i < samples; i++) this.#mulaw[i] = bytes[payloadStart + i]!;
      this.#mulaw.fill(MULAW_SILENCE, samples);
      decodeMulaw(bytes, payloadStart, samples, target, 0);
      if (samples < target.length) target.fill(0, samples);
      return;
    }
    const linear = this.#resampler === null ? target : this.#wide;
    const samples = Math.min(lengthBytes >> 1, linear.length);
    for (let i = 0; i < samples; i++) {
      linear[i] = bytes[payloadStart + 2 * i]! | (bytes[payloadStart + 2 * i + 1]! << 8);
    }
    if (samples < linear.length) linear.fill(0, samples);
    if (this.#resampler === null) return;
    const narrow = this.#resampler.process(this.#wide);
    for (let i = 0; i < target.length; i++) target[i] = i < narrow.length ? narrow[i]! : 0;
  }
}

/** Throws away what has come: nobody listens. */
export function discardFrames(ring: FrameRing): void {
  while (ring.peek()) ring.release();
}
