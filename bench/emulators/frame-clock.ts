/**
 * One absolute schedule of 20 ms frames for all streams of an emulator, spread over ten slots of 2 ms. A late timer is
 * caught up frame by frame, as a carrier's network would deliver after a stall; nothing ever drifts. Called by the
 * media clients; a session is called at most once a frame of its own.
 */
import type { Clock } from '../../media/contract/clock.ts';

const SLOTS = 10;
const SLOT_MS = 2;

export interface FrameSession {
  /** `dueAtMs` is when this frame was due, `nowMs` (monotonic too) when it is run. */
  frame(dueAtMs: number, nowMs: number): void;
}

export class FrameClock {
  readonly #clock: Clock;
  readonly #slots: Set<FrameSession>[] = Array.from({ length: SLOTS }, () => new Set());
  /** Number of the next slot to run; slot `n` is due at `n * SLOT_MS`. */
  #nextSlot = 0;
  #sessions = 0;
  #cancel: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The first frame comes 20 ms from now. Returns what removes the session; removing twice is fine. */
  add(session: FrameSession): () => void {
    const nowSlot = Math.floor(this.#clock.nowMs() / SLOT_MS);
    if (this.#sessions === 0) this.#nextSlot = nowSlot + 1;
    const slot = this.#slots[nowSlot % SLOTS]!;
    slot.add(session);
    this.#sessions++;
    this.#arm();
    return () => {
      if (!slot.delete(session)) return;
      this.#sessions--;
      if (this.#sessions === 0) this.close();
    };
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #arm(): void {
    if (this.#cancel !== null || this.#sessions === 0) return;
    this.#cancel = this.#clock.after(this.#nextSlot * SLOT_MS - this.#clock.nowMs(), () => {
      this.#cancel = null;
      this.#run();
      this.#arm();
    });
  }

  #run(): void {
    let nowMs = this.#clock.nowMs();
    while (this.#nextSlot * SLOT_MS <= nowMs && this.#sessions > 0) {
      const dueAtMs = this.#nextSlot * SLOT_MS;
      for (const session of this.#slots[this.#nextSlot % SLOTS]!) session.frame(dueAtMs, nowMs);
      this.#nextSlot++;
      nowMs = this.#clock.nowMs();
    }
  }
}
