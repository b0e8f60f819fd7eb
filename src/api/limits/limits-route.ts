/** `GET /api/developer/limits` (contract §15, Capacity): what the workspace and its lines may use, and use now. */
import type { FastifyInstance } from 'fastify';
import { readCapacity } from '../../limits/capacity.ts';
import type { Queryable } from '../../store/database.ts';
import type { Guard } from '../guard.ts';

export function registerLimits(app: FastifyInstance, guard: Guard, deps: { database: Queryable }): void {
  app.get('/api/developer/limits', { onRequest: guard('calls:read') }, async (request) => {
    const capacity = await readCapacity(deps.database, request.principal.workspaceId);
    if (capacity === undefined) throw new Error('The workspace of a valid key is gone.');
    return capacity;
  });
}
