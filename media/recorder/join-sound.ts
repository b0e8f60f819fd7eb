/**
 * Makes one recording of a whole call of the recordings of its streams: each at its place on the call's time line,
 * silence where the line was dead. Called by the render thread; encrypted bytes in, an encrypted file under a key of
 * its own out. All sources lie in memory (0.24 MB a minute); the result does not.
 */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { OGG_TICKS_PER_SECOND } from '../audio/ogg-opus-writer.ts';
import type { OpusCodec, OpusRateHz } from '../audio/opus-codec.ts';
import type { RecordingFacts } from '../contract/conversation.ts';
import { EncryptedFileWriter, type WriteAt } from '../files/encrypted-file-writer.ts';
import { decodeSound, type EncryptedSound, readSound } from './encrypted-sound.ts';
import { factsOfFinished } from './finish-recording.ts';
import { opusSink } from './sound-sinks.ts';

export interface JoinOrder {
  callUuid: string;
  /** In order; where one reaches into the next, the next one holds. */
  parts: (EncryptedSound & { startMs: number })[];
  totalMs: number;
  /** Of the whole. */
  dataKey: Uint8Array;
  /** Written anew; the caller gives it its name when it is whole. */
  targetPath: string;
}

/** A half more than the parts have, so that the second encoding is not heard. */
const BITS_PER_SEC: Record<OpusRateHz, number> = {
  8000: 48000,
  12000: 48000,
  16000: 64000,
  24000: 72000,
  48000: 96000,
};
const SILENCE_MS = 1000;

/**
 * Resolves with what was written, read back and checked. Rejects with an `EncryptedFileBroken`, an `OggError`, or what
 * the disk throws.
 */
export async function joinSound(order: JoinOrder, codec: OpusCodec, write: WriteAt): Promise<RecordingFacts> {
  const parts = order.parts.map((part) => ({ ...part, facts: readSound(part) }));
  const rateHz = Math.max(...parts.map(({ facts }) => facts.inputRateHz)) as OpusRateHz;
  const samplesOf = (ms: number): number => Math.round((ms * rateHz) / 1000);
  const soundTicks = Math.round((order.totalMs * OGG_TICKS_PER_SECOND) / 1000);
  const fd = openSync(order.targetPath, 'w', 0o600);
  try {
    const encrypted = new EncryptedFileWriter(order.dataKey, fd, write);
    const sink = opusSink(encrypted, codec, {
      rateHz,
      channels: 2,
      bitsPerSec: BITS_PER_SEC[rateHz],
      soundTicks,
      comments: { TITLE: order.callUuid, CHANNEL_LEFT: 'caller', CHANNEL_RIGHT: 'agent' },
    });
    const silence = new Int16Array(samplesOf(SILENCE_MS) * 2);
    let at = 0;
    for (const [index, part] of parts.entries()) {
      const untilSample = samplesOf(parts[index + 1]?.startMs ?? order.totalMs);
      for (let missing = samplesOf(part.startMs) - at; missing > 0; missing -= SILENCE_MS * (rateHz / 1000)) {
        const samples = Math.min(missing, silence.length / 2);
        sink.add(silence.subarray(0, samples * 2));
        at += samples;
      }
      decodeSound(part, part.facts, codec, rateHz, (both) => {
        const samples = Math.min(both.length / 2, untilSample - at);
        if (samples <= 0) return;
        sink.add(both.subarray(0, samples * 2));
        at += samples;
      });
    }
    // Fills up with silence.
    sink.finish();
    encrypted.finish();
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  const facts = await factsOfFinished(order.targetPath, order.dataKey, async () => {});
  if (Math.abs(facts.durationMs - order.totalMs) > 1)
    throw new Error(`the joined recording is ${facts.durationMs} ms long instead of ${order.totalMs}`);
  return facts;
}
