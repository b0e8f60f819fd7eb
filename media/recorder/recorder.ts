/**
 * Records every call of a media process: drains each call's ring into its time line, appends to its segments, and
 * queues the file for finishing when the call is over. Made by the recorder thread's entry, which passes on the I/O
 * thread's messages. One absolute tick of 100 ms drains all calls, without allocation per frame.
 * A disk that fails costs a recording, never a call: the ring is drained all the same, the fault is logged once and
 * reported. Every byte that it writes is encrypted with the recording's own key, which control hands out; what an
 * earlier run left is finished when its key has come.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { LegFormat } from '../contract/audio-format.ts';
import type { RecordingDisposition, ToRecorder } from '../contract/thread-messages.ts';
import type { FrameRing } from '../rings/frame-ring.ts';
import { attachRecordRing } from '../rings/record-ring.ts';
import { createFinishQueue, type FinishQueueDeps } from './finish-queue.ts';
import { createLegDecoder, type LegDecoder } from './leg-decoder.ts';
import { findPlace, ownerOf } from './recording-folders.ts';
import { type LeftOver, OWN_STILL_MS, scanForLeftOvers } from './salvage.ts';
import { SegmentWriter } from './segment-files.ts';
import { Timeline } from './timeline.ts';

/** What the parent gives the recorder thread as `workerData`. */
export interface RecorderThreadData {
  dataDir: string;
  /** The process slot's name, the same after a restart: left-over recordings are known by it. */
  mediaId: string;
  /**
   * New for each process, the same for each thread of it: a thread that is replaced goes on
   * with the recordings of its forerunner.
   */
  runId: string;
  logLevel: string;
}

type OpenOrder = Omit<Extract<ToRecorder, { type: 'open' }>, 'type'>;

export interface RecorderDeps extends Omit<RecorderThreadData, 'logLevel'>, FinishQueueDeps {}

export interface Recorder {
  /**
   * Begins to record a stream of a call; a second `open` of one that is open is ignored. Never
   * throws: a fault is told at `finished`.
   */
  open(order: OpenOrder): void;
  /** The call is over: takes what is left in the ring, pads to `durationMs`, and queues the file for finishing. */
  close(callUuid: string, durationMs: number, epoch: number): void;
  /** Asks for the keys of what earlier runs left unfinished. Resolves when it has asked. */
  salvage(): Promise<void>;
  /** The key of a left-over recording, or what else became of it. One that was not asked for is ignored. */
  key(callUuid: string, epoch: number, disposition: RecordingDisposition): void;
  /** Resolves when nothing is left to finish. */
  idle(): Promise<void>;
  /** Ends the tick and closes the files; open calls' segments stay for a later run to finish. Idempotent. */
  stop(): void;
}

const TICK_MS = 100;
/**
 * How far a frame may lie ahead of the time that has passed: more is no clock drift but nonsense, and would fill the
 * disk with silence.
 */
const AHEAD_MS = 30_000;
/** A call in which nothing comes for so long is written on as silence. */
const UNMOVED_MS = 8000;

const KEY_HEX = /^[0-9a-f]{64}$/;

interface Recording {
  callUuid: string;
  epoch: number;
  folder: string;
  dataKey: Uint8Array;
  /** The call's last finished file, when this recording begins anew. */
  earlierFile: string | null;
  ring: FrameRing;
  /** By direction: received, played. Null: frames are in the recording's form already. */
  decoders: readonly [LegDecoder | null, LegDecoder | null];
  timeline: Timeline;
  writer: SegmentWriter | null;
  fault: Error | null;
  openedAtMs: number;
  /** Stream time at `openedAtMs`, as far as it is known: 0, or where a forerunner stopped. */
  openedStreamMs: number;
  lastFrameAtMs: number;
  log: Logger;
}

