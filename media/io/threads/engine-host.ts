/**
 * The threads of one kind of local engine (voice or recogniser): starts them, hands out a port to one for each pipeline
 * thread, and starts a dead one again, with new ports for whoever had one. `media/main.ts` makes two.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Logger } from 'pino';
import { createBackoff } from '../../contract/backoff.ts';
import type { Clock } from '../../contract/clock.ts';
import type { WorkLoad } from '../call-room.ts';
import { startWatchedWorker, type WatchedWorker } from './watched-worker.ts';

const RESTART_PAUSES = { firstMs: 100, longestMs: 5_000 };
/** A thread reports each 250 ms. */
const LOAD_OVERDUE_MS = 600;
const MEMORY = { oldMb: 1024, youngMb: 32 };

export interface EngineHostOptions {
  kind: string;
  url: URL;
  threads: number;
  clock: Clock;
  log: Logger;
}

export interface EngineHost {
  /** Resolves when every thread is warm; rejects when one dies before. */
  ready: Promise<void>;
  /**
   * A new port to the thread that serves pipeline thread `index`; null when this host has no
   * threads. Ask again after `replaced`.
   */
  portFor(index: number): MessagePort | null;
  /** Called when a dead thread was replaced: the ports that were made for it lead nowhere. */
  replaced: (() => void) | null;
  /** Threads that died, since the start. */
  deaths: number;
  /**
   * Of the busiest of its threads, and of the one that is furthest behind. A thread that says nothing is busy and
   * behind by that; so is one that died, until its successor speaks. One that has not reported yet is busy, and behind
   * from when it was warm.
   */
  load(): WorkLoad;
  close(): Promise<void>;
}

export function createEngineHost(options: EngineHostOptions): EngineHost {
  const workers: WatchedWorker[] = [];
  let closed = false;
  const restarts = createBackoff(RESTART_PAUSES);
  const waits: Promise<void>[] = [];
  const unheard = (): WorkLoad & { atMs: number } => ({ busyRatio: 1, lateMs: 0, atMs: options.clock.nowMs() });
  const loads = Array.from({ length: options.threads }, unheard);
  const host: EngineHost = {
    ready: Promise.resolve(),
    replaced: null,
    deaths: 0,
    portFor(index) {
      const worker = workers[index % options.threads];
      if (worker === undefined) return null;
      const { port1, port2 } = new MessageChannel();
      worker.post({ type: 'client', port: port1 }, [port1]);
      return port2;
    },
    load() {
      const load = { busyRatio: 0, lateMs: 0 };
      for (const { busyRatio, lateMs, atMs } of loads) {
        const silentMs = options.clock.nowMs() - atMs;
        load.busyRatio = Math.max(load.busyRatio, silentMs > LOAD_OVERDUE_MS ? 1 : busyRatio);
        load.lateMs = Math.max(load.lateMs, lateMs, silentMs - LOAD_OVERDUE_MS);
      }
      return load;
    },
    async close() {
      if (closed) return;
      closed = true;
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };

  const start = (at: number, settle: { resolve(): void; reject(error: Error): void } | null): void => {
    let isReady = false;
    workers[at] = startWatchedWorker({
      url: options.url,
      name: `${options.kind}-${at}`,
      workerData: {},
      memory: MEMORY,
      message: (message) => {
        if (message.type === 'load') loads[at] = { ...(message as unknown as WorkLoad), atMs: options.clock.nowMs() };
        if (message.type !== 'ready' || isReady) return;
        isReady = true;
        restarts.reset();
        loads[at] = unheard();
        settle?.resolve();
      },
      died: (why, wasClosed) => {
        if (wasClosed || closed) return;
        host.deaths++;
        loads[at] = unheard();
        options.log.error({ thread: `${options.kind}-${at}`, why }, 'an engine thread died');
        if (!isReady && settle !== null) {
          settle.reject(new Error(`the ${options.kind} thread died before it was ready: ${why}`));
          return;
        }
        options.clock.after(restarts.nextMs(), () => {
          if (closed) return;
          start(at, null);
          host.replaced?.();
        });
      },
    });
  };
  for (let at = 0; at < options.threads; at++) {
    waits.push(new Promise((resolve, reject) => start(at, { resolve, reject })));
  }
  host.ready = Promise.all(waits).then(() => undefined);
  // Whoever starts the process awaits it; a rejection before that must not be one that nobody handles.
  host.ready.catch(() => {});
  return host;
}
