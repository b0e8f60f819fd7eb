/**
 * One question to an OpenAI-compatible chat endpoint (`POST {base}/chat/completions`), without retries: sends it through the guarded
 * client and says what came of it. Asks for structured output; a server that refuses the form is asked again in a simpler one at once.
 * Called by `ask-model.ts` and by `parley model test`. Must not log or return the key.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { OutboundHttp, OutboundResult } from '../../media/net/outbound-http.ts';
import { plainLine } from '../calls/findings.ts';
import { ANSWER_FORMATS, type AnswerFormat } from './chat-request.ts';

export interface ChatEndpoint {
  /** Without `/chat/completions`, like `https://api.openai.com/v1`. */
  baseUrl: string;
  model: string;
  /** Null: the server wants none. */
  apiKey: string | null;
}

export type ModelFault =
  | 'unreachable'
  | 'timeout'
  | 'rate_limited'
  | 'server_error'
  | 'rejected'
  | 'refused'
  | 'nonsense'
  | 'too_large';

export type ChatOutcome =
  | { kind: 'answered'; content: string; format: AnswerFormat }
  /** `retryAfterMs` is what the server asked for; `reason` a clause for a person. */
  | { kind: 'failed'; fault: ModelFault; reason: string; retryAfterMs: number | null };

export interface ChatDeps {
  http: OutboundHttp;
  clock: Clock;
}

/** Name look-up, TCP and TLS. */
const CONNECT_MS = 3_000;
/** An answer is a few kilobytes; one that is larger is read no further. */
export const MOST_ANSWER_BYTES = 256 * 1024;
const LONGEST_REASON = 200;

/** `body(format)` is the request in that form; `limitMs` bounds the whole exchange. Never rejects. */
export async function askChat(
  deps: ChatDeps,
  endpoint: ChatEndpoint,
  question: { body(format: AnswerFormat): unknown; from: AnswerFormat; limitMs: number },
): Promise<ChatOutcome> {
  const untilMs = deps.clock.nowMs() + question.limitMs;
  let outcome: ChatOutcome = failed('timeout', `no answer within ${question.limitMs} ms`);
  for (const format of ANSWER_FORMATS.slice(ANSWER_FORMATS.indexOf(question.from))) {
    const leftMs = Math.ceil(untilMs - deps.clock.nowMs());
    if (leftMs <= 0) break;
    const result = await within(deps.clock, leftMs, send(deps, endpoint, question.body(format), leftMs));
    // 400 and 422: this server does not know that form of answer, or some other field; the next form has fewer.
    const isForm = result.kind === 'answered' && (result.status === 400 || result.status === 422);
    outcome = outcomeOf(result, format, deps.clock, endpoint.apiKey);
    if (!isForm) break;
  }
  return outcome;
}

/** The limits of the request are its connection's, its headers' and its body's; this is that of all of it. */
function within(clock: Clock, limitMs: number, sent: Promise<OutboundResult>): Promise<OutboundResult> {
  return new Promise((resolve) => {
    const late: OutboundResult = { kind: 'failed', reason: `no answer within ${limitMs} ms`, isTimeout: true };
    const cancel = clock.after(limitMs, () => resolve(late));
    void sent.then((result) => {
      cancel();
      resolve(result);
    });
  });
}

function send({ http }: ChatDeps, endpoint: ChatEndpoint, body: unknown, limitMs: number): Promise<OutboundResult> {
  return http.send({
    url: `${endpoint.baseUrl.replace(/\/+$/, '')}/chat/completions`,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': 'Parley-Analysis/1',
      ...(endpoint.apiKey === null ? {} : { authorization: `Bearer ${endpoint.apiKey}` }),
    },
    body: Buffer.from(JSON.stringify(body)),
    limits: {
      connectMs: Math.min(CONNECT_MS, limitMs),
      responseMs: limitMs,
      totalMs: limitMs,
      bodyMs: limitMs,
      maxResponseBytes: MOST_ANSWER_BYTES,
    },
  });
}

function outcomeOf(result: OutboundResult, format: AnswerFormat, clock: Clock, apiKey: string | null): ChatOutcome {
  if (result.kind === 'refused') return failed('rejected', result.reason);
  if (result.kind === 'failed') return failed(result.isTimeout === true ? 'timeout' : 'unreachable', result.reason);
  const { status, body } = result;
  if (Buffer.byteLength(body) >= MOST_ANSWER_BYTES) {
    return failed('too_large', `the answer is larger than ${MOST_ANSWER_BYTES / 1024} KB`);
  }
  if (status === 429)
    return failed('rate_limited', `it answered 429${saidBy(body, apiKey)}`, retryAfterMs(result.retryAfter, clock));
  if (status >= 500)
    return failed(
      'server_error',
      `it answered ${status}${saidBy(body, apiKey)}`,
      retryAfterMs(result.retryAfter, clock),
    );
  if (status < 200 || status >= 300) return failed('rejected', `it answered ${status}${saidBy(body, apiKey)}`);
  return contentOf(body, format, result.isBodyWhole !== false, apiKey);
}

function contentOf(body: string, format: AnswerFormat, isWhole: boolean, apiKey: string | null): ChatOutcome {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    return isWhole ? failed('nonsense', 'the answer is no JSON') : failed('timeout', 'the answer broke off');
  }
  const error = member(answer, 'error');
  if (error !== undefined && error !== null)
    return failed('server_error', `it answered an error${saidBy(body, apiKey)}`);
  const choice = member(member(answer, 'choices'), 0);
  const message = member(choice, 'message');
  const refusal = member(message, 'refusal');
  const finish = member(choice, 'finish_reason');
  if ((typeof refusal === 'string' && refusal !== '') || finish === 'content_filter') {
    return failed('refused', 'the model refused to answer');
  }
  if (finish === 'length') return failed('nonsense', 'the answer was cut off at its longest length');
  const content = member(message, 'content');
  if (typeof content !== 'string' || content.trim() === '') return failed('nonsense', 'the answer has no content');
  return { kind: 'answered', content, format };
}

function member(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string | number, unknown>)[key]
    : undefined;
}

/** The protocol's `{"error":{"message"}}`, for the log of the call; in quotes, because a stranger wrote it. */
function saidBy(body: string, apiKey: string | null): string {
  try {
    const message = member(member(JSON.parse(body), 'error'), 'message');
    if (typeof message !== 'string' || message === '') return '';
    // A server may repeat the key that it did not like, whole or in part.
    const said = apiKey === null ? message : message.replaceAll(apiKey, '…');
    return `: “${plainLine(said.replace(/\bsk-[\w*-]+/g, '…'), LONGEST_REASON)}”`;
  } catch {
    return '';
  }
}

/** Seconds or a date (RFC 9110 §10.2.3). */
function retryAfterMs(header: string | null, clock: Clock): number | null {
  if (header === null) return null;
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - clock.epochMs());
}

function failed(fault: ModelFault, reason: string, retryAfter: number | null = null): ChatOutcome {
  return { kind: 'failed', fault, reason, retryAfterMs: retryAfter };
}
