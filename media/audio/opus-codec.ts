/**
 * Opus encoders and decoders behind one port, and the only file that imports an Opus package. The recorder uses it now;
 * browser legs will. `loadOpusCodec` takes @discordjs/opus where its native binding loads (its install script may be
 * blocked, then there is none) and the WebAssembly of opusscript everywhere else; `implementation` says which one runs.
 *
 * opusscript's own class writes its input at twice the address that it allocated, and each handler leaks its output
 * buffer: so this file drives the WebAssembly module itself, with buffers of its own, and hands used handlers on
 * instead of freeing them. Calls go to libopus at once and block: an encoder of 20 ms costs 40 to 250 µs. No state is
 * shared between streams.
 */
import { createRequire } from 'node:module';

export type OpusRateHz = 8000 | 12000 | 16000 | 24000 | 48000;

export interface OpusEncoderOptions {
  rateHz: OpusRateHz;
  channels: 1 | 2;
  bitsPerSec: number;
  /** 0 (quick) to 10 (best). */
  complexity: number;
}

export interface OpusEncoder {
  /** 48 kHz ticks by which decoded sound lags behind what was encoded; an Ogg file's pre-skip (RFC 7845 §4.2). */
  readonly lookaheadTicks: number;
  /**
   * Encodes one frame of 2.5, 5, 10, 20, 40 or 60 ms and writes the packet to `target` from `targetStart`, which needs
   * room for `MAX_OPUS_PACKET_BYTES`. Returns the packet's bytes. Throws on another frame size or a closed encoder.
   */
  encode(interleavedSamples: Int16Array, target: Uint8Array, targetStart: number): number;
  /** Idempotent. */
  close(): void;
}

export interface OpusDecoder {
  /**
   * Decodes one packet to `interleavedTarget` from its start; it needs room for 120 ms. Returns samples per channel, or
   * -1 when libopus refuses the packet.
   */
  decode(source: Uint8Array, start: number, lengthBytes: number, interleavedTarget: Int16Array): number;
  /** Idempotent. */
  close(): void;
}

export interface OpusCodec {
  readonly implementation: 'discordjs' | 'opusscript';
  createEncoder(options: OpusEncoderOptions): OpusEncoder;
  createDecoder(options: { rateHz: OpusRateHz; channels: 1 | 2 }): OpusDecoder;
}

/** Three frames of the largest size that RFC 6716 §3.2.1 allows: what libopus may write for 60 ms. */
export const MAX_OPUS_PACKET_BYTES = 3 * 1276;

/** `opus_defines.h`: request numbers of opus_encoder_ctl, and their values used here. */
const SET_APPLICATION = 4000;
const SET_BITRATE = 4002;
const SET_COMPLEXITY = 4010;
const RESET_STATE = 4028;
const APPLICATION_VOIP = 2048;
/** libopus: 2.5 ms of overlap and 4 ms of delay compensation, at every rate, for VOIP and AUDIO. */
const LOOKAHEAD_TICKS = 312;
const LONGEST_PACKET_MS = 120;

/** `prefer` is for tests; without it the native binding is tried first. Throws only if neither implementation loads. */
export function loadOpusCodec(prefer?: OpusCodec['implementation']): OpusCodec {
  const require = createRequire(import.meta.url);
  if (prefer !== 'opusscript') {
    try {
      return createNativeCodec((require('@discordjs/opus') as { OpusEncoder: NativeConstructor }).OpusEncoder);
    } catch (error) {
      if (prefer === 'discordjs') throw error;
    }
  }
  const startModule = require('opusscript/build/opusscript_native_wasm.js') as () => WasmModule;
  return createWasmCodec(startModule());
}

function checkedFrameSamples(interleavedSamples: Int16Array, options: OpusEncoderOptions): number {
  const samples = interleavedSamples.length / options.channels;
  const halfMs = (samples * 2000) / options.rateHz;
  if (halfMs !== 40 && ![5, 10, 20, 80, 120].includes(halfMs)) {
    throw new RangeError(
      `opus: a frame of ${samples} samples at ${options.rateHz} Hz is none of 2.5, 5, 10, 20, 40 and 60 ms`,
    );
  }
  return samples;
}

// ---- @discordjs/opus: one native object that encodes and decodes; its methods take and give Buffers ----

type NativeConstructor = new (rateHz: number, channels: number) => NativeOpus;
interface NativeOpus {
  encode(pcm: Buffer): Buffer;
  decode(packet: Buffer): Buffer;
  applyEncoderCTL(request: number, value: number): void;
}

