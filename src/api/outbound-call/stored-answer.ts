/** Answers that may be stored under an Idempotency-Key: made of a refusal, and sent exactly as stored. */
import type { FastifyReply } from 'fastify';
import type { StoredAnswer } from '../../store/idempotency-keys.ts';
import type { Refusal } from '../refusal.ts';

export interface Answer extends StoredAnswer {
  callUuid: string | null;
  /** True when nobody knows yet whether the carrier dialled. */
  outcomeUnknown: boolean;
}

/** The specification's two keys; the code and the call ride in headers. */
export function refusedAnswer(refusal: Refusal, callUuid: string | null): Answer {
  return {
    status: refusal.status,
    body: JSON.stringify({ success: false, message: refusal.message }),
    headers: {
      ...refusal.headers,
      'x-error-code': refusal.code,
      ...(callUuid === null ? {} : { 'x-call-uuid': callUuid }),
    },
    callUuid,
    outcomeUnknown: false,
  };
}

export function sendStored(reply: FastifyReply, answer: StoredAnswer): FastifyReply {
  return reply
    .code(answer.status)
    .headers(answer.headers)
    .type('application/json; charset=utf-8')
    .serializer((text: unknown) => String(text))
    .send(answer.body);
}

/** RFC 7240: `return=representation` among other preferences. */
export function prefersRepresentation(header: string | string[] | undefined): boolean {
  return [header ?? ''].flat().some((value) => /(?:^|[,;\s])return\s*=\s*"?representation"?/i.test(value));
}
