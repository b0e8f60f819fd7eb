/** A recorder on a virtual clock and a folder of its own, calls that send tones, and an ear for the finished file. */
import { mkdtempSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { encodeMulaw } from '../../../../media/audio/g711.ts';
import { type OggOpusFacts, readOggOpus } from '../../../../media/audio/ogg-opus-reader.ts';
import { loadOpusCodec, type OpusRateHz } from '../../../../media/audio/opus-codec.ts';
import { type LegFormat, MULAW_8K } from '../../../../media/contract/audio-format.ts';
import type {
  FromRecorder,
  RecordedDirections,
  RecordingDisposition,
} from '../../../../media/contract/thread-messages.ts';
import { createRecorder, type Recorder, type RecorderDeps } from '../../../../media/recorder/recorder.ts';
import type { FrameRing } from '../../../../media/rings/frame-ring.ts';
import { createRecordRing } from '../../../../media/rings/record-ring.ts';
import { readEncrypted } from '../../../support/encrypted-recording.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

export const codec = loadOpusCodec();
/** Of every recording of these tests. */
export const KEY_HEX = '5e'.repeat(32);
export const DATA_KEY = Buffer.from(KEY_HEX, 'hex');
export type Finished = Extract<FromRecorder, { type: 'finished' }>;
export type LogLine = { level: number; msg: string } & Record<string, unknown>;

export function createHarness(overrides: Partial<RecorderDeps> & { disposition?: RecordingDisposition } = {}) {
  const { disposition = { kind: 'open', keyHex: KEY_HEX } } = overrides;
  const dataDir = overrides.dataDir ?? mkdtempSync(join(tmpdir(), 'parley-recorder-'));
  // Files carry the machine's own times, with fractions: the virtual wall clock starts just after them.
  const clock = new VirtualClock(Date.now() + 1);
  const finished: Finished[] = [];
  const logLines: LogLine[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => logLines.push(JSON.parse(line) as LogLine) });
  const recorder: Recorder = createRecorder({
    dataDir,
    mediaId: 'media-0',
    runId: 'run-1',
    clock,
    log,
    codec,
    write: writeSync,
    report: (message) => {
      if (message.type === 'finished') finished.push(message);
      // As control answers; before `salvage` has told that it asked.
      else if (message.type === 'key.wanted') recorder.key(message.callUuid, message.epoch, disposition);
    },
    letOthersRun: () => nextTurn(),
    ...overrides,
  });
  return {
    dataDir,
    clock,
    recorder: {
      ...recorder,
      open: (
        callUuid: string,
        format: LegFormat,
        ring: SharedArrayBuffer,
        epoch = 1,
        directions?: RecordedDirections,
        keyHex = KEY_HEX,
      ) =>
        recorder.open({ callUuid, epoch, format, ring, keyHex, ...(directions === undefined ? {} : { directions }) }),
      close: (callUuid: string, durationMs: number, epoch = 1) => recorder.close(callUuid, durationMs, epoch),
    },
    finished,
    logLines,
    day: () => join(dataDir, 'recordings', new Date(clock.epochMs()).toISOString().slice(0, 10)),
    remove: () => {
      recorder.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The I/O thread's side of one call. */
export function createCaller(format: LegFormat = MULAW_8K) {
  const { memory, ring } = createRecordRing(format);
  return { memory, ring, format, sent: [0, 0] as [number, number] };
}

/** Sends one 20 ms frame of a tone whose phase follows the stream's time; 0 Hz sends silence. */
export function sendTone(
  { ring, format, sent }: { ring: FrameRing; format: LegFormat; sent: [number, number] },
  direction: 0 | 1,
  atMs: number,
  toneHz: number,
  peak = 10000,
): boolean {
  const samples = format.rateHz / 50;
  const linear = new Int16Array(samples);
  for (let i = 0; i < samples; i++) {
    linear[i] = Math.round(peak * Math.sin(2 * Math.PI * toneHz * (atMs / 1000 + i / format.rateHz)));
  }
  let bytes = new Uint8Array(linear.buffer);
  if (format.codec === 'mulaw') {
    bytes = new Uint8Array(samples);
    encodeMulaw(linear, 0, samples, bytes, 0);
  }
  return ring.tryWrite(bytes, 0, bytes.length, direction, ++sent[direction], atMs);
}

/** `path`: an encrypted file under `DATA_KEY`. */
export async function decodeRecording(path: string): Promise<{
  left: Int16Array;
  right: Int16Array;
  facts: OggOpusFacts;
  rateHz: number;
}> {
  const file = await readEncrypted(path, DATA_KEY);
  const channels: [number[], number[]] = [[], []];
  const scratch = new Int16Array(5760 * 2);
  const rateHz = readOggOpus(file).inputRateHz;
  const decoder = codec.createDecoder({ rateHz: rateHz as OpusRateHz, channels: 2 });
  const facts = readOggOpus(file, (bytes, start, length) => {
    const samples = decoder.decode(bytes, start, length, scratch);
    for (let i = 0; i < samples; i++) {
      channels[0].push(scratch[2 * i]!);
      channels[1].push(scratch[2 * i + 1]!);
    }
  });
  decoder.close();
  const from = (facts.preSkipTicks * rateHz) / 48000;
  const until = from + (facts.soundTicks * rateHz) / 48000;
  const [left, right] = channels.map((channel) => Int16Array.from(channel.slice(from, until)));
  return { left: left!, right: right!, facts, rateHz };
}

/** Level of one frequency, dBFS of a sine's RMS (Goertzel's sum, straight). */
export function toneDbfs(samples: Int16Array, rateHz: number, toneHz: number): number {
  let inPhase = 0;
  let quadrature = 0;
  for (let i = 0; i < samples.length; i++) {
    inPhase += samples[i]! * Math.sin((2 * Math.PI * toneHz * i) / rateHz);
    quadrature += samples[i]! * Math.cos((2 * Math.PI * toneHz * i) / rateHz);
  }
  const power = (2 * (inPhase ** 2 + quadrature ** 2)) / samples.length ** 2;
  return 10 * Math.log10(Math.max(power, 1e-9) / 32768 ** 2);
}

/**
 * Start and end of what is louder than half of `sendTone`'s peak, in ms, measured in steps of 5 ms. (libopus lets a
 * tone that is switched on, as no voice is, through to the other channel for 15 ms, at a third of its peak.)
 */
export function soundsIn(samples: Int16Array, rateHz: number): [number, number][] {
  const step = (rateHz * 5) / 1000;
  const sounds: [number, number][] = [];
  for (let at = 0; at + step <= samples.length; at += step) {
    let peak = 0;
    for (let i = at; i < at + step; i++) peak = Math.max(peak, Math.abs(samples[i]!));
    if (peak < 5000) continue;
    const atMs = (at * 1000) / rateHz;
    const last = sounds.at(-1);
    if (last !== undefined && last[1] >= atMs - 15) last[1] = atMs + 5;
    else sounds.push([atMs, atMs + 5]);
  }
  return sounds;
}
