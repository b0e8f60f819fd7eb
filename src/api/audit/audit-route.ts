/** `GET /api/developer/audit` (contract §17): who changed what in this workspace, newest first. */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { readAudit } from '../../audit/read-audit.ts';
import type { Database } from '../../store/database.ts';
import type { CursorCodec } from '../cursor.ts';
import type { Guard } from '../guard.ts';
import { anyOf, page, text } from '../query-values.ts';

export const auditQuery = z.object({
  actor: anyOf(text(200), 'Who did it, such as key:AbCdEfGh'),
  action: anyOf(text(200), 'What was done, such as line.limits_changed'),
  target: anyOf(text(200), 'To what it was done'),
  ...page(),
});

export function registerAudit(
  plain: FastifyInstance,
  guard: Guard,
  deps: { database: Database; cursors: CursorCodec },
): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  app.get(
    '/api/developer/audit',
    { onRequest: guard('audit:read'), schema: { querystring: auditQuery } },
    async (request) => {
      const { cursor, limit, ...filters } = request.query;
      const { workspaceId } = request.principal;
      const scope = { kind: 'audit', workspaceId, filters };
      const before = cursor === undefined ? null : Number(deps.cursors.decode(scope, cursor)[0]);
      const found = await readAudit(deps.database, null, { workspaceId, filters, before, limit: limit + 1 });
      const data = found.slice(0, limit);
      const nextCursor = found.length > limit ? deps.cursors.encode(scope, [String(data.at(-1)!.position)]) : null;
      return { data, nextCursor };
    },
  );
}
