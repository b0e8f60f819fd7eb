/** `DELETE /api/developer/calls/{callUuid}?kind=…` (contract §13): removes parts of a finished call, audited. */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type DeleteDeps, deleteCallParts } from '../../calls/call-log-delete.ts';
import { CALL_PARTS } from '../../calls/call-parts.ts';
import type { Guard } from '../guard.ts';
import { Refusal } from '../refusal.ts';
import { callParams } from './call-routes.ts';

export const deleteQuery = z.object({
  kind: z
    .string({ error: `must be ${CALL_PARTS.join(', ')} (several, separated by commas) or all` })
    .transform((list) => list.split(','))
    .pipe(z.array(z.enum([...CALL_PARTS, 'all'])).max(10))
    .meta({ description: `\`${CALL_PARTS.join('`, `')}\`, several separated by commas, or \`all\`` }),
});

export function registerCallDelete(plain: FastifyInstance, guard: Guard, deps: DeleteDeps): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const options = { onRequest: guard('calls:write'), schema: { params: callParams, querystring: deleteQuery } };
  app.delete('/api/developer/calls/:callUuid', options, async (request) => {
    const { callUuid } = request.params;
    const { kind } = request.query;
    const parts = CALL_PARTS.filter((part) => kind.includes('all') || kind.includes(part));
    const { workspaceId, keyId } = request.principal;
    const by = { actor: `key:${keyId}` as const, ip: request.ip, requestId: request.id };
    const outcome = await deleteCallParts(deps, { workspaceId, callUuid, parts, by });
    if (outcome === 'unknown_call') throw new Refusal('call_not_found');
    if (outcome === 'live') throw new Refusal('call_live');
    if (outcome === 'held') throw new Refusal('legal_hold');
    return { success: true, callUuid, deleted: parts };
  });
}
