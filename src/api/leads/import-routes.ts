/**
 * `/api/developer/leads/import` (contract §4): a file in, its progress and the faults of its rows out, and calling it off. The body is the
 * file itself, so its upload has parsers and a limit of its own. What stores the rows is `src/leads/import-runner.ts`.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type ImportFormat, ImportRefused } from '../../leads/import-reader.ts';
import { type ImportReading, ImportsBusy } from '../../leads/import-reading.ts';
import {
  cancelImport,
  createImport,
  IMPORT_STATES,
  type LeadImport,
  listImports,
  readImport,
  readImportErrors,
} from '../../leads/import-store.ts';
import type { CursorCodec } from '../cursor.ts';
import { changedBy, type Guard } from '../guard.ts';
import { isStorable } from '../outbound-call/request-body.ts';
import { anyOf, createdBetween, date, id, page } from '../query-values.ts';
import { Refusal } from '../refusal.ts';
import { type CreateOnceDeps, createOnce } from '../settings/create-once.ts';
import type { UploadRoom } from '../upload-room.ts';
import { agentMustDo, LEADS_PATH } from './lead-routes.ts';

export interface ImportRouteDeps extends CreateOnceDeps {
  cursors: CursorCodec;
  importReading: Pick<ImportReading, 'summary'>;
  uploadRoom: UploadRoom;
  /** A file waits to be stored. */
  importQueued(): void;
}

export const IMPORT_PATH = `${LEADS_PATH}/import`;
const LARGEST_FILE_BYTES = 10 * 1024 * 1024;
const MOST_ERRORS_OF_A_PAGE = 1_000;
const RETRY_BUSY_SECONDS = 5;

export const IMPORT_TYPES: Readonly<Record<string, ImportFormat>> = {
  'text/csv': 'csv',
  'application/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
};

export const importQuery = z.object({
  agentId: id.optional().meta({ description: 'Of rows that name none' }),
  source: z
    .string()
    .max(120)
    .refine(isStorable, 'holds characters that cannot be stored')
    .optional()
    .meta({ description: 'Of rows that name none' }),
});

export const importParams = z.object({ importId: id });

export const importsQuery = z.object({
  state: anyOf(z.enum(IMPORT_STATES), 'How far it is'),
  ...createdBetween(date),
  ...page(),
});
export const importErrorsQuery = z.object(page(100, MOST_ERRORS_OF_A_PAGE));

export function registerLeadImports(app: FastifyInstance, guard: Guard, deps: ImportRouteDeps): void {
  app.register((plain, _options, registered) => {
    plain.removeAllContentTypeParsers();
    for (const type of Object.keys(IMPORT_TYPES)) {
      plain.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    }
    plain.addContentTypeParser('*', (_request, _body, done) => done(new Refusal('unsupported_import_type')));
    registerUpload(plain, guard, deps);
    registered();
  });
  registerProgress(app, guard, deps);
}

function registerUpload(plain: FastifyInstance, guard: Guard, deps: ImportRouteDeps): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const importing = {
    onRequest: [guard('leads:write'), deps.uploadRoom.enter(LARGEST_FILE_BYTES)],
    bodyLimit: LARGEST_FILE_BYTES,
    schema: { querystring: importQuery },
  };
  app.post(IMPORT_PATH, importing, async (request, reply) => {
    const { workspaceId } = request.principal;
    const { agentId = null, source = null } = request.query;
    const type = (request.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
    const format = IMPORT_TYPES[type];
    if (format === undefined) throw new Refusal('unsupported_import_type');
    const content = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const defaults = { agentId, source };
    const sha256 = createHash('sha256').update(content).digest('hex');
    return deps.uploadRoom.during(request, () =>
      createOnce<LeadImport>(deps, request, reply, {
        asked: { format, ...defaults, sha256 },
        async run(once) {
          await agentMustDo(once, workspaceId, agentId);
          const file = { content, format, defaults };
          const by = changedBy(request);
          const storing = createImport({ database: once, reading: deps.importReading }, workspaceId, file, by);
          const stored = await storing.catch((error: unknown) => {
            if (error instanceof ImportsBusy) {
              throw new Refusal('overloaded', { retryAfterSeconds: RETRY_BUSY_SECONDS });
            }
            if (!(error instanceof ImportRefused)) throw error;
            throw new Refusal(error.code, { details: [{ field: 'body', issue: error.message }] });
          });
          deps.importQueued();
          return stored;
        },
        answer: (stored) => ({
          status: 202,
          body: { success: true, import: stored },
          headers: { location: `${IMPORT_PATH}/${stored.id}` },
        }),
      }),
    );
  });
}

function registerProgress(plain: FastifyInstance, guard: Guard, { database, cursors }: ImportRouteDeps): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const reading = { onRequest: guard('leads:read') };
  const one = `${IMPORT_PATH}/:importId`;

  app.get(IMPORT_PATH, { ...reading, schema: { querystring: importsQuery } }, async (request) => {
    const { workspaceId } = request.principal;
    const { cursor, limit, ...filters } = request.query;
    const scope = { kind: 'lead-imports', workspaceId, filters };
    const before = cursor === undefined ? null : (cursors.decode(scope, cursor)[0] ?? null);
    const found = await listImports(database, workspaceId, filters, { before, limit: limit + 1 });
    const data = found.slice(0, limit);
    return { data, nextCursor: found.length > limit ? cursors.encode(scope, [data.at(-1)!.id]) : null };
  });

  app.get(one, { ...reading, schema: { params: importParams } }, async (request) => {
    const found = await readImport(database, request.principal.workspaceId, request.params.importId);
    if (found === undefined) throw new Refusal('import_not_found');
    return found;
  });

  const canceling = { onRequest: guard('leads:write'), schema: { params: importParams } };
  app.post(`${one}/cancel`, canceling, async (request) => {
    const { workspaceId } = request.principal;
    const canceled = await cancelImport(database, { workspaceId, ...request.params, by: changedBy(request) });
    if (canceled === undefined) throw new Refusal('import_not_found');
    if (canceled === 'over') throw new Refusal('import_over');
    return { success: true, import: canceled };
  });

  const faults = { ...reading, schema: { params: importParams, querystring: importErrorsQuery } };
  app.get(`${one}/errors`, faults, async (request) => {
    const { workspaceId } = request.principal;
    const { importId } = request.params;
    const { cursor, limit } = request.query;
    if ((await readImport(database, workspaceId, importId)) === undefined) throw new Refusal('import_not_found');
    const scope = { kind: 'lead-import-errors', workspaceId, filters: { importId } };
    const after = cursor === undefined ? 0 : Number(cursors.decode(scope, cursor)[0]);
    const errors = await readImportErrors(database, workspaceId, importId, { after, limit: limit + 1 });
    const data = errors.slice(0, limit);
    return { data, nextCursor: errors.length > limit ? cursors.encode(scope, [String(data.at(-1)!.row)]) : null };
  });
}
