/**
 * The pipeline threads of a media process: W that carry calls and one warm spare. A call goes to the thread with the
 * fewest. When a thread dies, its calls move to the spare, each from its last checkpoint and on a new block (the socket
 * stays, the caller hears a gap), and a new spare is started. Without a spare they wait for a new thread rather than
 * join calls that are well: one of them may be the cause. A call in whose work three threads in a row died is ended,
 * and so is one that was moved eight times, whoever's work it was: each of them within a minute of the one before.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Logger } from 'pino';
import { createBackoff } from '../../contract/backoff.ts';
import type { Clock } from '../../contract/clock.ts';
import type { EnginePorts } from '../../contract/engine-kinds.ts';
import type { CallSetup } from '../../contract/link-messages.ts';
import type { FromPipeline, ToPipeline } from '../../contract/thread-messages.ts';
import type { WorkLoad } from '../call-room.ts';
import { PipelineThreadHost } from './pipeline-thread-host.ts';
import { type PlacedCall, type PlacedCallListener, PooledCall } from './pooled-call.ts';
import type { ScoringHost } from './scoring-host.ts';

/** A thread that dies three times in the work for one call: it is the call. */
const MOST_DEATHS_IN_ITS_WORK = 3;
/** Whoever is only beside them when threads die is moved longer; somewhen there has to be an end of it. */
const MOST_MOVES_A_CALL = 8;
/** A call that lived so long on its new thread starts counting anew. */
const MOVES_FORGOTTEN_MS = 60_000;
const RESTART_PAUSES = { firstMs: 100, longestMs: 5_000 };
/** Threads that come up and die again and again before all are there are no start. */
const MOST_DEATHS_AT_START = 3;
/** With so many streams some frame comes in every tick: threads are then woken every 8 ms, at half the cost. */
const BUSY_STREAMS = 64;
/** No thread at all is ready for so long: calls that wait for one are given up. */
const NO_THREAD_LIMIT_MS = 10_000;

export interface PipelinePoolOptions {
  url: URL;
  /** Threads that carry calls, beside the spare. */
  threads: number;
  workerData: { dataDir: string; ioBell: SharedArrayBuffer; mediaId: string; logLevel: string };
  /** Scores voices for the pipeline threads; absent in tests that have none. */
  scoring?: Pick<ScoringHost, 'attach' | 'detach'>;
  /** New ports for one pipeline thread to the engine threads that there are. */
  enginePorts(threadIndex: number): EnginePorts<MessagePort>;
  clock: Clock;
  log: Logger;
}

/** Without credentials: names of what is granted stand in their place. */
export type PrepareMessage = Extract<ToPipeline, { type: 'prepare' }>;

export interface PipelinePool {
  /** Resolves when all threads and the spare are ready; rejects when one dies before. */
  ready: Promise<void>;
  readonly calls: number;
  /** Threads that died, since the start. */
  readonly deaths: number;
  /** Of the busiest of its threads, and of the one that is furthest behind. */
  load(): WorkLoad;
  place(setup: CallSetup, block: SharedArrayBuffer, listener: PlacedCallListener): PlacedCall;
  prepare(message: PrepareMessage): void;
  /** The frame clock, after a tick of so many streams: rings the bell of each thread that was fed. */
  readonly ticked: (nowMs: number, streams: number) => void;
  /** An engine thread was replaced: hand out new ports. */
  renewEnginePorts(): void;
  close(): Promise<void>;
}

export function createPipelinePool(options: PipelinePoolOptions): PipelinePool {
  return new Pool(options);
}

class Pool implements PipelinePool {
  readonly ready: Promise<void>;
  readonly #options: PipelinePoolOptions;
  readonly #calls = new Map<string, PooledCall>();
  /** Carry calls. */
  #carriers: PipelineThreadHost[] = [];
  #spare: PipelineThreadHost | null = null;
  #starting = new Set<PipelineThreadHost>();
  #waiting: { call: PooledCall; block: SharedArrayBuffer }[] = [];
  deaths = 0;
  #nextIndex = 0;
  #nextToPrepare = 0;
  #isOddTick = false;
  readonly #restarts = createBackoff(RESTART_PAUSES);
  #hasStarted = false;
  #closed = false;
  #settleReady: { resolve(): void; reject(error: Error): void } | null = null;

