/** `GET /api/developer/audit` (contract §17): who changed what in this workspace, newest first. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { readAudit } from '../../audit/read-audit.ts';
import type { Database } from '../../store/database.ts';
import type { CursorCodec } from '../cursor.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { anyOf, page, text } from '../query-values.ts';
import { routesOn } from '../route.ts';
import { auditAnswer } from './answers.ts';

export const auditQuery = z.object({
  actor: anyOf(text(200), 'Who did it, such as key:AbCdEfGh'),
  action: anyOf(text(200), 'What was done, such as line.limits_changed'),
  target: anyOf(text(200), 'To what it was done'),
  ...page(),
});

export function registerAudit(
  app: FastifyInstance,
  guard: Guard,
  deps: { database: Database; cursors: CursorCodec },
): void {
  const route = routesOn(app, guard);
  route({
    method: 'get',
    path: '/api/developer/audit',
    id: 'listAudit',
    tag: 'Directory',
    summary: 'Who changed what in the workspace, newest first',
    description:
      'In pages. Rows are chained by their hashes and never change; `parley audit verify` checks the whole chain.',
    scope: 'audit:read',
    query: auditQuery,
    answers: { 200: json('A page.', auditAnswer) },
    errors: ['invalid_cursor'],
    async handler(request) {
      const { cursor, limit, ...filters } = request.query;
      const { workspaceId } = request.principal;
      const scope = { kind: 'audit', workspaceId, filters };
      const before = cursor === undefined ? null : Number(deps.cursors.decode(scope, cursor)[0]);
      const found = await readAudit(deps.database, null, { workspaceId, filters, before, limit: limit + 1 });
      const data = found.slice(0, limit);
      const nextCursor = found.length > limit ? deps.cursors.encode(scope, [String(data.at(-1)!.position)]) : null;
      return { data, nextCursor };
    },
  });
}
