/**
 * Watches one thread that beats: one that is silent for too long by its own doing is to be killed. What makes a thread
 * (`pipeline-thread-host.ts`, `engine-host.ts`) has one for each and tells it what is heard of the thread.
 */
import type { Clock } from '../../contract/clock.ts';
import { readThreadWork } from './os-thread.ts';
import { SilenceGauge } from './silence-gauge.ts';

/** A healthy thread beats each 100 ms; the caller hears a stall as soon as the downlink ring (120 to 250 ms) is empty. */
const HEARTBEAT_LIMIT_MS = 600;
const START_LIMIT_MS = 30_000;
const WATCH_MS = 50;
/** Our own loop was away for so long: then it was not the thread that was silent. */
const OWN_STALL_MS = 200;

export class ThreadWatch {
  readonly #clock: Clock;
  readonly #kill: (why: string) => void;
  readonly #silence = new SilenceGauge(() => (this.#osThreadId === null ? null : readThreadWork(this.#osThreadId)));
  #osThreadId: number | null = null;
  #isReady = false;
  #beatAtMs: number;
  #cancel: () => void = () => {};

  /** From the thread's start on. `kill` is called once at most. */
  constructor(clock: Clock, kill: (why: string) => void) {
    this.#clock = clock;
    this.#kill = kill;
    this.#beatAtMs = clock.nowMs();
    this.#look();
  }

  /** When the thread last showed that it lives. */
  get livedAtMs(): number {
    return this.#beatAtMs;
  }

  /** Anything was heard of it. */
  beat(): void {
    this.#beatAtMs = this.#clock.nowMs();
  }

  /** From now on it beats. */
  ready(osThreadId: number | null): void {
    this.#isReady = true;
    this.#osThreadId = osThreadId;
    this.beat();
  }

  /** It is gone, or is being ended. */
  stop(): void {
    this.#cancel();
  }

  #look(): void {
    let lookedAtMs = this.#clock.nowMs();
    const look = (): void => {
      const nowMs = this.#clock.nowMs();
      // Our own loop stood still, or the whole machine did: that says nothing about the thread.
      if (nowMs - lookedAtMs > OWN_STALL_MS) this.#beatAtMs = Math.max(this.#beatAtMs, nowMs - WATCH_MS);
      lookedAtMs = nowMs;
      const limitMs = this.#isReady ? HEARTBEAT_LIMIT_MS : START_LIMIT_MS;
      if (this.#silence.silentMs(nowMs, this.#beatAtMs) > limitMs) {
        this.#kill(this.#isReady ? `no heartbeat in ${limitMs} ms` : `not ready in ${limitMs} ms`);
        return;
      }
      this.#cancel = this.#clock.after(WATCH_MS, look);
    };
    this.#cancel = this.#clock.after(WATCH_MS, look);
  }
}
