/**
 * `/api/developer/call-exports`: the call log as a file. It is written in the background, outlives whoever asked, is
 * its maker's alone, and is deleted a day after its end. What writes it is `src/exports/export-runner.ts`.
 */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { EXPORT_FORMATS } from '../../exports/call-lines.ts';
import {
  type CallExport,
  createExport,
  deleteExport,
  type ExportNamed,
  exportPieces,
  listExports,
  noteFetched,
  readExport,
} from '../../exports/export-store.ts';
import { exportFilters, readFilters } from '../calls/list-query.ts';
import { changedBy, type Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { id } from '../query-values.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { type CreateOnceDeps, createOnce } from '../settings/create-once.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { deletedExportAnswer, exportAnswer, exportsAnswer, storedExportAnswer } from './answers.ts';

export interface ExportRouteDeps extends CreateOnceDeps {
  /** An export waits to be written. */
  exportQueued(): void;
}

export const EXPORTS_PATH = '/api/developer/call-exports';
const TYPES = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson; charset=utf-8' } as const;

export const exportParams = z.object({ exportId: id });
export const newExportBody = z
  .strictObject({
    format: z.enum(EXPORT_FORMATS).meta({
      description: '`csv`: a line a call, text that begins like a formula is made text; `ndjson`: whole entries',
    }),
  })
  .meta({ id: 'NewCallExport' });

export function registerExports(app: FastifyInstance, guard: Guard, deps: ExportRouteDeps): void {
  const route = routesOn(app, guard);
  const { database } = deps;
  const one = `${EXPORTS_PATH}/:exportId`;

  route({
    method: 'post',
    path: EXPORTS_PATH,
    id: 'exportCalls',
    tag: 'Calls',
    summary: 'Write the call log to a file',
    description:
      'With the filters of the list; newest first, at most 100,000 calls or 512 MB. Written in the background: ask for its progress, then fetch its file. Deleted a day after its end.',
    scope: 'calls:read',
    once: true,
    query: exportFilters,
    body: newExportBody,
    answers: {
      202: json('It waits to be written.', storedExportAnswer, { Location: 'Where its progress is' }),
    },
    errors: ['setting_refused'],
    handler(request, reply) {
      const { workspaceId, masking } = request.principal;
      const { format } = request.body;
      const filters = readFilters(request.query);
      return createOnce<CallExport>(deps, request, reply, {
        asked: { format, filters },
        async run(once) {
          const wanted = { workspaceId, format, filters, masking, by: changedBy(request) };
          const made = await refusing('export_not_found', createExport(once, wanted));
          deps.exportQueued();
          return made;
        },
        answer: (made) => ({
          status: 202,
          body: { success: true, export: made },
          headers: { location: `${EXPORTS_PATH}/${made.id}` },
        }),
      });
    },
  });

  route({
    method: 'get',
    path: EXPORTS_PATH,
    id: 'listCallExports',
    tag: 'Calls',
    summary: 'Your exports of the call log',
    description: 'Of the key or the person that asks; newest first.',
    scope: 'calls:read',
    answers: { 200: json('All of them.', exportsAnswer) },
    handler: async (request) => ({ data: await listExports(database, makerOf(request)), nextCursor: null }),
  });

  route({
    method: 'get',
    path: one,
    id: 'readCallExport',
    tag: 'Calls',
    summary: 'How far an export is',
    description: 'Its file is beside it, under `/file`.',
    scope: 'calls:read',
    params: exportParams,
    answers: { 200: json('Its progress.', exportAnswer) },
    errors: ['export_not_found'],
    async handler(request) {
      const found = await readExport(database, named(request));
      if (found === undefined) throw new Refusal('export_not_found');
      const { isMasked: _isMasked, ...shown } = found;
      return shown;
    },
  });

  route({
    method: 'get',
    path: `${one}/file`,
    id: 'fetchCallExport',
    tag: 'Calls',
    summary: 'The file of an export',
    description: 'Once it is completed. Each fetching is in the audit.',
    scope: 'calls:read',
    params: exportParams,
    masksItself: true,
    answers: {
      200: { description: 'The file.', content: { 'text/csv': z.string(), 'application/x-ndjson': z.string() } },
    },
    errors: ['export_not_found', 'export_not_ready'],
    async handler(request, reply) {
      const found = await readExport(database, named(request));
      // Made when the person saw more than now.
      const isTooMuch = request.principal.masking !== null && found?.isMasked === false;
      if (found === undefined || isTooMuch) throw new Refusal('export_not_found');
      if (found.state !== 'completed') throw new Refusal('export_not_ready');
      await noteFetched(database, named(request), changedBy(request));
      const day = found.createdAt.toISOString().slice(0, 10);
      return reply
        .headers({
          'content-disposition': `attachment; filename="calls-${request.principal.slug}-${day}.${found.format}"`,
          'content-length': found.sizeBytes,
          'cache-control': 'private, no-store',
        })
        .type(TYPES[found.format])
        .send(Readable.from(exportPieces(database, found.id), { objectMode: false }));
    },
  });

  route({
    method: 'delete',
    path: one,
    id: 'deleteCallExport',
    tag: 'Calls',
    summary: 'Delete an export, or call it off',
    description: 'Its file is gone at once.',
    scope: 'calls:read',
    params: exportParams,
    answers: { 200: json('It is gone.', deletedExportAnswer) },
    errors: ['export_not_found'],
    async handler(request) {
      const { exportId } = request.params;
      if (!(await deleteExport(database, named(request), changedBy(request)))) throw new Refusal('export_not_found');
      return { success: true, exportId };
    },
  });
}

const makerOf = ({ principal }: FastifyRequest) => ({ workspaceId: principal.workspaceId, madeBy: principal.actor });

const named = (request: FastifyRequest<{ Params: { exportId: string } }>): ExportNamed => ({
  ...makerOf(request as FastifyRequest),
  exportId: request.params.exportId,
});
