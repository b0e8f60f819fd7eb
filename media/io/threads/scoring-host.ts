/**
 * The thread that scores voice activity for this process's pipeline threads, as the I/O thread sees it: started when
 * the first of them asks, told which memories to look at, and never terminated: it is asked to stop and ends by itself
 * (its native code would abort the process). When it ends for another reason, whoever asked is told why, once; it is
 * not started again, because the native module cannot be loaded twice. `media/main.ts` makes one; `pipeline-pool.ts`
 * hands on what pipeline threads ask for.
 */
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';

const STOP_LIMIT_MS = 1000;
const MEMORY_MB = 256;

export interface ScoringHost {
  /**
   * `shape` and `memory` are the pipeline thread's and the scoring thread's business. `failed`:
   * at most once, at once or later.
   */
  attach(threadIndex: number, shape: unknown, memory: SharedArrayBuffer, failed: (why: string) => void): void;
  /** The pipeline thread is gone. Nothing happens when it never asked. */
  detach(threadIndex: number): void;
  /** Resolves when the thread has ended, or does not within a second. Idempotent. */
  close(): Promise<void>;
}

export function createScoringHost(options: { url: URL; log: Logger }): ScoringHost {
  const waiting = new Map<number, (why: string) => void>();
  let worker: Worker | null = null;
  let failedBecause = '';
  let isClosed = false;

  function start(): Worker {
    const started = new Worker(options.url, {
      name: 'voice-activity',
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    let why = '';
    started.on('error', (error) => {
      why = error.message;
    });
    started.on('exit', (code) => {
      if (isClosed) return;
      failedBecause = why === '' ? `the scoring thread ended with code ${code}` : why;
      options.log.error({ why: failedBecause }, 'no neural voice activity: calls have the gate alone');
      for (const tell of waiting.values()) tell(failedBecause);
      waiting.clear();
    });
    return started;
  }

  return {
    attach(threadIndex, shape, memory, failed) {
      if (failedBecause !== '') {
        failed(failedBecause);
        return;
      }
      worker ??= start();
      waiting.set(threadIndex, failed);
      worker.postMessage({ type: 'attach', index: threadIndex, shape, memory });
    },
    detach(threadIndex) {
      if (waiting.delete(threadIndex)) worker?.postMessage({ type: 'detach', index: threadIndex });
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      if (worker === null || failedBecause !== '') return;
      const ended = new Promise<void>((resolve) => worker?.once('exit', () => resolve()));
      worker.postMessage({ type: 'stop' });
      await Promise.race([ended, new Promise<void>((resolve) => setTimeout(resolve, STOP_LIMIT_MS).unref())]);
    },
  };
}
