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
import type { CallCommand } from '../../contract/call-command.ts';
import type { EndedReason } from '../../contract/call-outcome.ts';
import { type Checkpoint, EMPTY_CHECKPOINT, readCheckpoint } from '../../contract/checkpoint.ts';
import type { Clock } from '../../contract/clock.ts';
import type { ConversationEvent, Turn } from '../../contract/conversation.ts';
import type { EnginePorts } from '../../contract/engine-kinds.ts';
import type { CallSetup } from '../../contract/link-messages.ts';
import { type ControlOutcome, controlRefused } from '../../contract/operator-control.ts';
import type { FromPipeline, ToPipeline, UtteranceBegun } from '../../contract/thread-messages.ts';
import type { ToolAsk } from '../../contract/tools.ts';
import { blockShapeOf, CallBlock } from '../../rings/call-block.ts';
import { NO_SEAT } from '../../rings/feed-board.ts';
import type { WorkLoad } from '../call-room.ts';
import { PipelineThreadHost } from './pipeline-thread-host.ts';
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

export interface PlacedCallListener {
  conversationEvent(event: ConversationEvent): void;
  checkpoint(checkpoint: Checkpoint): void;
  ended(reason: EndedReason, disposition: string | null, error: string | null): void;
  controlled(controlId: string, outcome: ControlOutcome): void;
  /** The agent uses a tool. Asked again, under the same id, by a thread that goes on where another died. */
  toolAsked(ask: ToolAsk, where: { atPage: boolean; timeoutMs: number }): void;
  toolCancelled(toolCallId: string): void;
  /** The pipeline has said its last about this call: after `stop`, or because it cannot go on (`lost` true). */
  closed(lost: boolean): void;
  /** The thread died at `lostAtMs`; a new block for its successor, or null when the leg is over. */
  moved(lostAtMs: number): SharedArrayBuffer | null;
}

export interface PlacedCall {
  /** Frames were written: the thread's bell is rung at the end of the tick. */
  fed(): void;
  /**
   * Lost where no thread carries the call: of a tool's answer the next one asks again. After `control` the listener's
   * `controlled` follows, unless the thread dies.
   */
  command(command: CallCommand): void;
  /** `closed` follows. */
  stop(): void;
}

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

class Call implements PlacedCall {
  readonly setup: CallSetup;
  readonly listener: PlacedCallListener;
  readonly pool: Pool;
  host: PipelineThreadHost | null = null;
  /** On its thread's board. */
  seat = NO_SEAT;
  checkpoint: Checkpoint | null;
  /** What it shares with the thread that it is on, or was. */
  block: SharedArrayBuffer | null = null;
  /** Its agent's open turn, as far as the thread has told. */
  utterance: UtteranceBegun | null = null;
  /** Number of the last turn that was told: a thread may die between a turn and its checkpoint. */
  toldTurns = 0;
  /** What its agent was saying when the last thread died. */
  #cut: NonNullable<Checkpoint['cut']> | null = null;
  moves = 0;
  deathsInItsWork = 0;
  movedAtMs = 0;
  isStopping = false;
  /** A successor must be told too. */
  isHeld = false;

  constructor(pool: Pool, setup: CallSetup, listener: PlacedCallListener) {
    this.pool = pool;
    this.setup = setup;
    this.listener = listener;
    this.checkpoint = setup.checkpoint === null ? null : readCheckpoint(setup.checkpoint);
  }

  /** What a successor goes on from; its first turn has a number of its own. */
  resumeFrom(): Checkpoint | null {
    const { checkpoint, toldTurns } = this;
    const cut = this.#cut;
    this.#cut = null;
    if (toldTurns === 0) return checkpoint;
    const from = checkpoint ?? EMPTY_CHECKPOINT;
    const nextTurnNumber = Math.max(from.nextTurnNumber, toldTurns + 1);
    return { ...from, nextTurnNumber, ...(cut === null ? {} : { cut }) };
  }

  tellEvent(event: ConversationEvent): void {
    if (event.type === 'turn') {
      this.toldTurns = Math.max(this.toldTurns, numberOf(event.turn));
      if (event.turn.turnId === this.utterance?.turnId) this.utterance = null;
    }
    this.listener.conversationEvent(event);
  }

