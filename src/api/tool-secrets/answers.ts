/** What the routes of tools' secrets answer, as zod schemas for the published document. */
import { z } from 'zod';
import { time, wholeList } from '../openapi/shared-answers.ts';

export const secretAnswer = z
  .strictObject({ name: z.string(), createdAt: time, updatedAt: time })
  .meta({ id: 'ToolSecret' });
export const secretsAnswer = wholeList(secretAnswer).meta({ id: 'ToolSecrets' });
export const storedAnswer = z
  .strictObject({ success: z.literal(true), secret: secretAnswer })
  .meta({ id: 'StoredToolSecret' });
export const deletedAnswer = z
  .strictObject({ success: z.literal(true), name: z.string() })
  .meta({ id: 'DeletedToolSecret' });
