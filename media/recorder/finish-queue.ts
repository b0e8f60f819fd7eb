/**
 * Finishes recordings one after another, in slices of 10 ms between which timers and messages run: rings are drained on
 * time however many calls end at once. Made and stopped by the recorder. What fails is logged, reported, and left on
 * disk for a later run.
 */
import type { Logger } from 'pino';
import type { OpusCodec } from '../audio/opus-codec.ts';
import type { Clock } from '../contract/clock.ts';
import type { FromRecorder } from '../contract/thread-messages.ts';
import type { WriteAt } from '../files/encrypted-file-writer.ts';
import { type FinishOrder, factsOfFinished, finishRecording, NothingReadable } from './finish-recording.ts';
import { setAside } from './segment-files.ts';

/** A file that is finished already, whose facts are reported once more. */
export interface ToldAgain {
  callUuid: string;
  epoch: number;
  folder: string;
  dataKey: Uint8Array;
  earlierFile: string;
}

export interface FinishQueueDeps {
  clock: Clock;
  log: Logger;
  codec: OpusCodec;
  write: WriteAt;
  report: (message: FromRecorder) => void;
  /** Resolves after timers and messages that are due have run. */
  letOthersRun: () => Promise<void>;
}

export interface FinishQueue {
  add(order: FinishOrder | ToldAgain): void;
  /** Whether the folder waits or is being worked on. */
  holds(folder: string): boolean;
  /** Resolves when the queue is empty. */
  idle(): Promise<void>;
  /** Begins no further order. */
  stop(): void;
}

const SLICE_MS = 10;

export function createFinishQueue(deps: FinishQueueDeps): FinishQueue {
  const { clock, log } = deps;
  const queue: (FinishOrder | ToldAgain)[] = [];
  let working: Promise<void> | null = null;
  let isStopped = false;
  let sliceStartedAtMs = 0;

  async function work(): Promise<void> {
    await pause();
    for (let order = queue[0]; order !== undefined && !isStopped; order = queue[0]) {
      await finish(order);
      queue.shift();
    }
    // In the same turn as the last look at the queue, so that nothing is queued in between and forgotten.
    working = null;
  }

  async function finish(order: FinishOrder | ToldAgain): Promise<void> {
    const { callUuid, epoch } = order;
    try {
      const recording =
        'earlierFile' in order
          ? await factsOfFinished(order.earlierFile, order.dataKey, pause)
          : await finishRecording(order, { codec: deps.codec, write: deps.write, pause });
      deps.report({ type: 'finished', callUuid, epoch, recording, error: null });
    } catch (error) {
      const keptAt = error instanceof NothingReadable ? trySetAside(order.folder) : order.folder;
      log.error({ err: error, callUuid, keptAt }, 'recording could not be finished');
      const message = error instanceof Error ? error.message : String(error);
      deps.report({ type: 'finished', callUuid, epoch, recording: null, error: message });
    }
  }

  async function pause(): Promise<void> {
    if (clock.nowMs() - sliceStartedAtMs < SLICE_MS) return;
    await deps.letOthersRun();
    sliceStartedAtMs = clock.nowMs();
  }

  return {
    add(order) {
      queue.push(order);
      working ??= work();
    },
    holds: (folder) => queue.some((order) => order.folder === folder),
    idle: async () => working ?? undefined,
    stop() {
      isStopped = true;
    },
  };
}

function trySetAside(folder: string): string | null {
  try {
    return setAside(folder);
  } catch {
    return folder;
  }
}
