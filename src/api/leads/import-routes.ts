/**
 * `/api/developer/leads/import` (contract §4): a file in, its progress and the faults of its rows out. The body is the file
 * itself, so this resource has parsers and a limit of its own. What stores the rows is `src/leads/import-runner.ts`.
 */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type ImportFormat, ImportRefused } from '../../leads/import-reader.ts';
import { createImport, readImport, readImportErrors } from '../../leads/import-store.ts';
import { knownAgents } from '../../leads/lead-store.ts';
import type { Database } from '../../store/database.ts';
import type { CursorCodec } from '../cursor.ts';
import { changedBy, type Guard } from '../guard.ts';
import { isStorable } from '../outbound-call/request-body.ts';
import { Refusal } from '../refusal.ts';
import { LEADS_PATH, pageQuery } from './lead-routes.ts';

export interface ImportRouteDeps {
  database: Database;
  cursors: CursorCodec;
  /** A file waits to be stored. */
  importQueued(): void;
}

export const IMPORT_PATH = `${LEADS_PATH}/import`;
const LARGEST_FILE_BYTES = 10 * 1024 * 1024;
const MOST_ERRORS_OF_A_PAGE = 1_000;

export const IMPORT_TYPES: Readonly<Record<string, ImportFormat>> = {
  'text/csv': 'csv',
  'application/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
};

export const importQuery = z.object({
  agentId: z
    .guid('must be a UUID')
    .transform((id) => id.toLowerCase())
    .optional()
    .meta({ description: 'Of rows that name none' }),
  source: z.string().max(120).refine(isStorable).optional().meta({ description: 'Of rows that name none' }),
});

export const importParams = z.object({
  importId: z.guid({ error: 'must be a UUID' }).transform((id) => id.toLowerCase()),
});

export const importErrorsQuery = z.object({
  ...pageQuery,
  limit: z.coerce.number().int().min(1).max(MOST_ERRORS_OF_A_PAGE).default(100),
});

export function registerLeadImports(app: FastifyInstance, guard: Guard, deps: ImportRouteDeps): void {
  app.register((plain, _options, registered) => {
    plain.removeAllContentTypeParsers();
    for (const type of Object.keys(IMPORT_TYPES)) {
      plain.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    }
    plain.addContentTypeParser('*', (_request, _body, done) => done(new Refusal('unsupported_import_type')));
    registerRoutes(plain, guard, deps);
    registered();
  });
}

function registerRoutes(plain: FastifyInstance, guard: Guard, deps: ImportRouteDeps): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database, cursors } = deps;

  const importing = {
    onRequest: guard('leads:write'),
    bodyLimit: LARGEST_FILE_BYTES,
    schema: { querystring: importQuery },
  };
  app.post(IMPORT_PATH, importing, async (request, reply) => {
    const { workspaceId } = request.principal;
    const { agentId = null, source = null } = request.query;
    const type = (request.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
    const format = IMPORT_TYPES[type];
    if (format === undefined) throw new Refusal('unsupported_import_type');
    if (agentId !== null && !(await knownAgents(database, workspaceId, [agentId])).has(agentId)) {
      throw new Refusal('agent_not_found');
    }
    const content = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const file = { content, format, defaults: { agentId, source } };
    const stored = await createImport(database, workspaceId, file, changedBy(request)).catch((error: unknown) => {
      if (!(error instanceof ImportRefused)) throw error;
      throw new Refusal(error.code, { details: [{ field: 'body', issue: error.message }] });
    });
    deps.importQueued();
    return reply.code(202).header('location', `${IMPORT_PATH}/${stored.id}`).send({ success: true, import: stored });
  });

  const reading = {
    onRequest: guard('leads:read'),
    schema: { params: importParams, querystring: importErrorsQuery },
  };
  app.get(`${IMPORT_PATH}/:importId`, reading, async (request) => {
    const { workspaceId } = request.principal;
    const { importId } = request.params;
    const { cursor, limit } = request.query;
    const found = await readImport(database, workspaceId, importId);
    if (found === undefined) throw new Refusal('import_not_found');
    const scope = { kind: 'lead-import-errors', workspaceId, filters: { importId } };
    const after = cursor === undefined ? 0 : Number(cursors.decode(scope, cursor)[0]);
    const errors = await readImportErrors(database, workspaceId, importId, { after, limit: limit + 1 });
    const page = errors.slice(0, limit);
    return {
      success: true,
      import: found,
      errors: page,
      nextCursor: errors.length > limit ? cursors.encode(scope, [String(page.at(-1)!.row)]) : null,
    };
  });
}
