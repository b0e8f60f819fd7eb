/**
 * The recorder thread, seen from the I/O thread: opens and closes recordings, and starts a dead thread again, handing
 * it every open ring anew (a ring holds 2 s, so a quick restart loses little; one that dies again and again is started
 * ever later). A recording that was closing at three deaths is given up with an error, so that
 * its call is not kept waiting.
 */
import type { Logger } from 'pino';
import type { LegFormat } from '../../contract/audio-format.ts';
import { createBackoff } from '../../contract/backoff.ts';
import type { Clock } from '../../contract/clock.ts';
import type { RecordingFacts } from '../../contract/conversation.ts';
import type {
  FromRecorder,
  RecordedDirections,
  RecordingDisposition,
  ToRecorder,
} from '../../contract/thread-messages.ts';
import { startWatchedWorker, type WatchedWorker } from './watched-worker.ts';

const RESTART_PAUSES = { firstMs: 50, longestMs: 5_000 };
/** A thread that lived this long has proved itself: the next pause is short again. */
const STEADY_AFTER_MS = 10_000;
const MOST_DEATHS_A_RECORDING = 2;
const MEMORY = { oldMb: 1024, youngMb: 32 };

export interface RecorderHostOptions {
  url: URL;
  /** Handed to the thread as it is. `runId` is the same for a thread that replaces a dead one. */
  workerData: { dataDir: string; mediaId: string; runId: string; logLevel: string };
  clock: Clock;
  log: Logger;
  /**
   * Also for a stream that was never opened here: an earlier run of this process had recorded
   * it, and the thread finished it.
   */
  finished(stream: RecordedStream, recording: RecordingFacts | null, error: string | null): void;
  /** The thread found a recording that an earlier run left; `key` answers. */
  keyWanted?(stream: RecordedStream): void;
}

/** One stream of a call: each has a recording of its own. */
export interface RecordedStream {
  callUuid: string;
  epoch: number;
}

export interface RecorderHost {
  ready: Promise<void>;
  readonly openRecordings: number;
  /** Threads that died, since the start. */
  readonly deaths: number;
  open(
    stream: RecordedStream & { recordingKeyHex?: string },
    format: LegFormat,
    ring: SharedArrayBuffer,
    directions?: RecordedDirections,
  ): void;
  /** What control says of a left-over recording. */
  key(stream: RecordedStream, disposition: RecordingDisposition): void;
  /** `finished` follows, once. Nothing happens when it was not opened. */
  close(stream: RecordedStream, durationMs: number): void;
  /** Ends the thread; recordings that are still open are given up without a word. */
  stop(): Promise<void>;
}

interface Recording {
  opened: Extract<ToRecorder, { type: 'open' }>;
  closing: Extract<ToRecorder, { type: 'close' }> | null;
  deaths: number;
}

export function createRecorderHost(options: RecorderHostOptions): RecorderHost {
  /** By call and epoch. */
  const recordings = new Map<string, Recording>();
  let worker: WatchedWorker;
  let stopped = false;
  let deaths = 0;
  let isReady = false;
  const restarts = createBackoff(RESTART_PAUSES);
  let startedAtMs = 0;
  let settle: { resolve(): void; reject(error: Error): void } | null = null;
  const ready = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  ready.catch(() => {});

  const finish = (stream: RecordedStream, recording: RecordingFacts | null, error: string | null): void => {
    recordings.delete(keyOf(stream));
    options.finished(stream, recording, error);
  };
  const start = (): void => {
    startedAtMs = options.clock.nowMs();
    worker = startWatchedWorker({
      url: options.url,
      name: 'recorder',
      workerData: options.workerData,
      memory: MEMORY,
      message: (raw) => {
        const message = raw as FromRecorder;
        if (message.type === 'ready') {
          isReady = true;
          settle?.resolve();
        } else if (message.type === 'finished') finish(message, message.recording, message.error);
        else options.keyWanted?.({ callUuid: message.callUuid, epoch: message.epoch });
      },
      died: (why, wasClosed) => {
        if (wasClosed || stopped) return;
        deaths++;
        options.log.error({ thread: 'recorder', why, openRecordings: recordings.size }, 'the recorder thread died');
        if (!isReady) {
          settle?.reject(new Error(`the recorder thread died before it was ready: ${why}`));
          return;
        }
        if (options.clock.nowMs() - startedAtMs > STEADY_AFTER_MS) restarts.reset();
        options.clock.after(restarts.nextMs(), () => {
          if (!stopped) restart();
        });
      },
    });
  };
  const restart = (): void => {
    start();
    for (const recording of [...recordings.values()]) {
      if (recording.closing !== null && ++recording.deaths > MOST_DEATHS_A_RECORDING) {
        finish(recording.opened, null, 'the recorder thread died while it wrote this recording');
        continue;
      }
      worker.post(recording.opened);
      if (recording.closing !== null) worker.post(recording.closing);
    }
  };
  start();

  return {
    ready,
    get deaths() {
      return deaths;
    },
    get openRecordings() {
      return recordings.size;
    },
    open(stream, format, ring, directions) {
      const { callUuid, epoch } = stream;
      const opened = {
        type: 'open',
        callUuid,
        epoch,
        format,
        ring,
        keyHex: stream.recordingKeyHex ?? '',
        ...(directions === undefined ? {} : { directions }),
      } as const;
      recordings.set(keyOf(stream), { opened, closing: null, deaths: 0 });
      worker.post(opened);
    },
    close(stream, durationMs) {
      const { callUuid, epoch } = stream;
      const recording = recordings.get(keyOf(stream));
      if (recording === undefined || recording.closing !== null) return;
      recording.closing = { type: 'close', callUuid, epoch, durationMs };
      worker.post(recording.closing);
    },
    key({ callUuid, epoch }, disposition) {
      if (!stopped) worker.post({ type: 'key', callUuid, epoch, disposition } satisfies ToRecorder);
    },
    async stop() {
      if (stopped) return;
      stopped = true;
      await worker.close();
    },
  };
}

function keyOf({ callUuid, epoch }: RecordedStream): string {
  return `${callUuid} ${epoch}`;
}
