/**
 * `POST /api/outbound-call`: the decision table of contract §2, top to bottom. Steps 1 and 2 are the guard's, before
 * the body is read; step 3 is Fastify's parser and the first lines here; 4 to 13 make no call. Placement does the rest.
 */
import type { FastifyInstance } from 'fastify';
import { isTooDeep } from '../../../media/contract/json-depth.ts';
import { changedBy, type Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { PLACED_HEADERS, PLACING_CODES, PLACING_HEADERS, placedAnswer } from './answers.ts';
import { beginExchange, idempotencyKeyOf, orRefused } from './idempotent-exchange.ts';
import { type PlacingDeps, placeAndAnswer } from './place-and-answer.ts';
import { outboundCallBody, readOutboundCall } from './request-body.ts';
import { prefersRepresentation, sendStored } from './stored-answer.ts';

const PATH = '/api/outbound-call';
const METHOD_PATH = `POST ${PATH}`;

export function registerOutboundCall(app: FastifyInstance, guard: Guard, deps: PlacingDeps): void {
  const route = routesOn(app, guard);
  route({
    method: 'post',
    path: PATH,
    id: 'placeCall',
    tag: 'Calls',
    summary: 'Call a phone number and hand the conversation to an agent',
    description:
      'Answers as soon as the carrier has taken the call. Follow it by its events, read it from the call log, or wait for the webhook. A 500 with `submission_unknown` may ring: repeat it with the same Idempotency-Key only.',
    scope: 'calls:write',
    specified: true,
    once: true,
    headers: PLACING_HEADERS,
    ownBody: outboundCallBody,
    answers: { 200: json('The carrier has taken the call.', placedAnswer, PLACED_HEADERS) },
    errors: [
      'missing_fields',
      'invalid_from',
      'invalid_to',
      'invalid_agentId',
      'invalid_name',
      'invalid_metadata',
      ...PLACING_CODES,
    ],
    async handler(request, reply) {
      if (request.headers['content-type'] === undefined) throw new Refusal('unsupported_media_type');
      if (request.body === undefined || isTooDeep(request.body)) throw new Refusal('invalid_json');
      const { principal, body } = request;
      const idempotencyKey = idempotencyKeyOf(request.headers['idempotency-key']);
      // What was not understood, or is not the key's, leaves its Idempotency-Key free for the mended request.
      const read = readOutboundCall(body);
      if (!read.ok) throw new Refusal(read.code);
      const { enterprise, ...call } = read.call;
      if (enterprise !== principal.slug) throw new Refusal('unauthorized');
      const scope =
        idempotencyKey === null
          ? null
          : { workspaceId: principal.workspaceId, methodPath: METHOD_PATH, key: idempotencyKey };
      const exchange = await beginExchange(deps, scope, body);
      if (exchange.answer !== null) return sendStored(reply, exchange.answer);
      const placed = placeAndAnswer(deps, {
        ...call,
        principal,
        lead: null,
        idempotencyKey,
        idempotencyPath: METHOD_PATH,
        requestId: request.id,
        by: changedBy(request),
        fullAnswer: prefersRepresentation(request.headers['prefer']),
      });
      return sendStored(reply, await exchange.settle(orRefused(placed)));
    },
  });
}
