/**
 * Turns the segments of a recording that is over into one Ogg/Opus file, encrypted like them: encode, sync, read back
 * and check, rename, remove the segments.
 * Called by the recorder's queue, one recording at a time. It works in steps of 200 ms of sound and asks `pause` after
 * each, so that the rings are drained in between. Until the rename nothing that exists is touched: it may die anywhere
 * and be done again.
 */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { decodeMulaw } from '../audio/g711.ts';
import { OggOpusReader } from '../audio/ogg-opus-reader.ts';
import { createOggOpusWriter, OGG_TICKS_PER_SECOND } from '../audio/ogg-opus-writer.ts';
import { MAX_OPUS_PACKET_BYTES, type OpusCodec } from '../audio/opus-codec.ts';
import { SoundMeter, soundMapInSteps } from '../audio/sound-meter.ts';
import type { LegFormat } from '../contract/audio-format.ts';
import type { RecordingFacts, SoundMap } from '../contract/conversation.ts';
import { EncryptedFileReader } from '../files/encrypted-file-reader.ts';
import { EncryptedFileWriter, type WriteAt } from '../files/encrypted-file-writer.ts';
import { syncPath } from '../files/sync-path.ts';
import { instantBytesOf, listSegments, type Segment, SegmentReader } from './segment-files.ts';

export interface FinishDeps {
  codec: OpusCodec;
  write: WriteAt;
  /** Resolves at once, or after other work was let through. */
  pause: () => Promise<void>;
}

export interface FinishOrder {
  callUuid: string;
  epoch: number;
  /** The folder of segments; the finished file is `<folder>.sealed`. */
  folder: string;
  dataKey: Uint8Array;
  /** Length of the whole; null takes what the segments hold. */
  totalSamples: number | null;
}

/** The folder holds no segment that could be read: trying again is no use. */
export class NothingReadable extends Error {
  override readonly name = 'NothingReadable';
}

/**
 * Stereo bit rates from which libopus neither mixes the channels down nor saves at the voices;
 * at 8 kHz 24 kb/s is the least.
 */
const BITS_PER_SEC: Record<LegFormat['rateHz'], number> = { 8000: 32000, 16000: 40000, 24000: 48000, 48000: 64000 };
/** Above 1 libopus takes twice the time here and sounds the same (log-spectral distance 3.3 dB at 1, 5 and 10). */
const COMPLEXITY = 1;
const PACKET_MS = 20;
const PACKETS_PER_STEP = 10;

/**
 * Rejects with `NothingReadable`, or when the disk refuses or the file read back is not what
 * was meant; segments are kept then.
 */
export async function finishRecording(order: FinishOrder, deps: FinishDeps): Promise<RecordingFacts> {
  const { dataKey } = order;
  const path = `${order.folder}.sealed`;
  const found = listSegments(order.folder, dataKey);
  if (found === null) throw new NothingReadable(`no readable segment in ${order.folder}`);
  const { format, segments } = found;
  const totalSamples = order.totalSamples ?? found.totalSamples;
  const soundTicks = (totalSamples * OGG_TICKS_PER_SECOND) / format.rateHz;
  // A crash between rename and removal: the file is there and whole.
  let sound: SoundMap | null = null;
  let facts = existsSync(path) ? await readBack(path, dataKey, soundTicks, deps.pause).catch(() => null) : null;
  if (facts === null) {
    const temporaryPath = `${path}.part`;
    try {
      sound = await encode({ ...order, temporaryPath, format, segments, totalSamples, soundTicks }, deps);
      await syncPath(temporaryPath);
      facts = await readBack(temporaryPath, dataKey, soundTicks, deps.pause);
      await rename(temporaryPath, path);
      await syncPath(dirname(path));
    } catch (error) {
      rmSync(temporaryPath, { force: true });
      throw error;
    }
  }
  await rm(order.folder, { recursive: true, force: true });
  return { ...facts, path, ...(sound === null ? {} : { sound }) };
}

/** Checks a finished file and tells its facts. Rejects when it is damaged. */
export function factsOfFinished(
  path: string,
  dataKey: Uint8Array,
  pause: () => Promise<void>,
): Promise<RecordingFacts> {
  return readBack(path, dataKey, null, pause);
}

interface EncodeOrder {
  temporaryPath: string;
  callUuid: string;
  dataKey: Uint8Array;
  format: LegFormat;
  segments: readonly Segment[];
  totalSamples: number;
  soundTicks: number;
}

