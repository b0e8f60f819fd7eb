/**
 * Every answer's frame (contract §12): the headers that all have, and one shape for all errors, ours and Fastify's own.
 * The specification's operations get exactly `success` and `message`; new ones also code, request id and details.
 * Never a stack trace, never the text of an unexpected error.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import type { ErrorCode } from '../errors/error-codes.ts';
import { foundNoSession } from '../store/database-away.ts';
import { sentenceOf, textOfIssue } from './issue-sentence.ts';
import { Refusal } from './refusal.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** An operation of the specification: its error body has two keys and no more. */
    specified?: boolean;
    /** It takes an `Idempotency-Key`: what is repeated with it is done once. */
    once?: boolean;
  }
}

const BY_FASTIFY_CODE: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_json',
  FST_ERR_CTP_INVALID_JSON_BODY: 'invalid_json',
};

/** NUL in a text, NUL or half a surrogate pair in JSON: no fault of ours, and nothing was stored. */
const TEXT_THAT_POSTGRESQL_REFUSES = new Set(['22021', '22P05']);

/** Who waited for one of the database's sessions in vain has waited for longer than this. */
const RETRY_SECONDS = 2;

/** An id in the path that is no UUID. */
const BY_PARAMETER: Readonly<Record<string, ErrorCode>> = {
  callUuid: 'invalid_call_id',
  leadId: 'invalid_lead_id',
  importId: 'invalid_import_id',
};

export function frameAnswers(app: FastifyInstance, log: Logger): void {
  const paths = new RouteTable();
  app.addHook('onRoute', (route) => {
    paths.add(route.url, [route.method].flat());
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(frameOf(request));
    if (!request.is404) return;
    const allowed = paths.methodsOf(request.url.split('?', 1)[0] ?? '');
    if (allowed.length === 0) throw new Refusal('not_found');
    throw new Refusal('method_not_allowed', { headers: { allow: allowed.join(', ') } });
  });
  app.setNotFoundHandler((request, reply) => sendRefusal(request, reply, new Refusal('not_found')));
  app.setErrorHandler((error, request, reply) => {
    const refusal = refusalOf(error, request);
    if (refusal.status >= 500 && !(error instanceof Refusal)) {
      log.error({ requestId: request.id, route: request.routeOptions.url, err: error }, 'request failed');
    }
    // Fastify would close the connection on a body that it left unread. Then a reset may overtake the answer, and the
    // proxy before us, which bounds the body, has only a broken connection to tell of. Node
    // reads the rest and throws it away.
    return sendRefusal(request, reply.removeHeader('connection'), refusal);
  });
}

/** For requests that never reach a route or a hook, such as one whose path does not decode. */
export function answerFrameworkError(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
  sendRefusal(request, reply.headers(frameOf(request)), new Refusal('bad_request'));
}

function frameOf(request: FastifyRequest): Record<string, string> {
  return {
    'x-request-id': request.id,
    'service-version': '1',
    'cache-control': 'no-store',
    // What strangers said is in answers, and the console is of the same origin.
    'x-content-type-options': 'nosniff',
  };
}

function errorBody(request: FastifyRequest, refusal: Refusal): Record<string, unknown> {
  const body: Record<string, unknown> = { success: false, message: refusal.message };
  if (request.routeOptions.config?.specified !== true) {
    const details = refusal.details.map(({ field, issue }) => ({ field, issue: sentenceOf(field, issue) }));
    Object.assign(body, { code: refusal.code, requestId: request.id, details });
  }
  return body;
}

function sendRefusal(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  return reply
    .code(refusal.status)
    .headers({ ...refusal.headers, 'x-error-code': refusal.code })
    .serializer(JSON.stringify)
    .type('application/json; charset=utf-8')
    .send(errorBody(request, refusal));
}

function refusalOf(error: unknown, { method, routeOptions }: FastifyRequest): Refusal {
  if (error instanceof Refusal) return error;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const details = error.validation.map((issue) => ({
      field: issue.instancePath.replace(/^\//, '').replaceAll('/', '.'),
      issue: textOfIssue(issue),
    }));
    const code = details.map(({ field }) => BY_PARAMETER[field]).find((found) => found !== undefined);
    return new Refusal(code ?? 'invalid_request', { details });
  }
  const { code, statusCode } = error as Partial<FastifyError>;
  const known = code === undefined ? undefined : BY_FASTIFY_CODE[code];
  const { bodyLimit, config } = routeOptions;
  if (known === 'body_too_large' && bodyLimit !== undefined) {
    return new Refusal(known, { details: [{ field: '', issue: `may have at most ${bodyLimit} bytes` }] });
  }
  if (known !== undefined) return new Refusal(known);
  // Something may have been written before: who is told to come again must not do it twice.
  const isRepeatable = method === 'GET' || method === 'HEAD' || config?.once === true;
  if (isRepeatable && foundNoSession(error)) return new Refusal('overloaded', { retryAfterSeconds: RETRY_SECONDS });
  if (TEXT_THAT_POSTGRESQL_REFUSES.has(code ?? '')) return new Refusal('bad_request');
  return new Refusal(
    statusCode !== undefined && statusCode >= 400 && statusCode < 500 ? 'bad_request' : 'internal_error',
  );
}

/** Which methods a concrete path has, for 405 and its Allow header; Fastify only tells of patterns. */
class RouteTable {
  readonly #routes: { segments: string[]; methods: string[] }[] = [];

  add(pattern: string, methods: string[]): void {
    this.#routes.push({ segments: pattern.split('/'), methods });
  }

  methodsOf(path: string): string[] {
    const segments = path.split('/');
    const found = this.#routes.filter(
      (route) =>
        route.segments.length === segments.length &&
        route.segments.every((part, index) => part.startsWith(':') || part === segments[index]),
    );
    return [...new Set(found.flatMap((route) => route.methods))].toSorted();
  }
}
