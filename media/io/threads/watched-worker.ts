/**
 * One worker thread with one end: however it dies (error, out of memory, exit, terminated by us), `died` is called
 * once, with why. The pools and hosts of this folder build on it; it restarts nothing itself.
 */
import { type MessagePort, type Transferable, Worker } from 'node:worker_threads';

export interface WatchedWorkerOptions {
  url: URL;
  name: string;
  workerData: unknown;
  /** A thread that is not ready by then is terminated. Counted by the caller's clock. */
  memory: { oldMb: number; youngMb: number };
  message(message: { type: string }): void;
  /** `closed` true: we asked for it. */
  died(why: string, closed: boolean): void;
}

export interface WatchedWorker {
  readonly isAlive: boolean;
  post(message: unknown, transfer?: readonly (MessagePort | Transferable)[]): void;
  /** Terminates the thread as dead, for the reason given: `died` will say it. */
  kill(why: string): void;
  /** Terminates the thread. Idempotent; resolves when it is gone. */
  close(): Promise<void>;
}

export function startWatchedWorker(options: WatchedWorkerOptions): WatchedWorker {
  const worker = new Worker(options.url, {
    name: options.name,
    workerData: options.workerData,
    resourceLimits: { maxOldGenerationSizeMb: options.memory.oldMb, maxYoungGenerationSizeMb: options.memory.youngMb },
  });
  let why = '';
  let isAlive = true;
  let isClosed = false;
  const gone = new Promise<void>((resolve) => {
    worker.once('exit', (code) => {
      isAlive = false;
      options.died(why === '' ? `exit code ${code}` : why, isClosed);
      resolve();
    });
  });
  worker.on('message', options.message);
  worker.on('messageerror', (error) => {
    why = `a message that cannot be read: ${error.message}`;
    void worker.terminate();
  });
  worker.on('error', (error) => {
    why = `${(error as NodeJS.ErrnoException).code ?? error.name}: ${error.message}`;
  });

  return {
    get isAlive() {
      return isAlive;
    },
    post(message, transfer = []) {
      if (isAlive) worker.postMessage(message, transfer as Transferable[]);
    },
    kill(reason) {
      if (!isAlive) return;
      why = reason;
      void worker.terminate();
    },
    async close() {
      isClosed = true;
      if (isAlive) void worker.terminate();
      await gone;
    },
  };
}
