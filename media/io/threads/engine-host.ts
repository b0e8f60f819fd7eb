/**
 * The threads of one kind of engine (the local voice, the local recogniser, providers): starts them, hands out a port to
 * one for each pipeline thread, and starts a dead one again, with new ports for whoever had one. `media/main.ts` makes
 * one for each kind. Threads that beat are watched: a silent one is dead. Threads that are started late wait for
 * `wake`.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { Clock } from '../../contract/clock.ts';
import type { WorkLoad } from '../call-room.ts';
import { ThreadWatch } from './thread-watch.ts';
import { startWatchedWorker, type WatchedWorker } from './watched-worker.ts';

const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 5000;
/** A thread reports each 250 ms, or sooner. */
const LOAD_OVERDUE_MS = 600;
const MEMORY = { oldMb: 1024, youngMb: 32 };

export interface EngineHostOptions {
  kind: string;
  url: URL;
  threads: number;
  clock: Clock;
  log: Logger;
  /** Handed to each thread. */
  workerData?: object;
  /** Its threads report each 100 ms: one that does not is ended, and another started in its place. */
  beats?: boolean;
  /** No thread is started before `wake`. */
  isLate?: boolean;
  /** Told to each new thread before anything else. */
  greeting?(): readonly object[];
  /** What a thread says beside `ready` and `load`. */
  heard?(message: { type: string }): void;
}

export interface EngineHost {
  /** Resolves when every thread is warm, or waits to be woken; rejects when one dies before. */
  ready: Promise<void>;
  /** A new port to the thread that serves pipeline thread `index`; null when this host has no threads. Ask again after `replaced`. */
  portFor(index: number): MessagePort | null;
  /** Called when a dead thread was replaced: the ports that were made for it lead nowhere. */
  replaced: (() => void) | null;
  /** Threads that died, since the start. */
  deaths: number;
  /** Starts threads that were to be started late. Nothing happens when they were. */
  wake(): void;
  /** To each of its threads that lives. */
  tell(message: object): void;
  /**
   * Of the busiest of its threads, and of the one that is furthest behind. A thread that says nothing is busy and behind by that; so
   * is one that died, until its successor speaks. One that has not reported yet is busy, and behind from when it was warm.
   */
  load(): WorkLoad;
  close(): Promise<void>;
}

export function createEngineHost(options: EngineHostOptions): EngineHost {
  return new Host(options);
}

interface Settle {
  resolve(): void;
  reject(error: Error): void;
}

class Host implements EngineHost {
  ready: Promise<void> = Promise.resolve();
  replaced: (() => void) | null = null;
  deaths = 0;
  readonly #options: EngineHostOptions;
  readonly #workers: WatchedWorker[] = [];
  readonly #loads: (WorkLoad & { atMs: number })[];
  /** Of threads that wait to be woken. */
  readonly #portsKept: { at: number; port: MessagePort }[] = [];
  #restartMs = FIRST_RESTART_MS;
  #isAwake = false;
  #isClosed = false;

  constructor(options: EngineHostOptions) {
    this.#options = options;
    this.#loads = Array.from({ length: options.threads }, () => this.#unheard());
    if (options.isLate !== true) this.#startAll();
  }

  wake(): void {
    if (this.#isAwake || this.#isClosed) return;
    this.#startAll();
    for (const { at, port } of this.#portsKept.splice(0)) this.#workers[at]?.post({ type: 'client', port }, [port]);
  }

  tell(message: object): void {
    for (const worker of this.#workers) worker.post(message);
  }

  portFor(index: number): MessagePort | null {
    if (this.#options.threads === 0) return null;
    const at = index % this.#options.threads;
    const { port1, port2 } = new MessageChannel();
    const worker = this.#workers[at];
    if (worker === undefined) this.#portsKept.push({ at, port: port1 });
    else worker.post({ type: 'client', port: port1 }, [port1]);
    return port2;
  }

  load(): WorkLoad {
    const load = { busyRatio: 0, lateMs: 0 };
    if (!this.#isAwake) return load;
    for (const { busyRatio, lateMs, atMs } of this.#loads) {
      const silentMs = this.#options.clock.nowMs() - atMs;
      load.busyRatio = Math.max(load.busyRatio, silentMs > LOAD_OVERDUE_MS ? 1 : busyRatio);
      load.lateMs = Math.max(load.lateMs, lateMs, silentMs - LOAD_OVERDUE_MS);
    }
    return load;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { port } of this.#portsKept) port.close();
    await Promise.all(this.#workers.map((worker) => worker.close()));
  }

  #startAll(): void {
    this.#isAwake = true;
    const waits: Promise<void>[] = [];
    for (let at = 0; at < this.#options.threads; at++) {
      this.#loads[at] = this.#unheard();
      waits.push(new Promise((resolve, reject) => this.#start(at, { resolve, reject })));
    }
    const ready = Promise.all(waits).then(() => undefined);
    // Whoever starts the process awaits it; a rejection before that must not be one that nobody handles.
    ready.catch(() => {});
    if (this.#options.isLate !== true) this.ready = ready;
  }

  #start(at: number, settle: Settle | null): void {
    const { kind, url, workerData = {}, clock, beats, greeting, heard } = this.#options;
    let isReady = false;
    const worker = startWatchedWorker({
      url,
      name: `${kind}-${at}`,
      workerData: { ...workerData, threadIndex: at },
      memory: MEMORY,
      message: (message) => {
        watch?.beat();
        if (message.type === 'load') this.#loads[at] = { ...(message as unknown as WorkLoad), atMs: clock.nowMs() };
        else if (message.type !== 'ready') heard?.(message);
        else if (!isReady) {
          isReady = true;
          watch?.ready((message as { osThreadId?: number | null }).osThreadId ?? null);
          this.#restartMs = FIRST_RESTART_MS;
          this.#loads[at] = this.#unheard();
          settle?.resolve();
        }
      },
      died: (why, wasClosed) => {
        watch?.stop();
        if (!wasClosed) this.#died(at, why, isReady ? null : settle);
      },
    });
    const watch = beats === true ? new ThreadWatch(clock, (why) => worker.kill(why)) : null;
    this.#workers[at] = worker;
    for (const message of greeting?.() ?? []) worker.post(message);
  }

  /** `settle`: whoever waits for its first word. */
  #died(at: number, why: string, settle: Settle | null): void {
    if (this.#isClosed) return;
    const { kind, clock, log, isLate } = this.#options;
    this.deaths++;
    this.#loads[at] = this.#unheard();
    log.error({ thread: `${kind}-${at}`, why }, 'an engine thread died');
    if (settle !== null && isLate !== true) {
      settle.reject(new Error(`the ${kind} thread died before it was ready: ${why}`));
      return;
    }
    clock.after(this.#restartMs, () => {
      if (this.#isClosed) return;
      this.#start(at, null);
      this.replaced?.();
    });
    this.#restartMs = Math.min(this.#restartMs * 2, LONGEST_RESTART_MS);
  }

  #unheard(): WorkLoad & { atMs: number } {
    return { busyRatio: 1, lateMs: 0, atMs: this.#options.clock.nowMs() };
  }
}
