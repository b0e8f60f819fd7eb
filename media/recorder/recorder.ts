/**
 * Records every call of a media process: drains each call's ring into its time line, appends to its segments, and when the call is over
 * finishes the file. Made by the recorder thread's entry, which passes on the I/O thread's messages.
 * One absolute tick of 100 ms drains all calls, without allocation per frame; encoding goes on in slices of 10 ms in between.
 * A disk that fails costs a recording, never a call: the ring is drained all the same, the fault is logged once and reported.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { OpusCodec } from '../audio/opus-codec.ts';
import type { LegFormat } from '../contract/audio-format.ts';
import type { Clock } from '../contract/clock.ts';
import type { FromRecorder } from '../contract/thread-messages.ts';
import type { FrameRing } from '../rings/frame-ring.ts';
import { attachRecordRing } from '../rings/record-ring.ts';
import { type FinishOrder, finishRecording, NothingReadable } from './finish-recording.ts';
import { OWN_STILL_MS, scanForLeftOvers } from './salvage.ts';
import { listSegments, readOwner, SegmentWriter, setAside, type WriteAt } from './segment-files.ts';
import { Timeline } from './timeline.ts';

/** What the parent gives the recorder thread as `workerData`. */
export interface RecorderThreadData {
  dataDir: string;
  /** The process slot's name, the same after a restart: left-over recordings are known by it. */
  mediaId: string;
  /** New for each process, the same for each thread of it: a thread that is replaced goes on with the recordings of its forerunner. */
  runId: string;
  logLevel: string;
}

export interface RecorderDeps extends Omit<RecorderThreadData, 'logLevel'> {
  clock: Clock;
  log: Logger;
  codec: OpusCodec;
  write: WriteAt;
  report: (message: FromRecorder) => void;
  /** Resolves after timers and messages that are due have run. */
  letOthersRun: () => Promise<void>;
}

export interface Recorder {
  /** Begins to record; a second `open` of a call that is open is ignored. Never throws: a fault is told at `finished`. */
  open(callUuid: string, format: LegFormat, ring: SharedArrayBuffer): void;
  /** The call is over: takes what is left in the ring, pads to `durationMs`, and queues the file for finishing. */
  close(callUuid: string, durationMs: number): void;
  /** Queues what earlier runs left unfinished. Resolves when it is queued. */
  salvage(): Promise<void>;
  /** Resolves when the queue is empty. */
  idle(): Promise<void>;
  /** Ends the tick and closes the files; open calls' segments stay for a later run to finish. Idempotent. */
  stop(): void;
}

const TICK_MS = 100;
const SLICE_MS = 10;
/** How far a frame may lie ahead of the time that has passed: more is no clock drift but nonsense, and would fill the disk with silence. */
const AHEAD_MS = 30_000;
/** A call in which nothing comes for so long is written on as silence. */
const UNMOVED_MS = 8000;
const SAFE_NAME = /^[0-9A-Za-z-]{1,64}$/;

