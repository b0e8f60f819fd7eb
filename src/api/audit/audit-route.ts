/** `GET /api/developer/audit` (contract §17): who changed what in this workspace, newest first. */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { readAudit } from '../../audit/read-audit.ts';
import type { Database } from '../../store/database.ts';
import type { CursorCodec } from '../cursor.ts';
import type { Guard } from '../guard.ts';

const text = z.string().min(1).max(200);
export const auditQuery = z.object({
  actor: text.optional().meta({ example: 'key:AbCdEfGh' }),
  action: text.optional().meta({ example: 'line.limits_changed' }),
  target: text.optional(),
  cursor: z.string().max(1_024).optional().meta({ description: '`nextCursor` of the page before' }),
  limit: z.coerce.number().int().min(1).max(200).default(50),
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
      const page = found.slice(0, limit);
      const nextCursor = found.length > limit ? deps.cursors.encode(scope, [String(page.at(-1)!.position)]) : null;
      return { data: page, nextCursor };
    },
  );
}
