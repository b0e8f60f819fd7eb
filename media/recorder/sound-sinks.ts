/**
 * Sealed files of sound in the making: samples go in, WAV or Ogg/Opus comes out. Used by
 * whatever makes one recording of another.
 */
import { createOggOpusWriter, OGG_TICKS_PER_SECOND } from '../audio/ogg-opus-writer.ts';
import { MAX_OPUS_PACKET_BYTES, type OpusCodec, type OpusRateHz } from '../audio/opus-codec.ts';
import { WAV_HEADER_BYTES, writeWavHeader } from '../audio/wav.ts';
import type { EncryptedFileWriter } from '../files/encrypted-file-writer.ts';

/** Takes interleaved samples, any number at a time. */
export interface SoundSink {
  add(samples: Int16Array): void;
  finish(): void;
}

const PACKET_MS = 20;
const COMPLEXITY = 1;

/** 16-bit PCM; `totalSamples` a channel stand in its header. */
export function wavSink(
  encrypted: EncryptedFileWriter,
  rateHz: number,
  channels: number,
  totalSamples: number,
): SoundSink {
  const header = new Uint8Array(WAV_HEADER_BYTES);
  writeWavHeader(header, { codec: 'pcm_s16le', rateHz, channels, dataBytes: totalSamples * channels * 2 });
  encrypted.add(header);
  let missing = totalSamples * channels;
  return {
    add(samples) {
      const bytes = new Uint8Array(samples.length * 2);
      const view = new DataView(bytes.buffer);
      for (let i = 0; i < samples.length; i++) view.setInt16(i * 2, samples[i]!, true);
      encrypted.add(bytes);
      missing -= samples.length;
    },
    // The header has promised a length.
    finish: () => encrypted.add(new Uint8Array(Math.max(0, missing) * 2)),
  };
}

/** Ogg/Opus, exactly `soundTicks` long: what is missing is silence, what is too much is cut. */
export function opusSink(
  encrypted: EncryptedFileWriter,
  codec: OpusCodec,
  shape: {
    rateHz: OpusRateHz;
    channels: 1 | 2;
    bitsPerSec: number;
    soundTicks: number;
    comments: Record<string, string>;
  },
): SoundSink {
  const { rateHz, channels, bitsPerSec, soundTicks } = shape;
  const encoder = codec.createEncoder({ rateHz, channels, bitsPerSec, complexity: COMPLEXITY });
  const frame = new Int16Array(((rateHz * PACKET_MS) / 1000) * channels);
  const packet = new Uint8Array(MAX_OPUS_PACKET_BYTES);
  const packetTicks = (OGG_TICKS_PER_SECOND * PACKET_MS) / 1000;
  const packets = Math.ceil((soundTicks + encoder.lookaheadTicks) / packetTicks);
  const ogg = createOggOpusWriter({
    channels,
    preSkipTicks: encoder.lookaheadTicks,
    inputRateHz: rateHz,
    serial: 1,
    vendor: 'parley',
    comments: shape.comments,
    write: (page) => encrypted.add(page),
  });
  let held = 0;
  let written = 0;
  const put = (): void => {
    ogg.addPacket(packet, 0, encoder.encode(frame, packet, 0), packetTicks);
    written++;
    held = 0;
    frame.fill(0);
  };
  return {
    add(samples) {
      for (let taken = 0; taken < samples.length; ) {
        const piece = Math.min(samples.length - taken, frame.length - held);
        frame.set(samples.subarray(taken, taken + piece), held);
        held += piece;
        taken += piece;
        if (held === frame.length) put();
      }
    },
    finish() {
      while (written < packets) put();
      ogg.finish(soundTicks);
      encoder.close();
    },
  };
}
