/**
 * `/api/developer/webhooks` and below (contract §6): the URL's state, what became of deliveries, sending again, a test. The rules
 * are `src/webhooks`; the command line runs the same functions. Setting it is `src/api/webhook-settings`.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../../../media/contract/clock.ts';
import type { Database } from '../../store/database.ts';
import { DELIVERY_STATES, listDeliveries, readDelivery } from '../../webhooks/delivery-log.ts';
import { readEndpoint } from '../../webhooks/endpoint.ts';
import { switchEndpoint } from '../../webhooks/endpoint-changes.ts';
import { ALL_EVENTS } from '../../webhooks/events.ts';
import type { WebhookBell } from '../../webhooks/outbox.ts';
import {
  type Asked,
  redeliver,
  replay,
  sendTest,
  WebhookRefusal,
  type WebhookRefusalCode,
} from '../../webhooks/redelivery.ts';
import type { CursorCodec, CursorScope } from '../cursor.ts';
import type { ErrorCode } from '../error-codes.ts';
import type { Guard } from '../guard.ts';
import { anyOf, id, page } from '../query-values.ts';
import { Refusal } from '../refusal.ts';
import { shownEndpoint, webhookTag } from '../webhook-settings/webhook-setting-routes.ts';

export interface WebhookRouteDeps {
  database: Database;
  clock: Clock;
  cursors: CursorCodec;
  webhookBell: WebhookBell;
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

export function registerWebhooks(plain: FastifyInstance, guard: Guard, deps: WebhookRouteDeps): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database } = deps;
  const readable = { onRequest: guard('calls:read') };
  const writable = { onRequest: guard('webhooks:write') };

  app.get('/api/developer/webhooks', readable, async (request, reply) => {
    const endpoint = await presentEndpoint(database, request.principal.workspaceId);
    reply.header('etag', webhookTag(endpoint));
    return shownEndpoint(endpoint);
  });

  app.post('/api/developer/webhooks/enable', writable, async (request) => {
    await switchEndpoint(database, { ...askedBy(request), enabled: true });
    return shownEndpoint(await presentEndpoint(database, request.principal.workspaceId));
  });

  const listed = { ...readable, schema: { querystring: deliveriesQuery } };
  app.get('/api/developer/webhooks/deliveries', listed, async (request) => {
    const { workspaceId } = request.principal;
    const { limit, cursor, ...filters } = request.query;
    const scope: CursorScope = { kind: 'webhook-deliveries', workspaceId, filters };
    const after = cursor === undefined ? null : (deps.cursors.decode(scope, cursor)[0] ?? null);
    const rows = await listDeliveries(database, workspaceId, filters, { limit: limit + 1, after });
    const data = rows.slice(0, limit);
    const last = rows.length > limit ? data.at(-1) : undefined;
    return { data, nextCursor: last === undefined ? null : deps.cursors.encode(scope, [last.id]) };
  });

  app.get(
    '/api/developer/webhooks/deliveries/:deliveryId',
    { ...readable, schema: { params: deliveryParams } },
    (request) => shownDelivery(database, request.principal.workspaceId, request.params.deliveryId),
  );

  app.post(
    '/api/developer/webhooks/deliveries/:deliveryId/redeliver',
    { ...writable, schema: { params: deliveryParams } },
    async (request, reply) => {
      const { workspaceId } = request.principal;
      const { deliveryId } = request.params;
      await refusing(redeliver(database, askedBy(request), deliveryId));
      deps.webhookBell.ring([deliveryId]);
      return reply.code(202).send({ success: true, delivery: await shownDelivery(database, workspaceId, deliveryId) });
    },
  );

  app.post('/api/developer/webhooks/replay', { ...writable, schema: { body: replayBody } }, async (request, reply) => {
    const { count, deliveryIds, nextFrom } = await refusing(replay(database, askedBy(request), request.body));
    deps.webhookBell.ring(deliveryIds);
    return reply.code(202).send({ success: true, count, nextFrom });
  });

  app.post('/api/developer/webhooks/test', writable, async (request, reply) => {
    const { workspaceId, slug } = request.principal;
    const deliveryId = await refusing(sendTest(database, { ...askedBy(request), enterprise: slug }, deps.clock));
    deps.webhookBell.ring([deliveryId]);
    return reply.code(202).send({ success: true, delivery: await shownDelivery(database, workspaceId, deliveryId) });
  });
}

function askedBy(request: FastifyRequest): Asked {
  const { keyId, workspaceId } = request.principal;
  return { workspaceId, by: { actor: `key:${keyId}`, ip: request.ip, requestId: request.id } };
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