export function createRecorder(deps: RecorderDeps): Recorder {
  const { clock, log } = deps;
  const recordingsDir = join(deps.dataDir, 'recordings');
  const queue = createFinishQueue(deps);
  /** By call and epoch. */
  const byStream = new Map<string, Recording>();
  /** The same recordings; the tick walks an array. */
  const recordings: Recording[] = [];
  /** Whose key was asked for, by call and epoch. */
  const leftOvers = new Map<string, LeftOver>();
  /** Finished files of earlier runs that control was told of anew: they lie there until the store has them. */
  const toldAgain = new Set<string>();
  const scannedBy = { mediaId: deps.mediaId, runId: deps.runId, beganAtEpochMs: clock.epochMs() };
  let isStopped = false;
  let nextTickAtMs = clock.nowMs() + TICK_MS;
  let cancelTick = clock.after(TICK_MS, tick);
  let cancelRescan: () => void = () => {};

  function tick(): void {
    const nowMs = clock.nowMs();
    for (let i = 0; i < recordings.length; i++) drain(recordings[i]!, nowMs);
    nextTickAtMs += TICK_MS;
    // After a stall the missed ticks are skipped: one drain has caught up with all of them.
    if (nextTickAtMs <= nowMs) nextTickAtMs = nowMs + TICK_MS;
    cancelTick = clock.after(nextTickAtMs - clock.nowMs(), tick);
  }

  function drain(recording: Recording, nowMs: number): void {
    const { ring, timeline } = recording;
    if (recording.fault !== null) {
      while (ring.peek()) ring.release();
      return;
    }
    const notAfterMs = latestPlausibleMs(recording, nowMs);
    try {
      while (ring.peek()) {
        const decoder = recording.decoders[ring.generation === 0 ? 0 : 1];
        if (decoder === null) {
          timeline.place(ring.generation, ring.bytes, ring.payloadStart, ring.lengthBytes, ring.atMs, notAfterMs);
        } else {
          if (!decoder.isReady) break;
          const lengthBytes = decoder.decode(ring.bytes, ring.payloadStart, ring.lengthBytes);
          if (lengthBytes > 0) timeline.place(ring.generation, decoder.bytes, 0, lengthBytes, ring.atMs, notAfterMs);
        }
        ring.release();
        recording.lastFrameAtMs = nowMs;
      }
      timeline.settle(timeline.newestMs + nowMs - recording.lastFrameAtMs - UNMOVED_MS);
    } catch (error) {
      fail(recording, error);
    }
  }

  function fail(recording: Recording, error: unknown): void {
    if (recording.fault !== null) return;
    const fault = error instanceof Error ? error : new Error(String(error));
    recording.fault = fault;
    recording.log.error({ err: fault, folder: recording.folder }, 'recording failed; the call goes on without it');
    recording.writer?.close();
  }

  function isInUse(folder: string): boolean {
    return queue.holds(folder) || recordings.some((other) => other.folder === folder);
  }

  function open({ callUuid, epoch, format, ring: memory, keyHex, directions }: OpenOrder): void {
    if (isStopped || byStream.has(keyOf(callUuid, epoch))) return;
    const { received, played } = directions ?? { received: format, played: format };
    const nowMs = clock.nowMs();
    const recording: Recording = {
      callUuid,
      epoch,
      folder: '',
      dataKey: Buffer.from(keyHex, 'hex'),
      earlierFile: null,
      ring: attachRecordRing(memory, received, played),
      decoders: [createLegDecoder(received, format, deps.codec), createLegDecoder(played, format, deps.codec)],
      timeline: new Timeline(format, () => {}),
      writer: null,
      fault: null,
      openedAtMs: nowMs,
      openedStreamMs: 0,
      lastFrameAtMs: nowMs,
      log: log.child({ callUuid }),
    };
    try {
      if (!KEY_HEX.test(keyHex))
        throw new Error('control gave no key for this recording, and nothing is written in the clear');
      beginWriting(recording, format);
    } catch (error) {
      fail(recording, error);
    }
    byStream.set(keyOf(callUuid, epoch), recording);
    recordings.push(recording);
  }

  function beginWriting(recording: Recording, format: LegFormat): void {
    const { callUuid, epoch, dataKey } = recording;
    const owner = ownerOf(deps.mediaId, deps.runId, epoch);
    const place = findPlace(recordingsDir, { callUuid, epoch, format, owner, dataKey }, clock.epochMs(), isInUse);
    recording.folder = place.folder;
    recording.earlierFile = place.earlierFile;
    const writer = new SegmentWriter({ ...place, format, owner, dataKey }, deps.write, (error) => {
      if (byStream.get(keyOf(callUuid, epoch)) === recording) fail(recording, error);
      else recording.log.warn({ err: error, folder: place.folder }, 'a segment could not be synced after the call');
    });
    recording.writer = writer;
    recording.timeline = new Timeline(
      format,
      (bytes, start, lengthBytes, firstSample) => writer.append(bytes, start, lengthBytes, firstSample),
      place.firstSample,
    );
    recording.openedStreamMs = recording.timeline.newestMs;
  }

  function close(callUuid: string, durationMs: number, epoch: number): void {
    const recording = byStream.get(keyOf(callUuid, epoch));
    if (recording === undefined) {
      reportFailure({ callUuid, epoch }, 'the call was not being recorded');
      return;
    }
    byStream.delete(keyOf(callUuid, epoch));
    recordings.splice(recordings.indexOf(recording), 1);
    const nowMs = clock.nowMs();
    drain(recording, nowMs);
    closeDecoders(recording);
    logWhatWasLost(recording);
    const { folder, dataKey, earlierFile, timeline } = recording;
    if (earlierFile !== null && recording.fault === null && timeline.counters.placedFrames === 0) {
      // A former thread had finished this call and died before it was heard: it is opened and closed again, with
      // nothing to add.
      rmSync(folder, { recursive: true, force: true });
      queue.add({ callUuid, epoch, folder, dataKey, earlierFile });
      return;
    }
    const statedMs = Math.min(Math.max(0, durationMs || 0), latestPlausibleMs(recording, nowMs));
    const totalSamples = finishTimeline(recording, statedMs);
    if (recording.fault !== null) reportFailure(recording, recording.fault.message);
    else if (totalSamples > 0) queue.add({ callUuid, epoch, folder, dataKey, totalSamples });
    else {
      rmSync(folder, { recursive: true, force: true });
      reportFailure(recording, 'the stream ended before it held any sound');
    }
  }

  function reportFailure({ callUuid, epoch }: { callUuid: string; epoch: number }, error: string): void {
    deps.report({ type: 'finished', callUuid, epoch, recording: null, error });
  }

  function finishTimeline(recording: Recording, durationMs: number): number {
    if (recording.fault !== null) return 0;
    try {
      const totalSamples = recording.timeline.finish(durationMs);
      recording.writer?.close();
      return totalSamples;
    } catch (error) {
      fail(recording, error);
      return 0;
    }
  }

  async function salvage(): Promise<void> {
    const { ready, young } = await scanForLeftOvers(recordingsDir, scannedBy, clock.epochMs(), isInUse);
    if (isStopped) return;
    for (const leftOver of ready) {
      const { callUuid, epoch, finishedFile } = leftOver;
      if (isInUse(leftOver.folder) || (finishedFile !== null && toldAgain.has(finishedFile))) continue;
      leftOvers.set(keyOf(callUuid, epoch), leftOver);
      deps.report({ type: 'key.wanted', callUuid, epoch });
    }
    cancelRescan();
    // An answer may be lost with a control that is replaced: what still waits is asked for again.
    if (young > 0 || leftOvers.size > 0) cancelRescan = clock.after(OWN_STILL_MS, rescan);
  }

  function key(callUuid: string, epoch: number, disposition: RecordingDisposition): void {
    const leftOver = leftOvers.get(keyOf(callUuid, epoch));
    if (isStopped || leftOver === undefined) return;
    const { folder, finishedFile } = leftOver;
    if (isInUse(folder)) return;
    leftOvers.delete(keyOf(callUuid, epoch));
    if (finishedFile !== null) toldAgain.add(finishedFile);
    if (disposition.kind === 'settled') {
      log.info({ callUuid, epoch }, 'what is left of a recording that is stored or was erased goes');
      rmSync(folder, { recursive: true, force: true });
      if (finishedFile !== null) rmSync(finishedFile, { force: true });
    } else if (disposition.kind === 'unknown') {
      log.warn(
        { callUuid, epoch, folder, why: disposition.why },
        'a left-over recording cannot be finished; it is kept',
      );
    } else {
      log.info({ callUuid, epoch, folder }, 'finishing a recording that an earlier run left behind');
      const dataKey = Buffer.from(disposition.keyHex, 'hex');
      queue.add(
        finishedFile === null
          ? { callUuid, epoch, folder, dataKey, totalSamples: null }
          : { callUuid, epoch, folder, dataKey, earlierFile: finishedFile },
      );
    }
  }

  function rescan(): void {
    salvage().catch((error) => log.error({ err: error }, 'left-over recordings could not be looked for'));
  }

  function stop(): void {
    if (isStopped) return;
    isStopped = true;
    cancelTick();
    cancelRescan();
    queue.stop();
    const nowMs = clock.nowMs();
    for (const recording of recordings) {
      drain(recording, nowMs);
      closeDecoders(recording);
      finishTimeline(recording, recording.timeline.newestMs);
    }
    recordings.length = 0;
    byStream.clear();
  }

  return { open, close, salvage, key, stop, idle: () => queue.idle() };
}

function closeDecoders({ decoders }: Recording): void {
  for (const decoder of decoders) decoder?.close();
}

function keyOf(callUuid: string, epoch: number): string {
  return `${callUuid} ${epoch}`;
}

function latestPlausibleMs(recording: Recording, nowMs: number): number {
  return recording.openedStreamMs + nowMs - recording.openedAtMs + AHEAD_MS;
}

function logWhatWasLost({ ring, timeline, log }: Recording): void {
  const lost = { droppedFrames: ring.droppedFrames, ...timeline.counters };
  if (lost.droppedFrames + lost.lateFrames + lost.implausibleFrames > 0)
    log.warn(lost, 'frames are missing in the recording');
}