interface Recording {
  callUuid: string;
  folder: string;
  ring: FrameRing;
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
  const owner = `${deps.mediaId} ${deps.runId}`;
  const byCall = new Map<string, Recording>();
  /** The same recordings; the tick walks an array. */
  const recordings: Recording[] = [];
  const queue: FinishOrder[] = [];
  let working: Promise<void> | null = null;
  let stopped = false;
  let nextTickAtMs = clock.nowMs() + TICK_MS;
  let cancelTick = clock.after(TICK_MS, tick);
  let cancelRescan: () => void = () => {};
  let sliceStartedAtMs = 0;

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
    const notAfterMs = recording.openedStreamMs + nowMs - recording.openedAtMs + AHEAD_MS;
    try {
      while (ring.peek()) {
        timeline.place(ring.generation, ring.bytes, ring.payloadStart, ring.lengthBytes, ring.atMs, notAfterMs);
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
    recording.fault = error instanceof Error ? error : new Error(String(error));
    recording.log.error(
      { err: recording.fault, folder: recording.folder },
      'recording failed; the call goes on without it',
    );
    try {
      recording.writer?.close();
    } catch {
      // The fault that counts is already logged.
    }
  }

  function isInUse(folder: string): boolean {
    return recordings.some((other) => other.folder === folder) || queue.some((order) => order.folder === folder);
  }

  /** A folder that a forerunner of this thread was writing, or a fresh one. */
  function folderFor(callUuid: string, format: LegFormat): { folder: string; firstSample: number } {
    if (!SAFE_NAME.test(callUuid)) throw new Error(`"${callUuid}" cannot name a folder`);
    const nowEpochMs = clock.epochMs();
    const days = [dayOf(nowEpochMs - 86_400_000), dayOf(nowEpochMs)];
    for (const day of days) {
      for (let stream = 1; ; stream++) {
        const folder = join(recordingsDir, day, stream === 1 ? callUuid : `${callUuid}.${stream}`);
        const isThere = existsSync(folder);
        if (!isThere && !existsSync(`${folder}.ogg`)) {
          if (day === days[1]) return { folder, firstSample: 0 };
          break;
        }
        if (!isThere || isInUse(folder) || readOwner(folder) !== owner) continue;
        const found = listSegments(folder);
        if (found === null) return { folder, firstSample: 0 };
        if (found.format.codec !== format.codec || found.format.rateHz !== format.rateHz) continue;
        return { folder, firstSample: found.totalSamples };
      }
    }
    throw new Error('no folder'); // The loop for today always returns.
  }

  function open(callUuid: string, format: LegFormat, memory: SharedArrayBuffer): void {
    if (stopped || byCall.has(callUuid)) return;
    const nowMs = clock.nowMs();
    const recording: Recording = {
      callUuid,
      folder: '',
      ring: attachRecordRing(memory, format),
      timeline: new Timeline(format, () => {}),
      writer: null,
      fault: null,
      openedAtMs: nowMs,
      openedStreamMs: 0,
      lastFrameAtMs: nowMs,
      log: log.child({ callUuid }),
    };
    byCall.set(callUuid, recording);
    recordings.push(recording);
    try {
      const { folder, firstSample } = folderFor(callUuid, format);
      recording.folder = folder;
      const writer = new SegmentWriter(folder, format, owner, firstSample, deps.write, (error) =>
        fail(recording, error),
      );
      recording.writer = writer;
      recording.timeline = new Timeline(format, (bytes, lengthBytes) => writer.append(bytes, lengthBytes), firstSample);
      recording.openedStreamMs = recording.timeline.newestMs;
    } catch (error) {
      fail(recording, error);
    }
  }

  function close(callUuid: string, durationMs: number): void {
    const recording = byCall.get(callUuid);
    if (recording === undefined) {
      deps.report({ type: 'finished', callUuid, recording: null, error: 'the call was not being recorded' });
      return;
    }
    byCall.delete(callUuid);
    recordings.splice(recordings.indexOf(recording), 1);
    const nowMs = clock.nowMs();
    drain(recording, nowMs);
    const longestMs = recording.openedStreamMs + nowMs - recording.openedAtMs + AHEAD_MS;
    const totalSamples = finishTimeline(recording, Math.min(Math.max(0, durationMs || 0), longestMs));
    logWhatWasLost(recording);
    if (recording.fault !== null) {
      deps.report({ type: 'finished', callUuid, recording: null, error: recording.fault.message });
      return;
    }
    if (totalSamples === 0) {
      rmSync(recording.folder, { recursive: true, force: true });
      deps.report({ type: 'finished', callUuid, recording: null, error: 'the stream ended before it held any sound' });
      return;
    }
    enqueue({ callUuid, folder: recording.folder, totalSamples });
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

  function logWhatWasLost({ ring, timeline, log }: Recording): void {
    const lost = { droppedFrames: ring.droppedFrames, ...timeline.counters };
    if (lost.droppedFrames + lost.lateFrames + lost.implausibleFrames > 0)
      log.warn(lost, 'frames are missing in the recording');
  }

  function enqueue(order: FinishOrder): void {
    queue.push(order);
    working ??= work();
  }

  async function work(): Promise<void> {
    await pause();
    for (let order = queue[0]; order !== undefined && !stopped; order = queue[0]) {
      await finish(order);
      queue.shift();
    }
    // In the same turn as the last look at the queue, so that nothing is queued in between and forgotten.
    working = null;
  }

  async function finish(order: FinishOrder): Promise<void> {
    const { callUuid, folder } = order;
    try {
      const recording = await finishRecording(order, { codec: deps.codec, write: deps.write, pause });
      deps.report({ type: 'finished', callUuid, recording, error: null });
    } catch (error) {
      const keptAt = error instanceof NothingReadable ? trySetAside(folder) : folder;
      log.error({ err: error, callUuid, keptAt }, 'recording could not be finished');
      const message = error instanceof Error ? error.message : String(error);
      deps.report({ type: 'finished', callUuid, recording: null, error: message });
    }
  }

  function trySetAside(folder: string): string | null {
    try {
      return setAside(folder);
    } catch {
      return folder;
    }
  }

  async function pause(): Promise<void> {
    if (clock.nowMs() - sliceStartedAtMs < SLICE_MS) return;
    await deps.letOthersRun();
    sliceStartedAtMs = clock.nowMs();
  }

  async function salvage(): Promise<void> {
    const { ready, youngFolders } = await scanForLeftOvers(recordingsDir, deps.mediaId, clock.epochMs(), isInUse);
    if (stopped) return;
    for (const { callUuid, folder } of ready) {
      if (isInUse(folder)) continue;
      log.info({ callUuid, folder }, 'finishing a recording that an earlier run left behind');
      enqueue({ callUuid, folder, totalSamples: null });
    }
    if (youngFolders > 0) cancelRescan = clock.after(OWN_STILL_MS, rescan);
  }

  function rescan(): void {
    salvage().catch((error) => log.error({ err: error }, 'left-over recordings could not be looked for'));
  }

  function stop(): void {
    if (stopped) return;
    stopped = true;
    cancelTick();
    cancelRescan();
    const nowMs = clock.nowMs();
    for (const recording of recordings) {
      drain(recording, nowMs);
      finishTimeline(recording, recording.timeline.newestMs);
    }
    recordings.length = 0;
    byCall.clear();
  }

  return { open, close, salvage, stop, idle: async () => working ?? undefined };
}

function dayOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}
