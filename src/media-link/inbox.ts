/**
 * What one media process has said and control has not yet written. Messages about one call are handled in their order,
 * one after the other; calls do not wait for each other. A message counts as handled when its transaction has
 * committed, and only then may the link acknowledge it: what control had in hand when it died comes again.
 * While the database is away everything waits here, in order; at `pauseAt` the socket is no longer read, and the rest
 * waits at the sender. A message that can never be written is reported once and dropped, so
 * that it does not hold up the others.
 */
import { type Clock, pause } from '../../media/contract/clock.ts';

export interface InboxOptions<Message> {
  clock: Clock;
  /** Messages of one call, in order; more than one only where `mergeable` says so for all of them. */
  handle(messages: readonly Message[]): Promise<void>;
  mergeable(message: Message): boolean;
  /** Some were written: whatever stood in the way does so no more. */
  written?(): void;
  /**
   * True: the same messages are tried again. False: they are dropped. Told each time; logs once
   * per outage, or per drop.
   */
  shouldRetry(error: unknown, messages: readonly Message[]): boolean;
  /** All messages up to this number are handled. */
  handledUpTo(number: number): void;
  /** The queue is too long (true), or short again (false). */
  setPaused(paused: boolean): void;
  gate: Gate;
  pauseAt?: number;
}

const DEFAULT_PAUSE_AT = 5_000;
const MERGE_AT_MOST = 64;
const RETRY_MS = 500;

/** How many transactions run at once, over all inboxes of a process. */
export class Gate {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(width: number) {
    this.#free = width;
  }

  async pass<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

interface Entry<Message> {
  number: number;
  message: Message;
  done: boolean;
}

export class Inbox<Message> {
  readonly #options: InboxOptions<Message>;
  readonly #pauseAt: number;
  /** By number, rising; the done ones at its head are what may be acknowledged. */
  #order: Entry<Message>[] = [];
  readonly #lanes = new Map<string, Entry<Message>[]>();
  #unhandled = 0;
  #paused = false;
  #closed = false;

  constructor(options: InboxOptions<Message>) {
    this.#options = options;
    this.#pauseAt = options.pauseAt ?? DEFAULT_PAUSE_AT;
  }

  get unhandledCount(): number {
    return this.#unhandled;
  }

  get isPaused(): boolean {
    return this.#paused;
  }

  /** Something that was said about this call is not handled yet. */
  holds(callUuid: string): boolean {
    return this.#lanes.has(callUuid);
  }

  /** A message that is not about a call, or was handled by other means: only its number counts. */
  skip(number: number): void {
    this.#order.push({ number, message: undefined as Message, done: true });
    this.#settle();
  }

  push(number: number, callUuid: string, message: Message): void {
    const entry: Entry<Message> = { number, message, done: false };
    this.#order.push(entry);
    this.#unhandled++;
    if (!this.#paused && this.#unhandled >= this.#pauseAt) this.#setPaused(true);
    const lane = this.#lanes.get(callUuid);
    if (lane !== undefined) {
      lane.push(entry);
      return;
    }
    const opened = [entry];
    this.#lanes.set(callUuid, opened);
    void this.#work(callUuid, opened);
  }

  /** What is in hand is finished or given up; nothing new is begun, and nothing more is acknowledged. */
  close(): void {
    this.#closed = true;
  }

  async #work(callUuid: string, lane: Entry<Message>[]): Promise<void> {
    while (lane.length > 0 && !this.#closed) {
      const entries = this.#next(lane);
      await this.#handle(entries);
      lane.splice(0, entries.length);
    }
    this.#lanes.delete(callUuid);
  }

  #next(lane: readonly Entry<Message>[]): Entry<Message>[] {
    const { mergeable } = this.#options;
    const entries = [lane[0]!];
    if (!mergeable(lane[0]!.message)) return entries;
    while (entries.length < MERGE_AT_MOST) {
      const next = lane[entries.length];
      if (next === undefined || !mergeable(next.message)) break;
      entries.push(next);
    }
    return entries;
  }

  async #handle(entries: Entry<Message>[]): Promise<void> {
    const messages = entries.map((entry) => entry.message);
    while (!this.#closed) {
      try {
        await this.#options.gate.pass(() => this.#options.handle(messages));
        this.#options.written?.();
        break;
      } catch (error) {
        if (!this.#options.shouldRetry(error, messages)) break;
        await pause(this.#options.clock, RETRY_MS);
      }
    }
    if (this.#closed) return;
    for (const entry of entries) entry.done = true;
    this.#unhandled -= entries.length;
    if (this.#paused && this.#unhandled <= this.#pauseAt / 2) this.#setPaused(false);
    this.#settle();
  }

  #settle(): void {
    let done = 0;
    while (this.#order[done]?.done) done++;
    if (done === 0) return;
    const last = this.#order[done - 1]!.number;
    this.#order = this.#order.slice(done);
    if (!this.#closed) this.#options.handledUpTo(last);
  }

  #setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#options.setPaused(paused);
  }
}
