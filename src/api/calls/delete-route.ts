/** `DELETE /api/developer/calls/{callUuid}?kind=…` (contract §13): removes parts of a finished call, audited. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { CALL_PARTS } from '../../calls/call-parts.ts';
import { type DeleteDeps, deleteCallParts } from '../../retention/call-log-delete.ts';
import { changedBy, type Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { deletedAnswer } from './answers.ts';
import { callParams } from './call-routes.ts';

export const deleteQuery = z.object({
  kind: z
    .string({ error: `must be ${CALL_PARTS.join(', ')} (several, separated by commas) or all` })
    .transform((list) => list.split(','))
    .pipe(z.array(z.enum([...CALL_PARTS, 'all'])).max(10))
    .meta({ description: `\`${CALL_PARTS.join('`, `')}\`, several separated by commas, or \`all\`` }),
});

export function registerCallDelete(app: FastifyInstance, guard: Guard, deps: DeleteDeps): void {
  const route = routesOn(app, guard);
  route({
    method: 'delete',
    path: '/api/developer/calls/:callUuid',
    id: 'deleteCall',
    tag: 'Calls',
    summary: 'Delete parts of a call for good',
    description:
      'Recording, transcript and analysis then say `deleted`. `metadata` is what was known of the person: name, number, metadata; in stored webhook bodies too. Times and outcome stay. Keys of recordings go first, so that no copy can be read any more. Repeating it is fine.',
    scope: 'calls:write',
    right: 'calls:delete',
    params: callParams,
    query: deleteQuery,
    answers: { 200: json('They are gone.', deletedAnswer) },
    errors: ['call_live', 'legal_hold', 'invalid_call_id', 'call_not_found'],
    async handler(request) {
      const { callUuid } = request.params;
      const { kind } = request.query;
      const parts = CALL_PARTS.filter((part) => kind.includes('all') || kind.includes(part));
      const { workspaceId } = request.principal;
      const outcome = await deleteCallParts(deps, { workspaceId, callUuid, parts, by: changedBy(request) });
      if (outcome === 'unknown_call') throw new Refusal('call_not_found');
      if (outcome === 'not_over') throw new Refusal('call_live');
      if (outcome === 'held') throw new Refusal('legal_hold');
      return { success: true, callUuid, deleted: parts };
    },
  });
}
