/**
 * Answers a request once per `Idempotency-Key` (contract §2). Without the header it only runs the work. The first request
 * with a key runs; a repeat gets the stored answer, or is told why there is none. Used by the outbound-call route.
 *
 *   200 and final 4xx → stored        429, 5xx → key released        submission unknown → key held until settled
 */
import type { Logger } from 'pino';
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

export interface Answer extends StoredAnswer {
  callUuid: string | null;
  /** True when nobody knows yet whether the carrier dialled. */
  outcomeUnknown: boolean;
}

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

export async function answerOnce(
  deps: { database: Queryable; log: Logger },
  scope: IdempotencyScope | null,
  body: unknown,
  work: () => Promise<Answer>,
): Promise<StoredAnswer> {
  if (scope === null) return work();
  const start = await beginIdempotent(deps.database, scope, bodySha256(body));
  switch (start.kind) {
    case 'replay':
      return { ...start.answer, headers: { ...start.answer.headers, 'idempotent-replayed': 'true' } };
    case 'running':
      throw new Refusal('request_in_progress', { retryAfterSeconds: RETRY_RUNNING_SECONDS });
    case 'unknown':
      throw new Refusal('idempotency_state_unknown', { retryAfterSeconds: RETRY_UNKNOWN_SECONDS });
    case 'mismatch':
      throw new Refusal('idempotency_key_reused');
    case 'started':
      break;
  }
  let answer: Answer;
  try {
    answer = await work();
  } catch (error) {
    // A throw says nothing of the carrier: only a key under which no call was begun may be used again.
    await settleQuietly(deps.log, scope, async () => {
      if (!(await holdIfCallExists(deps.database, scope))) await releaseIdempotent(deps.database, scope);
    });
    throw error;
  }
  await settleQuietly(deps.log, scope, () => {
    if (answer.outcomeUnknown && answer.callUuid !== null) return holdIdempotent(deps.database, scope, answer.callUuid);
    if (answer.status === 429 || answer.status >= 500) return releaseIdempotent(deps.database, scope);
    return finishIdempotent(deps.database, scope, answer, answer.callUuid);
  });
  return answer;
}

/** The client's answer stands even when the key cannot be written: a key left running is resolved by its call later. */
async function settleQuietly(log: Logger, scope: IdempotencyScope, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    log.error({ workspaceId: scope.workspaceId, err: error }, 'an idempotency key could not be settled');
  }
}
