/**
 * What several operations answer, as zod schemas: published in `/openapi.json`, and held against real answers by tests.
 * Strict, so that a field that is sent and not described shows. Each resource has an `answers.ts` of its own beside its
 * routes. Nothing is parsed with them at run time.
 */
import { z } from 'zod';
import { ERROR_CODES } from '../../errors/error-codes.ts';

export const uuid = z.uuid();
export const time = z.iso.datetime().describe('UTC, milliseconds');

export const shortErrorAnswer = z
  .strictObject({ success: z.literal(false), message: z.string() })
  .meta({ id: 'ShortError', description: 'Exactly two keys; the code is in X-Error-Code.' });

export const errorAnswer = z
  .strictObject({
    success: z.literal(false),
    message: z.string(),
    code: z.enum(ERROR_CODES),
    requestId: z.string(),
    details: z.array(z.strictObject({ field: z.string(), issue: z.string() })),
  })
  .meta({ id: 'Error' });

/** A list in pages. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ data: z.array(item), nextCursor: z.string().nullable().describe('Null on the last page') });

/** A list that is answered whole. */
export const wholeList = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ data: z.array(item), nextCursor: z.null() });
