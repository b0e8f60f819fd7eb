/**
 * Asks a workspace's model about one call, with retries, until a deadline. Called by `analyse.ts`. A fault that may
 * pass (429, 5xx, no connection, nonsense) is tried again after a pause; one that will not
 * (401, a refusal) is not. Never rejects.
 */
import { type Clock, pause } from '../../media/contract/clock.ts';
import type { Findings } from '../calls/findings.ts';
import type { CallStory } from './call-story.ts';
import { askChat, type ChatDeps, type ChatEndpoint, type ModelFault } from './chat-endpoint.ts';
import { chatRequest } from './chat-request.ts';
import { type AnswerReading, readAnswer } from './model-answer.ts';
import type { ModelState } from './model-state.ts';

export interface AskDeps extends ChatDeps {
  clock: Clock;
  /** 0 ≤ x < 1. */
  random: () => number;
  /** `ok`, or why it did not serve; once a question. */
  asked?(outcome: 'ok' | ModelFault, seconds: number): void;
}

export type Asked =
  | Extract<AnswerReading, { ok: true }>
  | { ok: false; fault: ModelFault | 'breaker_open'; reason: string };

/** Of one question. A model on a small machine takes its time. */
export const QUESTION_LIMIT_MS = 30_000;
const MOST_QUESTIONS = 4;
const PAUSES_MS = [1_000, 4_000, 10_000];
const JITTER_RATIO = 0.2;
/** With less left there is no use in asking. */
const LEAST_LIMIT_MS = 1_000;
/** How often each fault is tried again: what stalled once will likely stall again, and the budget is short. */
const TRIES_AGAIN: Record<ModelFault, number> = {
  unreachable: 3,
  timeout: 1,
  rate_limited: 3,
  server_error: 3,
  nonsense: 1,
  too_large: 0,
  rejected: 0,
  refused: 0,
};

export async function askModel(
  deps: AskDeps,
  endpoint: ChatEndpoint,
  state: ModelState,
  question: { story: CallStory; base: Findings; deadlineAtMs: number; signal: AbortSignal },
): Promise<Asked> {
  const { clock } = deps;
  const { story, base, deadlineAtMs, signal } = question;
  let last: Extract<Asked, { ok: false }> = { ok: false, fault: 'timeout', reason: 'there was no time left to ask' };
  const faults = new Map<ModelFault, number>();
  for (let questions = 0; questions < MOST_QUESTIONS; questions++) {
    const limitMs = Math.min(QUESTION_LIMIT_MS, deadlineAtMs - clock.nowMs());
    if (limitMs < LEAST_LIMIT_MS || signal.aborted) return last;
    if (!state.breaker.admits()) {
      return questions > 0
        ? last
        : { ok: false, fault: 'breaker_open', reason: 'it failed five times in a row and is left alone for 30 s' };
    }
    const askedAtMs = clock.nowMs();
    const outcome = await askChat(deps, endpoint, {
      body: (format) => chatRequest(story, endpoint.model, format),
      from: state.format,
      limitMs,
    });
    const seconds = (clock.nowMs() - askedAtMs) / 1000;
    let retryAfterMs: number | null = null;
    if (outcome.kind === 'answered') {
      state.format = outcome.format;
      const reading = readAnswer(outcome.content, story, base, endpoint.model);
      if (reading.ok) {
        state.breaker.settled(false);
        deps.asked?.('ok', seconds);
        return reading;
      }
      last = { ok: false, fault: 'nonsense', reason: reading.problem };
    } else {
      ({ retryAfterMs } = outcome);
      last = { ok: false, fault: outcome.fault, reason: outcome.reason };
    }
    const fault = last.fault as ModelFault;
    deps.asked?.(fault, seconds);
    // A refusal is an answer: the server is well.
    state.breaker.settled(fault !== 'refused');
    const seen = (faults.get(fault) ?? 0) + 1;
    faults.set(fault, seen);
    if (seen > TRIES_AGAIN[fault]) return last;
    const pauseMs = Math.max(retryAfterMs ?? 0, jittered(PAUSES_MS[questions] ?? 10_000, deps.random));
    if (clock.nowMs() + pauseMs + LEAST_LIMIT_MS > deadlineAtMs) return last;
    await pause(clock, pauseMs, signal);
  }
  return last;
}

function jittered(pauseMs: number, random: () => number): number {
  return pauseMs * (1 + JITTER_RATIO * (2 * random() - 1));
}
