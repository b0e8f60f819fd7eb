/**
 * `/api/developer/webhooks` and below (contract §6): the URL's state, what became of deliveries, sending again, a test.
 * The rules are `src/webhooks`; the command line runs the same functions. Setting it is `src/api/webhook-settings`.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../../../media/contract/clock.ts';
import type { ErrorCode } from '../../errors/error-codes.ts';
import type { Database } from '../../store/database.ts';
import { DELIVERY_STATES, listDeliveries, readDelivery } from '../../webhooks/delivery-log.ts';
import { readEndpoint } from '../../webhooks/endpoint.ts';
import { switchEndpoint } from '../../webhooks/endpoint-changes.ts';
import { ALL_EVENTS } from '../../webhooks/events.ts';
import type { WebhookDispatcher } from '../../webhooks/outbox.ts';
import {
  type Asked,
  redeliver,
  replay,
  sendTest,
  WebhookRefusal,
  type WebhookRefusalCode,
} from '../../webhooks/redelivery.ts';
import type { CursorCodec, CursorScope } from '../cursor.ts';
import { changedBy, type Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { anyOf, id, page } from '../query-values.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { shownEndpoint, webhookTag } from '../webhook-settings/webhook-setting-routes.ts';
import { deliveriesAnswer, deliveryAnswer, endpointAnswer, replayAnswer, sentAnswer } from './answers.ts';

export interface WebhookRouteDeps {
  database: Database;
  clock: Clock;
  cursors: CursorCodec;
  webhookDispatcher: WebhookDispatcher;
}

const instant = z.iso
  .datetime({ offset: true, error: 'must be a time like 2026-11-21T01:05:00Z' })
  .transform((text) => new Date(text));

export const deliveryParams = z.object({ deliveryId: id });

export const deliveriesQuery = z.object({
  callUuid: anyOf(id, 'Of this call'),
  event: anyOf(z.enum(ALL_EVENTS), 'Which event'),
  state: anyOf(z.enum(DELIVERY_STATES), 'What became of it'),
  ...page(),
});

export const replayBody = z
  .strictObject({
    from: instant.optional().meta({ description: 'Events written at this time or later' }),
    to: instant.optional().meta({ description: 'Events written before this time' }),
    events: z.array(z.enum(ALL_EVENTS)).min(1).max(ALL_EVENTS.length).optional(),
    callUuids: z.array(id).min(1).max(1_000).optional(),
    states: z
      .array(z.enum(DELIVERY_STATES))
      .min(1)
      .max(DELIVERY_STATES.length)
      .optional()
      .meta({ description: 'Only those whose delivery is in one of these states; without it all are sent again' }),
  })
  .refine((body) => body.from !== undefined || body.callUuids !== undefined, {
    path: ['from'],
    error: 'is needed, or callUuids: a replay of everything is hardly meant',
  })
  .meta({ id: 'WebhookReplayRequest' });

const CODE_OF: Readonly<Record<WebhookRefusalCode, ErrorCode>> = {
  not_set: 'webhook_not_set',
  disabled: 'webhook_disabled',
  not_found: 'delivery_not_found',
  body_gone: 'webhook_too_old',
};

export function registerWebhooks(app: FastifyInstance, guard: Guard, deps: WebhookRouteDeps): void {
  const route = routesOn(app, guard);
  const { database } = deps;

  route({
    method: 'get',
    path: '/api/developer/webhooks',
    id: 'readWebhook',
    tag: 'Webhooks',
    summary: 'The webhook URL and its state',
    description: 'Its secret is shown once, to whoever sets the URL.',
    scope: 'calls:read',
    answers: { 200: json('The URL.', endpointAnswer, { ETag: 'Of this state, for If-Match' }) },
    errors: ['webhook_not_set'],
    async handler(request, reply) {
      const endpoint = await presentEndpoint(database, request.principal.workspaceId);
      reply.header('etag', webhookTag(endpoint));
      return shownEndpoint(endpoint);
    },
  });

  route({
    method: 'post',
    path: '/api/developer/webhooks/enable',
    id: 'enableWebhook',
    tag: 'Webhooks',
    summary: 'Switch the URL on, close its breaker and send what waits',
    description: 'Within 5 s; also what was given up since it began to fail. Without effect when it is on and well.',
    scope: 'webhooks:write',
    answers: { 200: json('The URL.', endpointAnswer) },
    errors: ['webhook_not_set'],
    async handler(request) {
      await switchEndpoint(database, { ...askedBy(request), enabled: true });
      return shownEndpoint(await presentEndpoint(database, request.principal.workspaceId));
    },
  });

  route({
    method: 'get',
    path: '/api/developer/webhooks/deliveries',
    id: 'listWebhookDeliveries',
    tag: 'Webhooks',
    summary: 'What became of webhooks',
    description: 'Newest first.',
    scope: 'calls:read',
    query: deliveriesQuery,
    answers: { 200: json('A page.', deliveriesAnswer) },
    errors: ['invalid_call_id', 'invalid_cursor'],
    async handler(request) {
      const { workspaceId } = request.principal;
      const { limit, cursor, ...filters } = request.query;
      const scope: CursorScope = { kind: 'webhook-deliveries', workspaceId, filters };
      const after = cursor === undefined ? null : (deps.cursors.decode(scope, cursor)[0] ?? null);
      const rows = await listDeliveries(database, workspaceId, filters, { limit: limit + 1, after });
      const data = rows.slice(0, limit);
      const last = rows.length > limit ? data.at(-1) : undefined;
      return { data, nextCursor: last === undefined ? null : deps.cursors.encode(scope, [last.id]) };
    },
  });

  route({
    method: 'get',
    path: '/api/developer/webhooks/deliveries/:deliveryId',
    id: 'readWebhookDelivery',
    tag: 'Webhooks',
    summary: 'One delivery with its attempts',
    description: 'What the event said is in the call log.',
    scope: 'calls:read',
    params: deliveryParams,
    answers: { 200: json('The delivery.', deliveryAnswer) },
    errors: ['delivery_not_found'],
    handler: (request) => shownDelivery(database, request.principal.workspaceId, request.params.deliveryId),
  });

  route({
    method: 'post',
    path: '/api/developer/webhooks/deliveries/:deliveryId/redeliver',
    id: 'redeliverWebhook',
    tag: 'Webhooks',
    summary: 'Send one again',
    description: 'Under the same `webhook-id`, with a whole schedule of attempts before it.',
    scope: 'webhooks:write',
    right: 'webhooks:resend',
    params: deliveryParams,
    answers: { 202: json('It is being sent.', sentAnswer) },
    errors: ['delivery_not_found', 'webhook_too_old', 'webhook_not_set', 'webhook_disabled'],
    async handler(request, reply) {
      const { workspaceId } = request.principal;
      const { deliveryId } = request.params;
      await refusing(redeliver(database, askedBy(request), deliveryId));
      deps.webhookDispatcher.dispatch([deliveryId]);
      return reply.code(202).send({ success: true, delivery: await shownDelivery(database, workspaceId, deliveryId) });
    },
  });

  route({
    method: 'post',
    path: '/api/developer/webhooks/replay',
    id: 'replayWebhooks',
    tag: 'Webhooks',
    summary: 'Send many again',
    description:
      'All events of a time, of some kinds or calls, also those from before the URL was set; at most 10,000 at once. Under the same `webhook-id`: a receiver that remembers ids works off only what it missed.',
    scope: 'webhooks:write',
    body: replayBody,
    answers: { 202: json('They are being sent.', replayAnswer) },
    errors: ['webhook_not_set', 'webhook_disabled'],
    async handler(request, reply) {
      const { count, deliveryIds, nextFrom } = await refusing(replay(database, askedBy(request), request.body));
      deps.webhookDispatcher.dispatch(deliveryIds);
      return reply.code(202).send({ success: true, count, nextFrom });
    },
  });

  route({
    method: 'post',
    path: '/api/developer/webhooks/test',
    id: 'testWebhook',
    tag: 'Webhooks',
    summary: 'Send a `webhook.test`',
    description: 'Tried once. Read the delivery for its outcome.',
    scope: 'webhooks:write',
    answers: { 202: json('It is being sent.', sentAnswer) },
    errors: ['webhook_not_set', 'webhook_disabled'],
    async handler(request, reply) {
      const { workspaceId, slug } = request.principal;
      const deliveryId = await refusing(sendTest(database, { ...askedBy(request), enterprise: slug }, deps.clock));
      deps.webhookDispatcher.dispatch([deliveryId]);
      return reply.code(202).send({ success: true, delivery: await shownDelivery(database, workspaceId, deliveryId) });
    },
  });
}

function askedBy(request: FastifyRequest): Asked {
  return { workspaceId: request.principal.workspaceId, by: changedBy(request) };
}

async function refusing<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof WebhookRefusal ? new Refusal(CODE_OF[error.code]) : error;
  }
}

async function shownDelivery(database: Database, workspaceId: string, deliveryId: string) {
  const delivery = await readDelivery(database, workspaceId, deliveryId);
  if (delivery === null) throw new Refusal('delivery_not_found');
  return delivery;
}

async function presentEndpoint(database: Database, workspaceId: string) {
  const endpoint = await readEndpoint(database, workspaceId);
  if (endpoint === null) throw new Refusal('webhook_not_set');
  return endpoint;
}
