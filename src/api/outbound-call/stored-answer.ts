/** Answers that may be stored under an Idempotency-Key: made of a refusal, and sent exactly as stored, to programs. */
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
    .send(reply.request.routeOptions.config.isSecondDoor === true ? wholeBody(reply, answer) : answer.body);
}

/** At the console every error is whole, also of operations whose errors have two keys for programs. */
function wholeBody({ request }: FastifyReply, { status, body, headers }: StoredAnswer): string {
  if (status < 400) return body;
  const { message } = JSON.parse(body) as { message: string };
  return JSON.stringify({ success: false, message, code: headers['x-error-code'], requestId: request.id, details: [] });
}

/** RFC 7240: `return=representation` among other preferences. */
export function prefersRepresentation(header: string | string[] | undefined): boolean {
  return [header ?? ''].flat().some((value) => /(?:^|[,;\s])return\s*=\s*"?representation"?/i.test(value));
}
