/** What the routes of exports answer, as zod schemas for the published document. */
import { z } from 'zod';
import { EXPORT_FORMATS } from '../../exports/call-lines.ts';
import { EXPORT_STATES } from '../../exports/export-store.ts';
import { time, uuid, wholeList } from '../openapi/shared-answers.ts';

export const exportAnswer = z
  .strictObject({
    id: uuid,
    format: z.enum(EXPORT_FORMATS),
    filters: z.record(z.string(), z.unknown()).describe('As they were understood'),
    state: z.enum(EXPORT_STATES),
    totalRows: z.int().nullable().describe('Calls that the filters leave, counted when it begins; null before'),
    writtenRows: z.int(),
    sizeBytes: z.number().describe('Of the file so far'),
    isCut: z.boolean().describe('It ended at 100,000 calls or 512 MB, and there were more'),
    error: z.string().nullable(),
    createdAt: time,
    finishedAt: time.nullable(),
    expiresAt: time.nullable().describe('When it is deleted: a day after its end'),
  })
  .meta({ id: 'CallExport' });

export const exportsAnswer = wholeList(exportAnswer).meta({ id: 'CallExports' });
export const storedExportAnswer = z
  .strictObject({ success: z.literal(true), export: exportAnswer })
  .meta({ id: 'StoredCallExport' });
export const deletedExportAnswer = z
  .strictObject({ success: z.literal(true), exportId: uuid })
  .meta({ id: 'DeletedCallExport' });
