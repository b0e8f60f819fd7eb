/**
 * One pipeline thread as the I/O thread sees it: its bell, its calls, its heartbeat. A thread that throws, exits, runs
 * out of memory or stops beating is dead; `pipeline-pool.ts` then moves its calls. There is no uWebSockets.js in such a
 * thread, so ending it costs no socket.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { Clock } from '../../contract/clock.ts';
import type { FromPipeline, ToPipeline } from '../../contract/thread-messages.ts';
import { Bell } from '../../rings/bell.ts';
import { FeedBoard } from '../../rings/feed-board.ts';
import { Suspect } from '../../rings/suspect.ts';
import type { WorkLoad } from '../call-room.ts';
import { ThreadWatch } from './thread-watch.ts';
import { startWatchedWorker, type WatchedWorker } from './watched-worker.ts';

/** Many survivors in the young generation would otherwise be promoted by each burst (media-performance.md §5). */
const MEMORY = { oldMb: 1024, youngMb: 32 };

export interface PipelineThreadOptions {
  url: URL;
  threadIndex: number;
  workerData: { dataDir: string; ioBell: SharedArrayBuffer; mediaId: string; logLevel: string };
  clock: Clock;
  log: Logger;
  ready(host: PipelineThreadHost): void;
  message(host: PipelineThreadHost, message: FromPipeline): void;
  /** `isReady` false: it never started. */
  died(host: PipelineThreadHost, why: string): void;
}

export class PipelineThreadHost {
  readonly threadIndex: number;
  /** Calls that were placed here and are not closed. */
  readonly calls = new Set<string>();
  isReady = false;
  /** For whom it works, or worked when it died. */
  readonly suspect = new Suspect();
  /** Seats of its calls: by their marks it knows which were fed. */
  readonly board = new FeedBoard();
  /** By its last heartbeat. */
  readonly load: WorkLoad = { busyRatio: 0, lateMs: 0 };
  /** A call was fed that its bell has not been rung for. */
  #isFed = false;
  readonly #options: PipelineThreadOptions;
  readonly #bell = new Bell();
  readonly #worker: WatchedWorker;
  readonly #watch: ThreadWatch;

  constructor(options: PipelineThreadOptions) {
    this.#options = options;
    this.threadIndex = options.threadIndex;
    this.#worker = startWatchedWorker({
      url: options.url,
      name: `pipeline-${options.threadIndex}`,
      workerData: {
        ...options.workerData,
        threadIndex: options.threadIndex,
        pipelineBell: this.#bell.memory,
        suspect: this.suspect.memory,
        board: this.board.memory,
      },
      memory: MEMORY,
      message: (message) => this.#onMessage(message as FromPipeline),
      died: (why, wasClosed) => {
        this.#watch.stop();
        if (!wasClosed) options.died(this, why);
      },
    });
    this.#watch = new ThreadWatch(options.clock, (why) => this.#worker.kill(why));
  }

  get isAlive(): boolean {
    return this.#worker.isAlive;
  }

  /** When the thread last showed that it lives: what came to it since is lost if it is dead. */
  get livedAtMs(): number {
    return this.#watch.livedAtMs;
  }

  post(message: ToPipeline<MessagePort>, transfer: readonly MessagePort[] = []): void {
    this.#worker.post(message, transfer);
  }

  /** Frames were written for the call that has this seat. */
  fed(seat: number): void {
    if (this.board.feed(seat)) this.#isFed = true;
  }

  /** Once for all calls of a tick. */
  ringIfFed(): void {
    if (!this.#isFed) return;
    this.#isFed = false;
    this.#bell.ring();
  }

  kill(why: string): void {
    this.#worker.kill(why);
  }

  async close(): Promise<void> {
    this.#watch.stop();
    await this.#worker.close();
  }

  #onMessage(message: FromPipeline): void {
    this.#watch.beat();
    if (message.type === 'heartbeat') {
      this.load.busyRatio = message.busyRatio ?? 0;
      this.load.lateMs = message.lateMs ?? 0;
      return;
    }
    if (message.type === 'ready') {
      if (this.isReady) return;
      this.isReady = true;
      this.#watch.ready(message.osThreadId ?? null);
      this.#options.ready(this);
      return;
    }
    this.#options.message(this, message);
  }
}
