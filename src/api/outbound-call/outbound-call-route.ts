/**
 * `POST /api/outbound-call`: the decision table of contract §2, top to bottom. Steps 1 and 2 are the guard's, before the
 * body is read; step 3 is Fastify's parser and the first lines here; 4 to 13 make no call. Placement does the rest.
 */
import type { FastifyInstance } from 'fastify';
import { isTooDeep } from '../../../media/contract/json-depth.ts';
import { changedBy, type Guard } from '../guard.ts';
import { Refusal } from '../refusal.ts';
import { answerOnce, idempotencyKeyOf } from './idempotent-exchange.ts';
import { type PlacingDeps, placeAndAnswer } from './place-and-answer.ts';
import { readOutboundCall } from './request-body.ts';
import { answeringRefusals, prefersRepresentation, sendStored } from './stored-answer.ts';

const PATH = '/api/outbound-call';
const METHOD_PATH = `POST ${PATH}`;

export function registerOutboundCall(app: FastifyInstance, guard: Guard, deps: PlacingDeps): void {
  app.post(PATH, { onRequest: guard('calls:write'), config: { specified: true } }, async (request, reply) => {
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
    const answer = await answerOnce(deps, scope, body, () =>
      answeringRefusals(() =>
        placeAndAnswer(deps, {
          ...call,
          principal,
          lead: null,
          idempotencyKey,
          idempotencyPath: METHOD_PATH,
          requestId: request.id,
          by: changedBy(request),
          fullAnswer: prefersRepresentation(request.headers['prefer']),
        }),
      ),
    );
    return sendStored(reply, answer);
  });
}
