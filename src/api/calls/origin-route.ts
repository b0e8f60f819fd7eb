/** `GET /api/developer/calls/{callUuid}/request`: the request that made a call. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { readCallOrigin } from '../../call-log/call-origin.ts';
import { readCall } from '../../calls/call-row.ts';
import { publicMetadata } from '../../calls/shown-fields.ts';
import type { Database } from '../../store/database.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { time } from '../openapi/shared-answers.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { callParams } from './call-routes.ts';

const callRequestAnswer = z
  .strictObject({
    requestId: z.string().describe('`X-Request-Id` of its answer'),
    operation: z.string().nullable().describe('Known where an Idempotency-Key was sent'),
    idempotencyKey: z.string().nullable(),
    at: time,
    actor: z.string().nullable().describe('`key:` and its public id, `user:` and the id of a person, …'),
    actorName: z.string().nullable().describe('What the key or the person is called'),
    ip: z.string().nullable().describe('For whoever may read the audit'),
    body: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('What would place the same call again: as the call has it now, without `secret.*`. Null: no such call'),
  })
  .meta({ id: 'CallRequest' });

export function registerCallOrigin(app: FastifyInstance, guard: Guard, { database }: { database: Database }): void {
  const route = routesOn(app, guard);
  route({
    method: 'get',
    path: '/api/developer/calls/:callUuid/request',
    id: 'readCallRequest',
    tag: 'Calls',
    summary: 'The request that made a call',
    description: 'Whose it was, when, under which Idempotency-Key, and what places the same call again.',
    scope: 'calls:read',
    params: callParams,
    answers: { 200: json('The request.', callRequestAnswer) },
    errors: ['invalid_call_id', 'call_not_found'],
    async handler(request) {
      const { workspaceId, scopes } = request.principal;
      const { callUuid } = request.params;
      const call = await readCall(database, workspaceId, callUuid);
      const origin = await readCallOrigin(database, { workspaceId, callUuid });
      if (call === undefined || origin === undefined) throw new Refusal('call_not_found');
      const isPlaced = call.channel === 'phone' && call.direction === 'outbound';
      return {
        ...origin,
        ip: scopes.includes('audit:read') ? origin.ip : null,
        body: isPlaced
          ? {
              to: call.toNumber,
              agentId: call.agentId,
              enterprise: call.enterprise,
              from: call.lineId,
              name: call.name,
              metadata: publicMetadata(call.metadata),
            }
          : null,
      };
    },
  });
}
