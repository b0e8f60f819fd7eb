/**
 * What one media process has said and control has not yet written. Messages about one call are handled in their order,
 * one after the other; calls do not wait for each other. What running calls tell in passing (`batchable`) is collected
 * and handled together, for all calls at once; whatever else comes for a call takes along what it has told before.
 * A message counts as handled when its transaction has committed, and only then may the link acknowledge it: what
 * control had in hand when it died comes again. While the database is away everything waits here, in order; at
 * `pauseAt` the socket is no longer read, and the rest waits at the sender. A message that can never be written is
 * reported once and dropped, so that it does not hold up the others.
 *
 *   push → lane of its call ─ batchable ─► due, 100 ms or some s ──► handleTogether ─┐
 *                           └ any other, with what is before it ──► handle ───────────┴► next of the lane, acknowledged
 */
import { type Clock, pause } from '../../media/contract/clock.ts';
import type { Gate } from './gate.ts';
import { type Entry, type Lane, LateWords, type LateWordsOptions } from './late-words.ts';

export interface InboxOptions<Message, Batchable extends Message> {
  clock: Clock;
  /** `before`: what the call told right before it. All or none. */
  handle(message: Exclude<Message, Batchable>, before: readonly Batchable[]): Promise<void>;
  /** By call, each in its order. One that rejected is asked again with the same messages. */
  handleTogether(calls: readonly (readonly Batchable[])[]): Promise<void>;
  isBatchable(message: Message): message is Batchable;
  /** Somebody here looks on while the call runs. Absent: at every call. */
  isFollowed?(callUuid: string): boolean;
  /** Who follows a call is told what the database has not taken in time. Absent: nobody is. */
  late?: Pick<LateWordsOptions<Message, Batchable>, 'lastFollower' | 'tell'>;
  /** Some were written: whatever stood in the way does so no more. */
  written?(): void;
  /**
   * True: the same messages are tried again. False: they are dropped, or tried by themselves where they were several.
   * Told each time; logs once per outage, or per drop.
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
/** Collected before they are written. Who follows a call sees its words so much later. */
export const BATCH_AFTER_MS = 100;
/** Where nobody here follows. Until then the sender keeps them too: they are lost only where both ends die at once. */
export const UNFOLLOWED_BATCH_AFTER_MS = 6_000;
/** So many do not wait for more. */
const MANY = 500;
/** Of one call; the rest comes in the next. */
const MOST_OF_A_CALL = 64;
const MOST_OF_A_BATCH = 2_000;
const RETRY_MS = 500;

export class Inbox<Message, Batchable extends Message> {
  readonly #options: InboxOptions<Message, Batchable>;
  readonly #pauseAt: number;
  readonly #late: LateWords<Message, Batchable> | null;
  /** By number, rising; the done ones at its head are what may be acknowledged. */
  #order: Entry<Message>[] = [];
  readonly #lanes = new Map<string, Lane<Message>>();
  /** Lanes whose head waits for the next batch. */
  readonly #due = new Set<Lane<Message>>();
  #cancelBatch: (() => void) | null = null;
  /** Of `clock.nowMs`. */
  #batchAtMs = 0;
  /** While a batch is in hand: how soon the next one is wanted after it. */
  #nextAfterMs = UNFOLLOWED_BATCH_AFTER_MS;
  #isBatching = false;
  #isHurried = false;
  #unhandled = 0;
  #paused = false;
  #closed = false;

