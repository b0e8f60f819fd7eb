/**
 * Sends one call's callbacks, with its persona's faults on them, and notes what became of each. Called by the emulated
 * call; a callback may come after the call's end, so nothing here ends with it.
 */
import { type Clock, pause } from '../../../media/contract/clock.ts';
import type { CallbackTruth, CallTruth } from '../call-truth.ts';
import type { CallbackFaults, CallbackKind } from '../persona.ts';
import type { CallbackAnswer, CallbackSender } from './callback-sender.ts';

/** Plivo's limit for a document. */
const DOCUMENT_TIMEOUT_MS = 15_000;
const CALLBACK_TIMEOUT_MS = 10_000;
const DOUBLE_AFTER_MS = 30;
/** Plivo does not say how long it waits; hardly at all is the hardest case. */
const RETRY_AFTER_MS = 50;
const MOST_RETRIES = 5;
const LONGEST_READ_MS = 40_000;

/** `#rt=8000&rc=3` of a callback's URL: read timeout and retries after a connection or an answer that failed. */
function clientSettingsOf(url: string, otherwiseMs: number): { timeoutMs: number; retries: number } {
  const settings = new URLSearchParams(url.split('#', 2)[1] ?? '');
  const readMs = Number(settings.get('rt') ?? otherwiseMs);
  return {
    timeoutMs: readMs > 0 ? Math.min(readMs, LONGEST_READ_MS) : otherwiseMs,
    retries: Math.min(Math.max(0, Math.trunc(Number(settings.get('rc') ?? 0)) || 0), MOST_RETRIES),
  };
}

export class CallbacksOfCall {
  readonly #sender: CallbackSender;
  readonly #clock: Clock;
  readonly #faults: CallbackFaults;
  readonly #truth: CallTruth;

  constructor(sender: CallbackSender, clock: Clock, faults: CallbackFaults, truth: CallTruth) {
    this.#sender = sender;
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
    const noted: CallbackTruth = { kind, event: params['Event'] ?? '', sentAtEpochMs, httpStatus: null, error: null };
    this.#truth.callbacks.push(noted);
    const { unsigned, wrongSignature } = this.#faults;
    const signature = unsigned.includes(kind) ? 'none' : wrongSignature.includes(kind) ? 'wrong' : 'right';
    const { timeoutMs, retries } = clientSettingsOf(url, kind === 'answer' ? DOCUMENT_TIMEOUT_MS : CALLBACK_TIMEOUT_MS);
    for (let attempt = 0; ; attempt++) {
      try {
        const answer = await this.#sender.send(method, url, params, signature, timeoutMs);
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