function createNativeCodec(Native: NativeConstructor): OpusCodec {
  return {
    implementation: 'discordjs',
    createEncoder(options) {
      let native: NativeOpus | null = new Native(options.rateHz, options.channels);
      // The binding fixes AUDIO; the application may be changed until the first frame.
      native.applyEncoderCTL(SET_APPLICATION, APPLICATION_VOIP);
      native.applyEncoderCTL(SET_BITRATE, options.bitsPerSec);
      native.applyEncoderCTL(SET_COMPLEXITY, options.complexity);
      return {
        lookaheadTicks: LOOKAHEAD_TICKS,
        encode(samples, target, targetStart) {
          if (native === null) throw new Error('opus: encode() after close()');
          checkedFrameSamples(samples, options);
          const packet = native.encode(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength));
          target.set(packet, targetStart);
          return packet.length;
        },
        close() {
          native = null;
        },
      };
    },
    createDecoder({ rateHz, channels }) {
      let native: NativeOpus | null = new Native(rateHz, channels);
      return {
        decode(source, start, lengthBytes, target) {
          if (native === null) throw new Error('opus: decode() after close()');
          // An empty packet would mean "conceal a loss" here, which no caller means.
          if (lengthBytes <= 0) return -1;
          try {
            const pcm = native.decode(Buffer.from(source.buffer, source.byteOffset + start, lengthBytes));
            target.set(new Int16Array(pcm.buffer.slice(pcm.byteOffset, pcm.byteOffset + pcm.length)));
            return pcm.length / 2 / channels;
          } catch {
            return -1;
          }
        },
        close() {
          native = null;
        },
      };
    },
  };
}

// ---- opusscript: one WebAssembly heap, handlers of an encoder and a decoder each ----

interface WasmModule {
  /** Replaced when the heap grows. */
  readonly HEAPU8: Uint8Array;
  readonly HEAP16: Int16Array;
  _malloc(bytes: number): number;
  OpusScriptHandler: new (rateHz: number, channels: number, application: number) => WasmHandler;
}
interface WasmHandler {
  /** `unpackCount` samples would be put together from byte pairs first; 0 leaves the 16-bit samples as they are. */
  _encode(input: number, unpackCount: number, output: number, frameSamples: number): number;
  /** Writes each sample as two 16-bit words, its low byte and its high byte. */
  _decode(input: number, lengthBytes: number, output: number): number;
  _encoder_ctl(request: number, value: number): number;
  _decoder_ctl(request: number, value: number): number;
}

function createWasmCodec(wasm: WasmModule): OpusCodec {
  const longestFrameSamples = (48000 * LONGEST_PACKET_MS) / 1000;
  // Calls are synchronous, so all streams share one set of buffers.
  const packet = wasm._malloc(MAX_OPUS_PACKET_BYTES);
  const pcm = wasm._malloc(longestFrameSamples * 2 * 4);
  const idle = new Map<string, WasmHandler[]>();

  function take(rateHz: number, channels: number): { handler: WasmHandler; giveBack: () => void } {
    const shape = `${rateHz}x${channels}`;
    const spare = idle.get(shape) ?? [];
    idle.set(shape, spare);
    const handler = spare.pop() ?? new wasm.OpusScriptHandler(rateHz, channels, APPLICATION_VOIP);
    handler._encoder_ctl(RESET_STATE, 0);
    handler._decoder_ctl(RESET_STATE, 0);
    return { handler, giveBack: () => spare.push(handler) };
  }

  return {
    implementation: 'opusscript',
    createEncoder(options) {
      const { handler, giveBack } = take(options.rateHz, options.channels);
      handler._encoder_ctl(SET_BITRATE, options.bitsPerSec);
      handler._encoder_ctl(SET_COMPLEXITY, options.complexity);
      let open = true;
      return {
        lookaheadTicks: LOOKAHEAD_TICKS,
        encode(samples, target, targetStart) {
          if (!open) throw new Error('opus: encode() after close()');
          const frameSamples = checkedFrameSamples(samples, options);
          wasm.HEAP16.set(samples, pcm >> 1);
          const lengthBytes = handler._encode(pcm, 0, packet, frameSamples);
          if (lengthBytes < 0) throw new Error(`opus: libopus refused to encode (${lengthBytes})`);
          const bytes = wasm.HEAPU8;
          for (let i = 0; i < lengthBytes; i++) target[targetStart + i] = bytes[packet + i]!;
          return lengthBytes;
        },
        close() {
          if (open) giveBack();
          open = false;
        },
      };
    },
    createDecoder({ rateHz, channels }) {
      const { handler, giveBack } = take(rateHz, channels);
      let open = true;
      return {
        decode(source, start, lengthBytes, target) {
          if (!open) throw new Error('opus: decode() after close()');
          if (lengthBytes <= 0 || lengthBytes > MAX_OPUS_PACKET_BYTES) return -1;
          const bytes = wasm.HEAPU8;
          for (let i = 0; i < lengthBytes; i++) bytes[packet + i] = source[start + i]!;
          const samples = handler._decode(packet, lengthBytes, pcm);
          if (samples < 0) return -1;
          const words = wasm.HEAP16;
          const from = pcm >> 1;
          for (let i = 0; i < samples * channels; i++) {
            target[i] = words[from + 2 * i]! | (words[from + 2 * i + 1]! << 8);
          }
          return samples;
        },
        close() {
          if (open) giveBack();
          open = false;
        },
      };
    },
  };
}