  constructor(options: InboxOptions<Message, Batchable>) {
    this.#options = options;
    const { clock, isBatchable, late } = options;
    this.#late = late === undefined ? null : new LateWords({ clock, isBatchable, ...late });
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

  /** Of which something is not handled yet. */
  heldCalls(): string[] {
    return [...this.#lanes.keys()];
  }

  /** Who said it is gone: what is here is written at once, until told otherwise. */
  setHurried(isHurried: boolean): void {
    this.#isHurried = isHurried;
    if (isHurried) this.hurry();
  }

  /** Somebody waits for what is here. */
  hurry(): void {
    if (this.#due.size > 0) this.#batchSoon(0);
  }

  /** A message that is not about a call, or was handled by other means: only its number counts. */
  skip(number: number): void {
    this.#order.push({ number, message: undefined as Message, done: true, heardAtMs: 0 });
    this.#settle();
  }

  push(number: number, callUuid: string, message: Message): void {
    const entry: Entry<Message> = { number, message, done: false, heardAtMs: this.#options.clock.nowMs() };
    this.#order.push(entry);
    this.#unhandled++;
    if (!this.#paused && this.#unhandled >= this.#pauseAt) this.#setPaused(true);
    const lane = this.#lanes.get(callUuid);
    if (lane === undefined) {
      const opened = { callUuid, entries: [entry] };
      this.#lanes.set(callUuid, opened);
      this.#goOn(opened);
      this.#late?.watch(opened);
    } else {
      lane.entries.push(entry);
      this.#late?.watch(lane);
      if (!this.#due.has(lane)) return;
      if (this.#options.isBatchable(message)) this.#batchSoon(this.#patienceMs(lane));
      else {
        this.#due.delete(lane);
        this.#goOn(lane);
      }
    }
  }

  /** What is in hand is finished or given up; nothing new is begun, and nothing more is acknowledged. */
  close(): void {
    this.#closed = true;
    this.#late?.close();
    this.#cancelBatch?.();
  }

  /** The lane's head is next; nothing of the lane is in hand. */
  #goOn(lane: Lane<Message>): void {
    const [head] = lane.entries;
    if (head === undefined) {
      this.#lanes.delete(lane.callUuid);
      return;
    }
    if (this.#closed) return;
    const end = lane.entries.findIndex(({ message }) => !this.#options.isBatchable(message));
    if (end >= 0 && end <= MOST_OF_A_CALL) void this.#handleUpTo(lane, end);
    else {
      this.#due.add(lane);
      this.#batchSoon(end >= 0 ? 0 : this.#patienceMs(lane));
    }
  }

  /** The message at `end`, which is the first that is not batchable, and all before it. */
  async #handleUpTo(lane: Lane<Message>, end: number): Promise<void> {
    const entries = lane.entries.slice(0, end + 1);
    const before = entries.slice(0, end).map(({ message }) => message as Batchable);
    const message = entries[end]!.message as Exclude<Message, Batchable>;
    if (!(await this.#untilHandled([...before, message], () => this.#options.handle(message, before)))) {
      await this.#oneByOne(before);
      await this.#untilHandled([message], () => this.#options.handle(message, []));
    }
    this.#handled(entries);
    lane.entries.splice(0, entries.length);
    this.#goOn(lane);
  }

  #patienceMs({ callUuid, entries }: Lane<Message>): number {
    if (this.#isHurried) return 0;
    const isLong = entries.length >= MOST_OF_A_CALL || this.#unhandled >= MANY;
    const { isFollowed } = this.#options;
    return isLong || isFollowed === undefined || isFollowed(callUuid) ? BATCH_AFTER_MS : UNFOLLOWED_BATCH_AFTER_MS;
  }

  #batchSoon(afterMs: number): void {
    if (this.#closed) return;
    if (this.#isBatching) {
      this.#nextAfterMs = Math.min(this.#nextAfterMs, afterMs);
      return;
    }
    const atMs = this.#options.clock.nowMs() + afterMs;
    if (this.#cancelBatch !== null && this.#batchAtMs <= atMs) return;
    this.#cancelBatch?.();
    this.#batchAtMs = atMs;
    this.#cancelBatch = this.#options.clock.after(afterMs, () => void this.#batch());
  }

  async #batch(): Promise<void> {
    this.#cancelBatch = null;
    if (this.#due.size === 0) return;
    this.#isBatching = true;
    this.#nextAfterMs = UNFOLLOWED_BATCH_AFTER_MS;
    const taken = this.#take();
    // Left over: there were too many for one batch.
    if (this.#due.size > 0) this.#nextAfterMs = 0;
    const together = [...taken.values()];
    const messages = together.map((entries) => entries.map(({ message }) => message as Batchable));
    if (!(await this.#untilHandled(messages.flat(), () => this.#options.handleTogether(messages))))
      await this.#oneByOne(messages.flat());
    this.#isBatching = false;
    this.#handled(together.flat());
    for (const [lane, entries] of taken) lane.entries.splice(0, entries.length);
    if (this.#due.size > 0) this.#batchSoon(this.#nextAfterMs);
    for (const lane of taken.keys()) this.#goOn(lane);
  }

  /** One of them cannot be written: the others are not to suffer for it. */
  async #oneByOne(messages: readonly Batchable[]): Promise<void> {
    for (const message of messages)
      await this.#untilHandled([message], () => this.#options.handleTogether([[message]]));
  }

  /** The unbroken run of batchable messages at the head of each lane that is due. */
  #take(): Map<Lane<Message>, Entry<Message>[]> {
    const taken = new Map<Lane<Message>, Entry<Message>[]>();
    let count = 0;
    for (const lane of this.#due) {
      if (count >= MOST_OF_A_BATCH) break;
      const end = lane.entries.findIndex(({ message }) => !this.#options.isBatchable(message));
      const entries = lane.entries.slice(0, Math.min(end < 0 ? lane.entries.length : end, MOST_OF_A_CALL));
      taken.set(lane, entries);
      this.#due.delete(lane);
      count += entries.length;
    }
    return taken;
  }

  /** False: not written, and not to be tried again as it is. */
  async #untilHandled(messages: readonly Message[], handle: () => Promise<void>): Promise<boolean> {
    while (!this.#closed) {
      try {
        await this.#options.gate.pass(handle);
        this.#options.written?.();
        return true;
      } catch (error) {
        if (!this.#options.shouldRetry(error, messages)) return messages.length === 1;
        await pause(this.#options.clock, RETRY_MS);
      }
    }
    return true;
  }

  #handled(entries: readonly Entry<Message>[]): void {
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