  /**
   * The thread died while the agent spoke: its turn is told with what was heard of it. Nothing
   * happens when it did not speak.
   */
  closeUtterance(): void {
    const { utterance, block, setup } = this;
    this.utterance = null;
    // A tone has no words, and is no turn.
    if (utterance === null || utterance.text === '' || block === null) return;
    const { turnId, text, stepId, startMs, startStreamMs } = utterance;
    const { streamMs, heardChars } = CallBlock.attach(block, blockShapeOf(setup));
    const endMs = Math.max(startMs, startMs + streamMs - startStreamMs);
    this.tellEvent({ type: 'speech', who: 'agent', phase: 'end', atMs: endMs, turnId });
    const heardText = text.slice(0, heardChars);
    const turn: Turn = { turnId, role: 'agent', startMs, endMs, text, heardText, interrupted: true, kind: 'speech' };
    this.tellEvent({ type: 'turn', turn: stepId === null ? turn : { ...turn, stepId } });
    this.#cut = { text, heardText };
  }

  fed(): void {
    this.host?.fed(this.seat);
  }

  command(command: CallCommand): void {
    const { callUuid } = this.setup;
    if (command.type === 'hold') this.isHeld = command.held;
    if (this.host !== null && !(this.isStopping && command.type === 'control')) {
      this.host.post({ type: 'call.command', callUuid, command });
    } else if (command.type === 'control') {
      this.listener.controlled(command.controlId, controlRefused('not_here'));
    }
  }

  stop(): void {
    if (this.isStopping) return;
    this.isStopping = true;
    if (this.host === null) this.pool.settle(this, false);
    else this.host.post({ type: 'call.stop', callUuid: this.setup.callUuid });
  }
}

class Pool implements PipelinePool {
  readonly ready: Promise<void>;
  readonly #options: PipelinePoolOptions;
  readonly #calls = new Map<string, Call>();
  /** Carry calls. */
  #carriers: PipelineThreadHost[] = [];
  #spare: PipelineThreadHost | null = null;
  #starting = new Set<PipelineThreadHost>();
  #waiting: { call: Call; block: SharedArrayBuffer }[] = [];
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
    const call = new Call(this, setup, listener);
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
  settle(call: Call, lost: boolean): void {
    const { callUuid } = call.setup;
    if (this.#calls.get(callUuid) !== call) return;
    this.#calls.delete(callUuid);
    call.host?.calls.delete(callUuid);
    call.host?.board.leaveSeat(call.seat);
    call.host = null;
    this.#waiting = this.#waiting.filter((one) => one.call !== call);
    call.listener.closed(lost);
  }

  #assign(call: Call, block: SharedArrayBuffer): void {
    let best: PipelineThreadHost | null = null;
    for (const host of this.#carriers) if (best === null || host.calls.size < best.calls.size) best = host;
    if (best === null) this.#queue(call, block);
    else this.#giveTo(best, call, block);
  }

  #queue(call: Call, block: SharedArrayBuffer): void {
    this.#waiting.push({ call, block });
    this.#options.clock.after(NO_THREAD_LIMIT_MS, () => {
      if (this.#waiting.some((one) => one.block === block)) this.settle(call, true);
    });
  }

  #giveTo(host: PipelineThreadHost, call: Call, block: SharedArrayBuffer): void {
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
    const call = this.#calls.get(message.callUuid);
    if (call === undefined) return;
    switch (message.type) {
      case 'call.event':
        call.tellEvent(message.event);
        break;
      case 'call.speaking':
        call.utterance = message.utterance;
        break;
      case 'call.speaking.more':
        if (call.utterance?.turnId === message.turnId) call.utterance.text += message.more;
        break;
      case 'call.checkpoint':
        call.checkpoint = message.checkpoint;
        call.listener.checkpoint(message.checkpoint);
        break;
      case 'call.end':
        call.listener.ended(message.reason, message.disposition, message.error);
        break;
      case 'call.controlled':
        call.listener.controlled(message.controlId, message.outcome);
        break;
      case 'call.tool':
        call.listener.toolAsked(message.ask, message);
        break;
      case 'call.tool.cancel':
        call.listener.toolCancelled(message.toolCallId);
        break;
      case 'call.closed':
        this.settle(call, !call.isStopping);
        break;
    }
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

  #move(call: Call | undefined, isSuspect: boolean, lostAtMs: number, successor: PipelineThreadHost | null): void {
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

/** `t12` is the twelfth turn. */
function numberOf({ turnId }: Turn): number {
  return Number(turnId.slice(1)) || 0;
}
