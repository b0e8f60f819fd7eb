/**
 * The one clock of a media process: a tick every 4 ms, of an absolute schedule, five slots, each call in one of them,
 * so that every call is served once in 20 ms and the sends are spread. `setInterval` drifts by 7 to 14 ms a second;
 * this does not: the next tick's time is counted from the start, never from now. It sleeps while there are no calls. A
 * timer that comes up to 1 ms early serves its tick: waiting for the rest would be a second wake-up.
 * After a stall each slot that was missed is served once, at most one round; older ticks are skipped and counted,
 * because a served call catches up by its own schedule (`playout.ts`).
 */
import type { Clock } from '../contract/clock.ts';
import { LatenessHistogram } from './lateness-histogram.ts';

export const TICK_MS = 4;
export const SLOTS = 5;
/** The runtime's timers count whole ms. */
const EARLY_MS = 1;

export interface FrameClockClient {
  /** Once in 20 ms. Must not throw for reasons of its own: what it throws is handed to `failed`. */
  service(nowMs: number): void;
  /** It threw. */
  failed(error: unknown): void;
}

export interface FrameClockOptions {
  clock: Clock;
  /** After the slots of one wake-up have run, of so many clients: bells are rung here, once for all calls. */
  afterTick(nowMs: number, clients: number): void;
}

export class FrameClock {
  readonly lateness = new LatenessHistogram();
  /** Of each client at each service, by when its whole slot had been served: no send of it was later. */
  readonly sendLateness = new LatenessHistogram();
  /** Ticks that were skipped after a stall of more than 20 ms. */
  skippedTicks = 0;
  readonly #options: FrameClockOptions;
  readonly #slots: FrameClockClient[][] = Array.from({ length: SLOTS }, () => []);
  /** Clients to serve once more before their own slot comes round, by tick. */
  readonly #again: FrameClockClient[][] = Array.from({ length: SLOTS }, () => []);
  #clients = 0;
  #startedAtMs = 0;
  #tickNumber = 0;
  #cancel: (() => void) | null = null;
  readonly #onTimer = (): void => this.#wake();

  constructor(options: FrameClockOptions) {
    this.#options = options;
  }

  get clients(): number {
    return this.#clients;
  }

  /** Puts the client into the emptiest slot. */
  add(client: FrameClockClient): void {
    let best = this.#slots[0]!;
    for (const slot of this.#slots) if (slot.length < best.length) best = slot;
    best.push(client);
    this.#clients++;
    if (this.#cancel === null) this.#start();
  }

  /**
   * From within `service`: serve this client at the first tick from `atMs` on, too, if that
   * comes before its own slot does.
   */
  again(client: FrameClockClient, atMs: number): void {
    const tick = Math.max(Math.ceil((atMs - this.#startedAtMs) / TICK_MS), this.#tickNumber + 1);
    if (tick - this.#tickNumber < SLOTS) this.#again[tick % SLOTS]!.push(client);
  }

  /** Nothing happens when it is not there. */
  remove(client: FrameClockClient): void {
    for (const slot of this.#slots) {
      const at = slot.indexOf(client);
      if (at < 0) continue;
      // A new array: the slot may be being served right now.
      this.#slots[this.#slots.indexOf(slot)] = slot.filter((other) => other !== client);
      this.#clients--;
      break;
    }
    if (this.#clients === 0) this.close();
  }

  /** Stops ticking; adding a client starts it again. Idempotent. */
  close(): void {
    this.#cancel?.();
    this.#cancel = null;
    for (const clients of this.#again) clients.length = 0;
  }

  #start(): void {
    this.#startedAtMs = this.#options.clock.nowMs();
    this.#tickNumber = 1;
    this.#schedule(this.#startedAtMs);
  }

  #schedule(nowMs: number): void {
    const waitMs = this.#startedAtMs + this.#tickNumber * TICK_MS - nowMs;
    this.#cancel = this.#options.clock.after(Math.max(waitMs, 0), this.#onTimer);
  }

  #wake(): void {
    const { clock } = this.#options;
    const nowMs = clock.nowMs();
    const dueTick = Math.floor((nowMs + EARLY_MS - this.#startedAtMs) / TICK_MS);
    if (dueTick >= this.#tickNumber) {
      this.lateness.add(this.#lateMs(nowMs));
      const behind = dueTick - this.#tickNumber + 1;
      if (behind > SLOTS) {
        this.skippedTicks += behind - SLOTS;
        this.#tickNumber = dueTick - SLOTS + 1;
      }
      while (this.#tickNumber <= dueTick) {
        const slot = this.#slots[this.#tickNumber % SLOTS]!;
        this.#serve(slot, nowMs);
        if (slot.length > 0) this.sendLateness.add(this.#lateMs(clock.nowMs()), slot.length);
        const again = this.#again[this.#tickNumber % SLOTS]!;
        this.#serve(again, nowMs);
        again.length = 0;
        this.#tickNumber++;
      }
      this.#options.afterTick(nowMs, this.#clients);
    }
    // A client may have been the last and removed itself.
    if (this.#clients > 0) this.#schedule(clock.nowMs());
    else this.#cancel = null;
  }

  #lateMs(nowMs: number): number {
    return Math.max(0, nowMs - (this.#startedAtMs + this.#tickNumber * TICK_MS));
  }

  #serve(slot: FrameClockClient[], nowMs: number): void {
    for (let i = 0; i < slot.length; i++) {
      const client = slot[i]!;
      try {
        client.service(nowMs);
      } catch (error) {
        client.failed(error);
      }
    }
  }
}