  constructor(options: PipelinePoolOptions) {
    this.#options = options;
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject };
    });
    this.ready.catch(() => {});
    for (let i = 0; i < options.threads + 1; i++) this.#startThread();
  }

  get calls(): number {
    return this.#calls.size;
  }

  load(): WorkLoad {
    const load = { busyRatio: 0, lateMs: 0 };
    for (const { load: one } of this.#carriers) {
      load.busyRatio = Math.max(load.busyRatio, one.busyRatio);
      load.lateMs = Math.max(load.lateMs, one.lateMs);
    }
    return load;
  }

  place(setup: CallSetup, block: SharedArrayBuffer, listener: PlacedCallListener): PlacedCall {
    const call = new PooledCall(this, setup, listener);
    this.#calls.set(setup.callUuid, call);
    this.#assign(call, block);
    return call;
  }

  prepare(message: PrepareMessage): void {
    // In turn, and never on the busiest thread's account: rendering is done by the engine threads.
    const host = this.#carriers[this.#nextToPrepare++ % Math.max(1, this.#carriers.length)];
    host?.post(message);
  }

  readonly ticked = (_nowMs: number, streams: number): void => {
    this.#isOddTick = !this.#isOddTick;
    if (!this.#isOddTick && streams >= BUSY_STREAMS) return;
    for (let i = 0; i < this.#carriers.length; i++) this.#carriers[i]!.ringIfFed();
  };

  renewEnginePorts(): void {
    for (const host of [...this.#carriers, ...this.#starting]) this.#handEngines(host);
    if (this.#spare !== null) this.#handEngines(this.#spare);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const all = [...this.#carriers, ...this.#starting];
    if (this.#spare !== null) all.push(this.#spare);
    await Promise.all(all.map((host) => host.close()));
  }

  /** The call is over for us, and its listener hears so. */
  settle(call: PooledCall, lost: boolean): void {
    const { callUuid } = call.setup;
    if (this.#calls.get(callUuid) !== call) return;
    this.#calls.delete(callUuid);
    call.host?.calls.delete(callUuid);
    call.host?.board.leaveSeat(call.seat);
    call.host = null;
    this.#waiting = this.#waiting.filter((one) => one.call !== call);
    call.listener.closed(lost);
  }

  #assign(call: PooledCall, block: SharedArrayBuffer): void {
    let best: PipelineThreadHost | null = null;
    for (const host of this.#carriers) if (best === null || host.calls.size < best.calls.size) best = host;
    if (best === null) this.#queue(call, block);
    else this.#giveTo(best, call, block);
  }

  #queue(call: PooledCall, block: SharedArrayBuffer): void {
    this.#waiting.push({ call, block });
    this.#options.clock.after(NO_THREAD_LIMIT_MS, () => {
      if (this.#waiting.some((one) => one.block === block)) this.settle(call, true);
    });
  }

  #giveTo(host: PipelineThreadHost, call: PooledCall, block: SharedArrayBuffer): void {
    const { callUuid } = call.setup;
    call.host = host;
    call.block = block;
    call.seat = host.board.takeSeat();
    host.calls.add(callUuid);
    const setup = { ...call.setup, checkpoint: call.resumeFrom() };
    host.post({ type: 'call.start', setup, call: block, seat: call.seat });
    if (call.isHeld) host.post({ type: 'call.command', callUuid, command: { type: 'hold', held: true } });
  }

  #startThread(): void {
    const { clock, log, url, workerData } = this.#options;
    const host = new PipelineThreadHost({
      url,
      threadIndex: this.#nextIndex++,
      workerData,
      clock,
      log,
      ready: (one) => this.#becameReady(one),
      message: (one, message) => this.#onMessage(one, message),
      died: (one, why) => this.#died(one, why),
    });
    this.#starting.add(host);
    this.#handEngines(host);
  }

  #handEngines(host: PipelineThreadHost): void {
    const ports = this.#options.enginePorts(host.threadIndex);
    host.post({ type: 'engines', ports }, Object.values(ports));
  }

  #becameReady(host: PipelineThreadHost): void {
    this.#starting.delete(host);
    this.#restarts.reset();
    if (this.#carriers.length < this.#options.threads) {
      this.#carriers.push(host);
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const { call, block } of waiting) this.#giveTo(host, call, block);
    } else this.#spare = host;
    if (!this.#hasStarted && this.#spare !== null && this.#starting.size === 0) {
      this.#hasStarted = true;
      this.#settleReady?.resolve();
    }
  }

  #onMessage(host: PipelineThreadHost, message: FromPipeline): void {
    if (message.type === 'scoring.attach') {
      this.#options.scoring?.attach(host.threadIndex, message.shape, message.memory, (why) =>
        host.post({ type: 'scoring.failed', why }),
      );
      return;
    }
    if (message.type === 'ready' || message.type === 'heartbeat') return;
    this.#calls.get(message.callUuid)?.heard(message);
  }

  #died(host: PipelineThreadHost, why: string): void {
    if (this.#closed) return;
    const { clock, log } = this.#options;
    const lostAtMs = host.livedAtMs;
    this.deaths++;
    log.error({ thread: `pipeline-${host.threadIndex}`, why, calls: host.calls.size }, 'a pipeline thread died');
    this.#options.scoring?.detach(host.threadIndex);
    this.#starting.delete(host);
    if (this.#spare === host) this.#spare = null;
    const carried = this.#carriers.includes(host);
    this.#carriers = this.#carriers.filter((one) => one !== host);
    // One that came up and was lost before the last was there, on a machine with no time for it, is replaced as later.
    if (!this.#hasStarted && (!host.isReady || this.deaths > MOST_DEATHS_AT_START)) {
      this.#settleReady?.reject(new Error(`a pipeline thread died before it was ready: ${why}`));
      return;
    }
    const successor = carried ? this.#spare : null;
    if (successor !== null) {
      this.#carriers.push(successor);
      this.#spare = null;
    }
    clock.after(host.isReady ? 0 : this.#restarts.nextMs(), () => {
      if (!this.#closed) this.#startThread();
    });
    for (const callUuid of [...host.calls])
      this.#move(this.#calls.get(callUuid), host.suspect.is(callUuid), lostAtMs, successor);
  }

  #move(
    call: PooledCall | undefined,
    isSuspect: boolean,
    lostAtMs: number,
    successor: PipelineThreadHost | null,
  ): void {
    if (call === undefined) return;
    call.host = null;
    call.closeUtterance();
    if (call.isStopping) {
      this.settle(call, false);
      return;
    }
    if (lostAtMs - call.movedAtMs > MOVES_FORGOTTEN_MS) {
      call.moves = 0;
      call.deathsInItsWork = 0;
    }
    call.movedAtMs = lostAtMs;
    call.moves++;
    if (isSuspect) call.deathsInItsWork++;
    const isTooMuch = call.deathsInItsWork >= MOST_DEATHS_IN_ITS_WORK || call.moves > MOST_MOVES_A_CALL;
    const block = isTooMuch ? null : call.listener.moved(lostAtMs);
    if (block === null) this.settle(call, true);
    else if (successor === null) this.#queue(call, block);
    else this.#giveTo(successor, call, block);
  }
}
