/**
 * Makes another form of a finished recording: one channel, a mix of both, or WAV. Called by the render thread, once a form; sealed bytes in,
 * a sealed file out, so that nothing audible touches a disk. The whole source lies in memory (0.24 MB a minute); the result does not.
 */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { type OggOpusFacts, OggOpusReader, type OnPacket } from '../audio/ogg-opus-reader.ts';
import { createOggOpusWriter, OGG_TICKS_PER_SECOND } from '../audio/ogg-opus-writer.ts';
import { MAX_OPUS_PACKET_BYTES, type OpusCodec, type OpusRateHz } from '../audio/opus-codec.ts';
import { WAV_HEADER_BYTES, writeWavHeader } from '../audio/wav.ts';
import { chunkCountOf, chunkStartOf, openSeal, SealBroken } from '../sealed/sealed-file.ts';
import { SealedWriter, type WriteAt } from '../sealed/sealed-writer.ts';

export interface RenderOrder {
  /** The stored file, sealed. */
  source: Uint8Array;
  dataKey: Uint8Array;
  variant: 'stereo' | 'mono' | 'caller' | 'agent';
  format: 'ogg' | 'wav';
  /** Written anew; the caller gives it its name when it is whole. */
  targetPath: string;
}

/** Takes interleaved samples, any number at a time. */
interface SoundSink {
  add(samples: Int16Array): void;
  finish(): void;
}

const LONGEST_PACKET_MS = 120;
const PACKET_MS = 20;
const COMPLEXITY = 1;
/** One voice takes less than two; the figures for both are in `finish-recording.ts`. */
const MONO_BITS_PER_SEC: Record<OpusRateHz, number> = {
  8000: 24000,
  12000: 24000,
  16000: 28000,
  24000: 32000,
  48000: 48000,
};
const STEREO_BITS_PER_SEC = 64000;

/** Returns the size of the sealed file. Throws a `SealBroken`, an `OggError`, or what the disk throws. */
export function renderSound(order: RenderOrder, codec: OpusCodec, write: WriteAt): number {
  // Where the sound ends stands on the last page only.
  const facts = readSource(order);
  const rateHz = facts.inputRateHz as OpusRateHz;
  const totalSamples = Math.round((facts.soundTicks * rateHz) / OGG_TICKS_PER_SECOND);
  const channels = order.variant === 'stereo' ? 2 : 1;
  const fd = openSync(order.targetPath, 'w', 0o600);
  try {
    const sealed = new SealedWriter(order.dataKey, fd, write);
    const sink =
      order.format === 'wav'
        ? wavSink(sealed, rateHz, channels, totalSamples)
        : opusSink(sealed, codec, {
            rateHz,
            channels,
            soundTicks: facts.soundTicks,
            comments: commentsOf(order, facts),
          });
    decodeInto(order, codec, facts, totalSamples, sink);
    sink.finish();
    const sealedBytes = sealed.finish();
    fsyncSync(fd);
    return sealedBytes;
  } finally {
    closeSync(fd);
  }
}

function readSource({ source, dataKey }: RenderOrder, onPacket?: OnPacket): OggOpusFacts {
  const seal = openSeal(dataKey, source);
  const ogg = new OggOpusReader(onPacket);
  const chunks = chunkCountOf(source.length, seal.chunkBytes);
  for (let chunk = 0; chunk < chunks; chunk++) {
    const sealed = source.subarray(chunkStartOf(chunk, seal.chunkBytes), chunkStartOf(chunk + 1, seal.chunkBytes));
    const plain = seal.open(chunk, sealed, chunk === chunks - 1);
    if (plain === null) throw new SealBroken(`chunk ${chunk} of ${chunks} is damaged or cut off`);
    ogg.push(plain);
  }
  return ogg.finish();
}

function decodeInto(
  order: RenderOrder,
  codec: OpusCodec,
  facts: OggOpusFacts,
  totalSamples: number,
  sink: SoundSink,
): void {
  const rateHz = facts.inputRateHz as OpusRateHz;
  const decoder = codec.createDecoder({ rateHz, channels: 2 });
  const both = new Int16Array(((rateHz * LONGEST_PACKET_MS) / 1000) * 2);
  let at = -Math.round((facts.preSkipTicks * rateHz) / OGG_TICKS_PER_SECOND);
  try {
    readSource(order, (bytes, start, lengthBytes) => {
      const count = decoder.decode(bytes, start, lengthBytes, both);
      if (count < 0) throw new Error('a packet of the recording does not decode');
      const from = Math.max(0, -at);
      const until = Math.min(count, totalSamples - at);
      if (until > from) sink.add(chosen(order.variant, both.subarray(from * 2, until * 2)));
      at += count;
    });
  } finally {
    decoder.close();
  }
}

/** Caller left, agent right. The mix keeps each voice at its level; where both are loud it clips. */
function chosen(variant: RenderOrder['variant'], both: Int16Array): Int16Array {
  if (variant === 'stereo') return both;
  const one = new Int16Array(both.length / 2);
  for (let i = 0; i < one.length; i++) {
    const left = both[2 * i]!;
    const right = both[2 * i + 1]!;
    one[i] =
      variant === 'caller' ? left : variant === 'agent' ? right : Math.max(-32768, Math.min(32767, left + right));
  }
  return one;
}

function wavSink(sealed: SealedWriter, rateHz: number, channels: number, totalSamples: number): SoundSink {
  const header = new Uint8Array(WAV_HEADER_BYTES);
  writeWavHeader(header, { codec: 'pcm_s16le', rateHz, channels, dataBytes: totalSamples * channels * 2 });
  sealed.add(header);
  let missing = totalSamples * channels;
  return {
    add(samples) {
      const bytes = new Uint8Array(samples.length * 2);
      const view = new DataView(bytes.buffer);
      for (let i = 0; i < samples.length; i++) view.setInt16(i * 2, samples[i]!, true);
      sealed.add(bytes);
      missing -= samples.length;
    },
    // The header has promised a length.
    finish: () => sealed.add(new Uint8Array(Math.max(0, missing) * 2)),
  };
}

function opusSink(
  sealed: SealedWriter,
  codec: OpusCodec,
  shape: { rateHz: OpusRateHz; channels: 1 | 2; soundTicks: number; comments: Record<string, string> },
): SoundSink {
  const { rateHz, channels, soundTicks } = shape;
  const bitsPerSec = channels === 1 ? MONO_BITS_PER_SEC[rateHz] : STEREO_BITS_PER_SEC;
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
    write: (page) => sealed.add(page),
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

function commentsOf({ variant }: RenderOrder, { comments }: OggOpusFacts): Record<string, string> {
  return { TITLE: comments['TITLE'] ?? '', CHANNEL: variant };
}
