/**
 * Answers a request once per `Idempotency-Key` (contract §2); without the header nothing is kept. The first request
 * with a key runs; a repeat gets the stored answer, or is told why there is none. Routes come here with a body that
 * they have understood, do the work themselves, and settle with its answer.
 *
 *   2xx, and what judged the call itself (steps 10, 11 and 14)   → stored
 *   all else: not understood after all, 429, 5xx                 → key released, for the mended or repeated request
 *   submission unknown                                           → key held until settled
 */
import type { Logger } from 'pino';
import { CARRIER_REFUSAL_CODES, type ErrorCode } from '../../errors/error-codes.ts';
import type { Queryable } from '../../store/database.ts';
import {
  beginIdempotent,
  finishIdempotent,
  holdIdempotent,
  holdIfCallExists,
  type IdempotencyScope,
  releaseIdempotent,
  type StoredAnswer,
} from '../../store/idempotency-keys.ts';
import { Refusal } from '../refusal.ts';
import { bodySha256 } from './canonical-json.ts';
import { type Answer, refusedAnswer } from './stored-answer.ts';

/**
 * Asked again, the same request is refused the same way: what it names is not there, must not be called, or was refused
 * by the carrier.
 */
const JUDGED: ReadonlySet<string> = new Set<ErrorCode>([
  'agent_not_found',
  'agent_not_outbound',
  'lead_not_found',
  'blocked_suppressed',
  'blocked_time_window',
  'blocked_country',
  'blocked_destination',
  'do_not_contact',
  ...CARRIER_REFUSAL_CODES,
]);
const KEY = /^"?([A-Za-z0-9_-]{1,255})"?$/;
const RETRY_RUNNING_SECONDS = 1;
const RETRY_UNKNOWN_SECONDS = 5;

/** Null without the header; throws on a malformed one. The draft's quotes around the key are accepted. */
export function idempotencyKeyOf(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const text = Array.isArray(header) ? header.join(',') : header;
  const key = KEY.exec(text)?.[1];
  if (key === undefined || text.startsWith('"') !== text.endsWith('"')) throw new Refusal('invalid_idempotency_key');
  return key;
}

/** The answer that is stored under the key, or the one that is about to be made. */
export type Exchange =
  | { answer: StoredAnswer }
  | {
      answer: null;
      /** Stores what `work` resolves with and resolves with it; rejects as it does. */
      settle(work: Promise<Answer>): Promise<StoredAnswer>;
    };

/** Begins a request's only exchange under its key; the caller then answers with `answer`, or does the work. */
export async function beginExchange(
  deps: { database: Queryable; log: Logger },
  scope: IdempotencyScope | null,
  body: unknown,
): Promise<Exchange> {
  if (scope === null) return { answer: null, settle: (work) => work };
  const start = await beginIdempotent(deps.database, scope, bodySha256(body));
  switch (start.kind) {
    case 'replay':
      return { answer: { ...start.answer, headers: { ...start.answer.headers, 'idempotent-replayed': 'true' } } };
    case 'running':
      throw new Refusal('request_in_progress', { retryAfterSeconds: RETRY_RUNNING_SECONDS });
    case 'unknown':
      throw new Refusal('idempotency_state_unknown', { retryAfterSeconds: RETRY_UNKNOWN_SECONDS });
    case 'mismatch':
      throw new Refusal('idempotency_key_reused');
    case 'started':
      return { answer: null, settle: (work) => settle(deps, scope, work) };
  }
}

async function settle(
  deps: { database: Queryable; log: Logger },
  scope: IdempotencyScope,
  work: Promise<Answer>,
): Promise<StoredAnswer> {
  let answer: Answer;
  try {
    answer = await work;
  } catch (error) {
    // A throw says nothing of the carrier: only a key under which no call was begun may be used again.
    await settleQuietly(deps.log, scope, async () => {
      if (!(await holdIfCallExists(deps.database, scope))) await releaseIdempotent(deps.database, scope);
    });
    throw error;
  }
  await settleQuietly(deps.log, scope, () => {
    if (answer.outcomeUnknown && answer.callUuid !== null) return holdIdempotent(deps.database, scope, answer.callUuid);
    return isFinal(answer)
      ? finishIdempotent(deps.database, scope, answer, answer.callUuid)
      : releaseIdempotent(deps.database, scope);
  });
  return answer;
}

/** A refusal as an answer, so that a final one can be stored under the key. */
export async function orRefused(work: Promise<Answer>): Promise<Answer> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Refusal) return refusedAnswer(error, null);
    throw error;
  }
}

function isFinal({ status, headers }: StoredAnswer): boolean {
  return status < 400 || JUDGED.has(headers['x-error-code'] ?? '');
}

/** The client's answer stands even when the key cannot be written: a key left running is resolved by its call later. */
async function settleQuietly(log: Logger, scope: IdempotencyScope, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    log.error({ workspaceId: scope.workspaceId, err: error }, 'an idempotency key could not be settled');
  }
}