/** Resolves with where there is sound in it. */
async function encode(order: EncodeOrder, { codec, write, pause }: FinishDeps): Promise<SoundMap> {
  const { format, totalSamples } = order;
  const packetSamples = (format.rateHz * PACKET_MS) / 1000;
  const stepSamples = packetSamples * PACKETS_PER_STEP;
  const raw = new Uint8Array(stepSamples * instantBytesOf(format));
  const linear = new Int16Array(stepSamples * 2);
  const packet = new Uint8Array(MAX_OPUS_PACKET_BYTES);
  const meter = new SoundMeter(format.rateHz);
  const reader = new SegmentReader(order.segments, format);
  const encoder = codec.createEncoder({
    rateHz: format.rateHz,
    channels: 2,
    bitsPerSec: BITS_PER_SEC[format.rateHz],
    complexity: COMPLEXITY,
  });
  const fd = openSync(order.temporaryPath, 'w', 0o600);
  try {
    const encrypted = new EncryptedFileWriter(order.dataKey, fd, write);
    const ogg = createOggOpusWriter({
      channels: 2,
      preSkipTicks: encoder.lookaheadTicks,
      inputRateHz: format.rateHz,
      serial: serialOf(order.callUuid),
      vendor: 'parley',
      comments: { TITLE: order.callUuid, CHANNEL_LEFT: 'caller', CHANNEL_RIGHT: 'agent' },
      write: (page) => encrypted.add(page),
    });
    const lookaheadSamples = Math.ceil((encoder.lookaheadTicks * format.rateHz) / OGG_TICKS_PER_SECOND);
    const packets = Math.ceil((totalSamples + lookaheadSamples) / packetSamples);
    for (let done = 0; done < packets; done += PACKETS_PER_STEP) {
      reader.read(done * packetSamples, stepSamples, raw);
      toLinear(format, raw, linear);
      meter.push(linear, Math.max(0, Math.min(stepSamples, totalSamples - done * packetSamples)));
      const until = Math.min(PACKETS_PER_STEP, packets - done);
      for (let i = 0; i < until; i++) {
        const frame = linear.subarray(i * packetSamples * 2, (i + 1) * packetSamples * 2);
        ogg.addPacket(packet, 0, encoder.encode(frame, packet, 0), (OGG_TICKS_PER_SECOND * PACKET_MS) / 1000);
      }
      await pause();
    }
    ogg.finish(order.soundTicks);
    encrypted.finish();
    return await soundMapInSteps(meter.loudness(), pause);
  } finally {
    encoder.close();
    reader.close();
    closeSync(fd);
  }
}

function toLinear(format: LegFormat, raw: Uint8Array, linear: Int16Array): void {
  if (format.codec === 'mulaw') decodeMulaw(raw, 0, raw.length, linear, 0);
  else for (let i = 0; i < linear.length; i++) linear[i] = raw[2 * i]! | (raw[2 * i + 1]! << 8);
}

/**
 * Checks every page, and the length unless it is null, and hashes what was checked. Rejects with an
 * `EncryptedFileBroken`, an `OggError` or an `Error`.
 */
async function readBack(
  path: string,
  dataKey: Uint8Array,
  soundTicks: number | null,
  pause: () => Promise<void>,
): Promise<RecordingFacts> {
  const ogg = new OggOpusReader();
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const fd = openSync(path, 'r');
  try {
    const encrypted = await EncryptedFileReader.open(dataKey, statSync(path).size, async (start, end) => {
      const piece = new Uint8Array(end - start);
      return piece.subarray(0, readSync(fd, piece, 0, piece.length, start));
    });
    for await (const piece of encrypted.all()) {
      ogg.push(piece);
      hash.update(piece);
      sizeBytes += piece.length;
      await pause();
    }
  } finally {
    closeSync(fd);
  }
  const facts = ogg.finish();
  if (facts.channels !== 2 || facts.soundTicks !== (soundTicks ?? facts.soundTicks)) {
    throw new Error(
      `${path} holds ${facts.soundTicks} ticks of ${facts.channels} channels instead of ${soundTicks} of 2`,
    );
  }
  const durationMs = Math.round((facts.soundTicks * 1000) / OGG_TICKS_PER_SECOND);
  const sha256 = hash.digest('hex');
  return { path, format: 'ogg_opus', channels: 2, rateHz: facts.inputRateHz, durationMs, sizeBytes, sha256 };
}

/**
 * The same recording makes the same sound file, byte for byte, however often it is made;
 * encrypted it differs each time.
 */
function serialOf(callUuid: string): number {
  return createHash('sha256').update(callUuid).digest().readUInt32LE(0);
}
