/**
 * A carrier's REST API as far as a call needs it: authorised requests, JSON answers, five seconds, and an answer that
 * comes later is heard all the same. Each carrier makes one for each line's credentials. It repeats nothing: whether a
 * request may be sent again is its caller's to know. Neither the credentials nor a whole phone number leave it in an
 * error or a text.
 */
import { createRequire } from 'node:module';
import type { Dispatcher } from 'undici';
import { type Clock, systemClock } from '../../media/contract/clock.ts';
import { type HttpAnswer, startExchange } from './http-exchange.ts';

/** What all carriers' clients share. */
export interface RestDeps {
  /** Owned by whoever made it. Its own time-outs must be longer than `lateAnswerMs`. */
  dispatcher: Dispatcher;
  clock: Clock;
  /** How long an answer is waited for. */
  totalTimeoutMs: number;
  /** How long, from the request's start, an answer that missed `totalTimeoutMs` is still listened for. */
  lateAnswerMs: number;
}

export interface RestClientOptions extends RestDeps {
  /** `https://api.example.com`, or an emulator's; a path in it is kept as prefix. */
  apiBase: string;
  /** Below it, where all paths begin; begins and ends with a slash. */
  root: string;
  /** The header's value. */
  authorization: string;
  /** What must be in no text, the header apart. */
  secrets: readonly string[];
}

export interface RestAnswer {
  status: number;
  retryAfterSeconds: number | null;
  /** The carrier's clock, to the second; null without a Date header. */
  dateEpochMs: number | null;
  /** The JSON object that came, or an empty one. */
  body: Record<string, unknown>;
  /** The carrier's own words (its field `error` or `message`), without secrets and numbers, at most 200 characters. */
  errorText: string;
}

export type RestResult =
  | { kind: 'answered'; answer: RestAnswer }
  /** No connection was made: the request was certainly not read. `code` is the system's, e.g. `ECONNREFUSED`. */
  | { kind: 'unsent'; code: string }
  /** It may have been read. `late` gives an answer that comes after all, else null. */
  | { kind: 'unanswered'; why: string; late: Promise<RestAnswer | null> };

export interface RestClient {
  /** `path` stands below `root`; empty for the root itself. A body is sent as JSON. */
  request(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: Record<string, unknown>): Promise<RestResult>;
}

const CONNECT_TIMEOUT_MS = 2_000;
const TOTAL_TIMEOUT_MS = 5_000;
const LATE_ANSWER_MS = 60_000;
/** Longer than a late answer is listened for, so that the pool's own time-outs never decide. */
const POOL_TIMEOUT_MS = 65_000;
const MAX_ERROR_CHARS = 200;
const MAX_RETRY_AFTER_SECONDS = 3_600;

let sharedPool: Dispatcher | null = null;

/**
 * What the carriers of the service are made with. One pool for every line of every carrier: undici keeps the
 * connections apart by host, and an idle one does not keep the process alive. It is made, and undici read, with the
 * first line: a start need not wait for it.
 */
export const SHARED_REST: RestDeps = {
  get dispatcher() {
    sharedPool ??= createPool();
    return sharedPool;
  },
  clock: systemClock,
  totalTimeoutMs: TOTAL_TIMEOUT_MS,
  lateAnswerMs: LATE_ANSWER_MS,
};

function createPool(): Dispatcher {
  const { Agent } = createRequire(import.meta.url)('undici') as typeof import('undici');
  return new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: POOL_TIMEOUT_MS,
    bodyTimeout: POOL_TIMEOUT_MS,
  });
}

export function basicAuthorization(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

export function createRestClient(options: RestClientOptions): RestClient {
  const { dispatcher, clock, authorization } = options;
  const base = new URL(options.apiBase);
  const prefix = base.pathname.replace(/\/+$/, '') + options.root;
  const secrets = [...options.secrets, authorization];
  const toRestAnswer = (answer: HttpAnswer): RestAnswer => restAnswer(answer, secrets, clock);

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
