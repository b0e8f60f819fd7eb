/**
 * Has files of leads read by a thread that has a budget of time and memory, so that no file, whoever made it, stands in
 * anybody's way: not when it comes, and not when its rows are stored. Two files at a time are looked through, one of a
 * workspace; the others wait for a while. Made by control; nothing of it outlives a reading.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../media/contract/clock.ts';
import { createFairQueue } from '../limits/fair-queue.ts';
import { ImportRefused } from './import-reader.ts';
import {
  groupsOf,
  type ImportFile,
  type ImportSummary,
  type LeadRow,
  type RowsOrder,
  summaryOf,
} from './import-rows.ts';

export interface ImportReading {
  /** Rejects with `ImportRefused` for a file that cannot be imported, and with `ImportsBusy`. */
  summary(workspaceId: string, file: ImportFile): Promise<ImportSummary>;
  /** The rows after `order.afterRow`, in groups; the next group is read when it is asked for. */
  groups(order: RowsOrder): AsyncIterable<LeadRow[]>;
}

/** Too many files are being looked through, or wait for it. */
export class ImportsBusy extends Error {}

/** As the thread takes it. */
export type ImportOrder = { kind: 'summary'; file: ImportFile } | { kind: 'rows'; rows: RowsOrder };

export type ImportAnswer =
  | { summary: ImportSummary }
  /** Null: that was all. */
  | { rows: LeadRow[] | null }
  | { refused: Pick<ImportRefused, 'code' | 'message'> };

interface Budget {
  /** For each answer. */
  answerMs: number;
  heapMb: number;
}

const AT_ONCE = 2;
const MOST_WAITING = 10;
const LONGEST_WAIT_MS = 10_000;
/**
 * Many times what the largest file needs, whose text has 20 MB at most: only something that we
 * did not think of comes so far.
 */
const BUDGET: Budget = { answerMs: 30_000, heapMb: 256 };
const YOUNG_HEAP_MB = 32;
const TOO_COSTLY = 'The file takes too much time or memory to read; cut it into smaller ones';

/** For a process that keeps nobody waiting but the one who started it: the command line, and tests. */
export const READING_HERE: ImportReading = {
  summary: async (_workspaceId, file) => summaryOf(file),
  async *groups(order) {
    yield* groupsOf(order);
  },
};

/** `entry` is the built thread. `budget`: for tests. */
export function createImportReading(deps: {
  clock: Pick<Clock, 'after'>;
  entry(): string;
  budget?: Budget;
}): ImportReading {
  const start = (order: ImportOrder): Thread => startThread(deps.entry(), order, deps.budget ?? BUDGET);
  const turns = createFairQueue({
    clock: deps.clock,
    slots: AT_ONCE,
    slotsPerKey: 1,
    mostWaiting: MOST_WAITING,
    longestWaitMs: LONGEST_WAIT_MS,
  });

  return {
    async summary(workspaceId, file) {
      const release = await turns.enter(workspaceId, 'api');
      if (release === null) throw new ImportsBusy('too many files are being imported');
      const thread = start({ kind: 'summary', file });
      try {
        const answer = await thread.ask();
        if ('summary' in answer) return answer.summary;
        throw new Error('the thread that reads an import answered something else');
      } finally {
        await thread.end();
        release();
      }
    },
    async *groups(rows) {
      const thread = start({ kind: 'rows', rows });
      try {
        for (;;) {
          const answer = await thread.ask();
          if (!('rows' in answer) || answer.rows === null) return;
          yield answer.rows;
        }
      } finally {
        await thread.end();
      }
    },
  };
}

interface Thread {
  ask(): Promise<ImportAnswer>;
  end(): Promise<void>;
}

function startThread(entry: string, order: ImportOrder, budget: Budget): Thread {
  const resourceLimits = { maxOldGenerationSizeMb: budget.heapMb, maxYoungGenerationSizeMb: YOUNG_HEAP_MB };
  const worker = new Worker(entry, { workerData: order, resourceLimits });
  // Whoever waits for an answer is told by its own listener.
  worker.on('error', () => {});
  return {
    async ask() {
      const tooLong = new AbortController();
      const timer = setTimeout(() => tooLong.abort(), budget.answerMs);
      try {
        worker.postMessage('next');
        const [answer] = (await once(worker, 'message', { signal: tooLong.signal })) as [ImportAnswer];
        if (!('refused' in answer)) return answer;
        throw new ImportRefused(answer.refused.code, answer.refused.message);
      } catch (error) {
        const isOutOfMemory = (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY';
        if (!isOutOfMemory && !tooLong.signal.aborted) throw error;
        throw new ImportRefused('import_too_costly', TOO_COSTLY);
      } finally {
        clearTimeout(timer);
      }
    },
    end: async () => void (await worker.terminate()),
  };
}
