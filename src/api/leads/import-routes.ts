/**
 * `/api/developer/leads/import` (contract §4): a file in, its progress and the faults of its rows out, and calling it
 * off. The body is the file itself, so its upload has parsers and a limit of its own. What stores the rows is
 * `src/leads/import-runner.ts`.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
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
import { isStorable } from '../../store/storable.ts';
import type { CursorCodec } from '../cursor.ts';
import { changedBy, type Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { anyOf, createdBetween, date, id, page } from '../query-values.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { type CreateOnceDeps, createOnce } from '../settings/create-once.ts';
import type { UploadRoom } from '../upload-room.ts';
import { importAnswer, importErrorsAnswer, importsAnswer, storedImportAnswer } from './answers.ts';
import { agentMustDo, LEADS_PATH } from './lead-request.ts';

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

function registerUpload(app: FastifyInstance, guard: Guard, deps: ImportRouteDeps): void {
  const route = routesOn(app, guard);
  route({
    method: 'post',
    path: IMPORT_PATH,
    id: 'importLeads',
    tag: 'Leads',
    summary: 'Import leads from a file of up to 10,000 rows',
    description:
      'The body is the file itself, at most 10 MB: CSV with a header line, or one JSON object a line. It is looked through at once and stored row by row afterwards; a row that is wrong harms no other.',
    scope: 'leads:write',
    once: true,
    query: importQuery,
    ownBody: z.string().meta({ description: 'UTF-8, or UTF-16 with a byte order mark' }),
    bodyTypes: Object.keys(IMPORT_TYPES),
    bodyLimit: LARGEST_FILE_BYTES,
    onRequest: deps.uploadRoom.enter(LARGEST_FILE_BYTES),
    answers: {
      202: json('It is taken in; ask for its progress.', storedImportAnswer, {
        Location: 'Where its progress is',
      }),
    },
    errors: [
      'agent_not_found',
      'agent_not_outbound',
      'body_too_large',
      'unsupported_import_type',
      'import_empty',
      'import_too_many_rows',
      'import_no_phone_column',
      'import_duplicate_column',
      'import_too_costly',
      'overloaded',
    ],
    async handler(request, reply) {
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
    },
  });
}

function registerProgress(app: FastifyInstance, guard: Guard, { database, cursors }: ImportRouteDeps): void {
  const route = routesOn(app, guard);
  const one = `${IMPORT_PATH}/:importId`;

  route({
    method: 'get',
    path: IMPORT_PATH,
    id: 'listLeadImports',
    tag: 'Leads',
    summary: 'Imports, newest first',
    description: 'In pages; filters are combined.',
    scope: 'leads:read',
    query: importsQuery,
    answers: { 200: json('A page.', importsAnswer) },
    errors: ['invalid_cursor'],
    async handler(request) {
      const { workspaceId } = request.principal;
      const { cursor, limit, ...filters } = request.query;
      const scope = { kind: 'lead-imports', workspaceId, filters };
      const before = cursor === undefined ? null : (cursors.decode(scope, cursor)[0] ?? null);
      const found = await listImports(database, workspaceId, filters, { before, limit: limit + 1 });
      const data = found.slice(0, limit);
      return { data, nextCursor: found.length > limit ? cursors.encode(scope, [data.at(-1)!.id]) : null };
    },
  });

  route({
    method: 'get',
    path: one,
    id: 'readLeadImport',
    tag: 'Leads',
    summary: 'How far an import is',
    description: 'What was wrong in which row is beside it, under `/errors`.',
    scope: 'leads:read',
    params: importParams,
    answers: { 200: json('Its progress.', importAnswer) },
    errors: ['invalid_import_id', 'import_not_found'],
    async handler(request) {
      const found = await readImport(database, request.principal.workspaceId, request.params.importId);
      if (found === undefined) throw new Refusal('import_not_found');
      return found;
    },
  });

  route({
    method: 'post',
    path: `${one}/cancel`,
    id: 'cancelLeadImport',
    tag: 'Leads',
    summary: 'Call off an import',
    description: 'Rows that were stored stay; no more are after the answer. Repeating it is fine.',
    scope: 'leads:write',
    params: importParams,
    answers: { 200: json('It is called off.', storedImportAnswer) },
    errors: ['invalid_import_id', 'import_not_found', 'import_over'],
    async handler(request) {
      const { workspaceId } = request.principal;
      const canceled = await cancelImport(database, { workspaceId, ...request.params, by: changedBy(request) });
      if (canceled === undefined) throw new Refusal('import_not_found');
      if (canceled === 'over') throw new Refusal('import_over');
      return { success: true, import: canceled };
    },
  });

  route({
    method: 'get',
    path: `${one}/errors`,
    id: 'listLeadImportErrors',
    tag: 'Leads',
    summary: 'What was wrong in which row of an import',
    description: 'In the order of the file, in pages.',
    scope: 'leads:read',
    params: importParams,
    query: importErrorsQuery,
    answers: { 200: json('A page.', importErrorsAnswer) },
    errors: ['invalid_cursor', 'invalid_import_id', 'import_not_found'],
    async handler(request) {
      const { workspaceId } = request.principal;
      const { importId } = request.params;
      const { cursor, limit } = request.query;
      if ((await readImport(database, workspaceId, importId)) === undefined) throw new Refusal('import_not_found');
      const scope = { kind: 'lead-import-errors', workspaceId, filters: { importId } };
      const after = cursor === undefined ? 0 : Number(cursors.decode(scope, cursor)[0]);
      const errors = await readImportErrors(database, workspaceId, importId, { after, limit: limit + 1 });
      const data = errors.slice(0, limit);
      return { data, nextCursor: errors.length > limit ? cursors.encode(scope, [String(data.at(-1)!.row)]) : null };
    },
  });
}
