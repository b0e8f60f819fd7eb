/** What a client needs to know before its first call: ids for `agentId` and `from`, and the list of error codes. */
import type { FastifyInstance } from 'fastify';
import type { Queryable } from '../store/database.ts';
import { listAgentsOf } from '../workspaces/agents.ts';
import { listLinesOf } from '../workspaces/lines.ts';
import { publishedErrorCodes } from './error-codes.ts';
import type { Guard } from './guard.ts';

export function registerDirectory(app: FastifyInstance, guard: Guard, deps: { database: Queryable }): void {
  app.get('/api/developer/agents', { onRequest: guard('agents:read') }, async (request) => ({
    data: await listAgentsOf(deps.database, request.principal.workspaceId),
    nextCursor: null,
  }));
  app.get('/api/developer/phone-numbers', { onRequest: guard('agents:read') }, async (request) => ({
    data: await listLinesOf(deps.database, request.principal.workspaceId),
    nextCursor: null,
  }));
  app.get('/api/developer/error-codes', async () => ({ data: publishedErrorCodes() }));
}
