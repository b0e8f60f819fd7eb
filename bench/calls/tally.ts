/**
 * What one call of the load received: when each message came, and how much audio was before it. Made and read by the
 * generator.
 */
import { percentiles } from '../harness/percentile.ts';

export interface Spread {
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

const SAMPLES_PER_MS = 8;
const WINDOW_MS = 1_000;
const PAYLOAD_KEY = Buffer.from('"payload":"');
const QUOTE = 0x22;
const PAD = 0x3d;

export class CallTally {
  samples = 0;
  messages = 0;
  isMeasuring = false;
  readonly #arrivals: Float64Array;
  /** Arrival minus the time that the samples before it last, ms. */
  readonly #offsets: Float64Array;
  /** Messages of one gateway look alike: where the payload began in the last one. */
  #payloadAt = 0;

  /** Room for the messages of `measureMs`; more are counted but not timed. */
  constructor(measureMs: number) {
    const most = Math.ceil((measureMs / 20) * 2) + 100;
    this.#arrivals = new Float64Array(most);
    this.#offsets = new Float64Array(most);
  }

  /** `bytes[start, end)` is a message's text. */
  receive(bytes: Buffer, start: number, end: number, arrivedAtMs: number): void {
    if (!this.isMeasuring) return;
    const payloadAt = this.#findPayload(bytes, start, end);
    if (payloadAt < 0) return;
    const close = bytes.indexOf(QUOTE, payloadAt);
    const padding = bytes[close - 2] === PAD ? 2 : bytes[close - 1] === PAD ? 1 : 0;
    if (this.messages < this.#arrivals.length) {
      this.#arrivals[this.messages] = arrivedAtMs;
      this.#offsets[this.messages] = arrivedAtMs - this.samples / SAMPLES_PER_MS;
      this.messages++;
    }
    this.samples += ((close - payloadAt) * 3) / 4 - padding;
  }

  /** Lateness of each message against the earliest of its second, ms: jitter and stalls, without drift. */
  lateness(into: number[]): void {
    const offsets = this.#offsets;
    for (let i = 0; i < this.messages; ) {
      const windowEndsAtMs = this.#arrivals[i]! + WINDOW_MS;
      let best = Number.POSITIVE_INFINITY;
      let j = i;
      for (; j < this.messages && this.#arrivals[j]! < windowEndsAtMs; j++) best = Math.min(best, offsets[j]!);
      for (; i < j; i++) into.push(offsets[i]! - best);
    }
  }

  /**
   * Audio received as a share of real time, 1 is exact: from the slope of the offsets over the arrivals (least
   * squares), so that neither the first nor the last message decides, and a message of 60 ms weighs no more than three
   * of 20. 0 without audio.
   */
  get sampleRatio(): number {
    if (this.messages < 10) return 0;
    let meanAt = 0;
    let meanOffset = 0;
    for (let i = 0; i < this.messages; i++) {
      meanAt += this.#arrivals[i]! / this.messages;
      meanOffset += this.#offsets[i]! / this.messages;
    }
    let covariance = 0;
    let variance = 0;
    for (let i = 0; i < this.messages; i++) {
      covariance += (this.#arrivals[i]! - meanAt) * (this.#offsets[i]! - meanOffset);
      variance += (this.#arrivals[i]! - meanAt) ** 2;
    }
    return 1 - covariance / variance;
  }

  #findPayload(bytes: Buffer, start: number, end: number): number {
    const guess = start + this.#payloadAt;
    if (
      this.#payloadAt > 0 &&
      bytes.compare(PAYLOAD_KEY, 0, PAYLOAD_KEY.length, guess - PAYLOAD_KEY.length, guess) === 0
    )
      return guess;
    const key = bytes.indexOf(PAYLOAD_KEY, start);
    if (key < 0 || key >= end) return -1;
    this.#payloadAt = key + PAYLOAD_KEY.length - start;
    return key + PAYLOAD_KEY.length;
  }
}

/** A message that is later than this has left a hole in what a far end plays that waits no longer for it. */
export const IN_TIME_MS = 20;

/**
 * Audio that came in time, as a share of real time: of what came (`sampleRatio`, what is above real time counts for
 * nothing) the share of the messages that were no later than `IN_TIME_MS`. 0 of none.
 */
export function inTimeRatioOf(sampleRatio: number, latenesses: readonly number[]): number {
  const inTime = latenesses.reduce((count, lateMs) => (lateMs <= IN_TIME_MS ? count + 1 : count), 0);
  return latenesses.length === 0 ? 0 : (Math.min(1, sampleRatio) * inTime) / latenesses.length;
}

/** All 0 of none. */
export function spreadOf(values: readonly number[] | Float64Array): Spread {
  const [p50Ms, p99Ms, maxMs] = percentiles(values.length === 0 ? [0] : values, [0.5, 0.99, 1]);
  return { p50Ms: p50Ms!, p99Ms: p99Ms!, maxMs: maxMs! };
}
