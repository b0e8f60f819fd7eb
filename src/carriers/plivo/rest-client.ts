/**
 * Plivo's REST API as far as a call needs it: HTTP Basic, JSON, a trailing slash, five seconds. Called by the Plivo carrier.
 * It repeats nothing: whether a request may be sent again is its caller's to know. Neither the credentials nor a whole
 * phone number leave it in an error or a text.
 */
import type { Dispatcher } from 'undici';
import type { Clock } from '../../../media/contract/clock.ts';
import { type HttpAnswer, startExchange } from './http-exchange.ts';

export interface PlivoRestOptions {
  /** `https://api.plivo.com`, or an emulator's; a path in it is kept as prefix. */
  apiBase: string;
  authId: string;
  authToken: string;
  /** Owned by whoever made it. Its own time-outs must be longer than `lateAnswerMs`. */
  dispatcher: Dispatcher;
  clock: Clock;
  /** How long an answer is waited for. */
  totalTimeoutMs: number;
  /** How long, from the request's start, an answer that missed `totalTimeoutMs` is still listened for. */
  lateAnswerMs: number;
}

export interface RestAnswer {
  status: number;
  retryAfterSeconds: number | null;
  /** Plivo's clock, to the second; null without a Date header. */
  dateEpochMs: number | null;
  /** The JSON object that came, or an empty one. */
  body: Record<string, unknown>;
  /** Plivo's own words, without secrets and numbers, at most 200 characters. */
  errorText: string;
}

export type RestResult =
  | { kind: 'answered'; answer: RestAnswer }
  /** No connection was made: the request was certainly not read. `code` is the system's, e.g. `ECONNREFUSED`. */
  | { kind: 'unsent'; code: string }
  /** It may have been read. `late` gives an answer that comes after all, else null. */
  | { kind: 'unanswered'; why: string; late: Promise<RestAnswer | null> };

export interface PlivoRestClient {
  /** `path` stands below the account, e.g. `Call/`; it must end in a slash, before the query if there is one; empty for the account itself. */
  request(method: 'GET' | 'POST' | 'DELETE', path: string, body?: Record<string, unknown>): Promise<RestResult>;
}

const MAX_ERROR_CHARS = 200;
const MAX_RETRY_AFTER_SECONDS = 3_600;

export function createPlivoRestClient(options: PlivoRestOptions): PlivoRestClient {
  const { dispatcher, clock } = options;
  const base = new URL(options.apiBase);
  const prefix = `${base.pathname.replace(/\/+$/, '')}/v1/Account/${encodeURIComponent(options.authId)}/`;
  const authorization = `Basic ${Buffer.from(`${options.authId}:${options.authToken}`).toString('base64')}`;
  const toRestAnswer = (answer: HttpAnswer): RestAnswer =>
    restAnswer(answer, [options.authToken, authorization], clock);

  return {
    request(method, path, body) {
      const headers: Record<string, string> = { authorization, accept: 'application/json', 'user-agent': 'parley' };
      if (body !== undefined) headers['content-type'] = 'application/json';
      const text = body === undefined ? null : JSON.stringify(body);
      const exchange = startExchange(dispatcher, {
        origin: base.origin,
        path: prefix + path,
        method,
        headers,
        body: text,
      });

      return new Promise<RestResult>((resolve) => {
        let timedOut = false;
        let tellLate: (answer: RestAnswer | null) => void = () => {};
        const cancelTimeout = clock.after(options.totalTimeoutMs, () => {
          if (!exchange.wasSent()) return exchange.abort();
          timedOut = true;
          const late = new Promise<RestAnswer | null>((tell) => {
            tellLate = tell;
          });
          resolve({ kind: 'unanswered', why: `no answer within ${options.totalTimeoutMs} ms`, late });
        });
        const cancelLate = clock.after(options.lateAnswerMs, exchange.abort);
        const settled = (): void => {
          cancelTimeout();
          cancelLate();
        };
        exchange.answer.then(
          (answer) => {
            settled();
            const parsed = toRestAnswer(answer);
            if (timedOut) tellLate(parsed);
            else resolve({ kind: 'answered', answer: parsed });
          },
          (error: unknown) => {
            settled();
            const code = codeOf(error);
            if (timedOut) tellLate(null);
            else if (!exchange.wasSent()) resolve({ kind: 'unsent', code });
            else resolve({ kind: 'unanswered', why: `connection lost (${code})`, late: Promise.resolve(null) });
          },
        );
      });
    },
  };
}

function restAnswer(answer: HttpAnswer, secrets: string[], clock: Clock): RestAnswer {
  let body: Record<string, unknown> = {};
  try {
    const parsed: unknown = JSON.parse(answer.body);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) body = { ...parsed };
  } catch {
    // A proxy's page or plain text: the status says enough.
  }
  const said = body['error'] ?? body['message'] ?? '';
  return {
    status: answer.status,
    retryAfterSeconds: retryAfterOf(answer.headers['retry-after'], clock),
    dateEpochMs: dateOf(answer.headers['date']),
    body,
    errorText: withoutSecrets(typeof said === 'string' ? said : JSON.stringify(said), secrets),
  };
}

/** Seconds, or an HTTP date (RFC 9110 §10.2.3). Between 1 and 3600. */
function retryAfterOf(header: string | undefined, clock: Clock): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - clock.epochMs()) / 1000;
  return Number.isFinite(seconds) ? Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, Math.ceil(seconds))) : null;
}

function dateOf(header: string | undefined): number | null {
  const epochMs = Date.parse(header ?? '');
  return Number.isNaN(epochMs) ? null : epochMs;
}

function withoutSecrets(text: string, secrets: string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret !== '') clean = clean.replaceAll(secret, '[secret]');
  return clean
    .replace(/\d{5,}(?=\d{2})/g, '…')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_ERROR_CHARS);
}

/** A system or undici error code; never the message, which may quote what was sent. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string') return code;
  const [first]: unknown[] = error instanceof AggregateError ? error.errors : [];
  return first === undefined ? error.name : codeOf(first);
}
