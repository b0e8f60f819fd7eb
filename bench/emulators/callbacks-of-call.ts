/**
 * Sends one call's callbacks, with its persona's faults on them, and notes what became of each. Called by an emulated
 * call; a callback may come after the call's end, so nothing here ends with it.
 */
import { type Clock, pause } from '../../media/contract/clock.ts';
import type { CallbackTruth, CallTruth } from './call-truth.ts';
import type { CallbackFaults, CallbackKind } from './persona.ts';

export interface CallbackAnswer {
  status: number;
  contentType: string;
  body: string;
}

/** What the carrier does with each callback. */
export interface CallbackWays {
  /** Rejects when no answer came within `timeoutMs`. */
  send(
    method: 'GET' | 'POST',
    url: string,
    params: Record<string, string>,
    signature: 'right' | 'wrong' | 'none',
    timeoutMs: number,
  ): Promise<CallbackAnswer>;
  /** How long it waits for an answer, and how often it repeats one that failed. */
  patience(kind: CallbackKind, url: string): { timeoutMs: number; retries: number };
  /** What the carrier calls what happened, for who reads the truth. */
  eventOf(params: Readonly<Record<string, string>>): string;
}

const DOUBLE_AFTER_MS = 30;
/** No carrier says how long it waits; hardly at all is the hardest case. */
const RETRY_AFTER_MS = 50;

export class CallbacksOfCall {
  readonly #ways: CallbackWays;
  readonly #clock: Clock;
  readonly #faults: CallbackFaults;
  readonly #truth: CallTruth;

  constructor(ways: CallbackWays, clock: Clock, faults: CallbackFaults, truth: CallTruth) {
    this.#ways = ways;
    this.#clock = clock;
    this.#faults = faults;
    this.#truth = truth;
  }

  /** Never rejects: null when the callback was lost or not answered. A doubled one resolves with the first answer. */
  async send(
    kind: CallbackKind,
    url: string,
    method: 'GET' | 'POST',
    params: Record<string, string>,
  ): Promise<CallbackAnswer | null> {
    const { lost, lateMs, doubled } = this.#faults;
    if (lost.includes(kind)) return null;
    const delayMs = lateMs[kind] ?? 0;
    if (delayMs > 0) await pause(this.#clock, delayMs);
    const once = (): Promise<CallbackAnswer | null> => this.#sendOnce(kind, url, method, params);
    const first = once();
    if (doubled.includes(kind)) this.#clock.after(DOUBLE_AFTER_MS, () => void once());
    return await first;
  }

  async #sendOnce(
    kind: CallbackKind,
    url: string,
    method: 'GET' | 'POST',
    params: Record<string, string>,
  ): Promise<CallbackAnswer | null> {
    const sentAtEpochMs = this.#truth.nowEpochMs();
    const noted: CallbackTruth = {
      kind,
      event: this.#ways.eventOf(params),
      sentAtEpochMs,
      httpStatus: null,
      error: null,
    };
    this.#truth.callbacks.push(noted);
    const { unsigned, wrongSignature } = this.#faults;
    const signature = unsigned.includes(kind) ? 'none' : wrongSignature.includes(kind) ? 'wrong' : 'right';
    const { timeoutMs, retries } = this.#ways.patience(kind, url);
    for (let attempt = 0; ; attempt++) {
      try {
        const answer = await this.#ways.send(method, url, params, signature, timeoutMs);
        noted.httpStatus = answer.status;
        return answer;
      } catch (error) {
        noted.error = error instanceof Error ? String(Reflect.get(error, 'code') ?? error.name) : 'unknown';
        if (attempt >= retries) return null;
        await pause(this.#clock, RETRY_AFTER_MS);
      }
    }
  }
}
