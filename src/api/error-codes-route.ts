/** `GET /api/developer/error-codes`: every code that an answer may carry, for anybody. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ERROR_CODES, publishedErrorCodes } from './error-codes.ts';
import { COMMON, json, none, type Operation } from './openapi/operation.ts';
import { wholeList } from './openapi/shared-answers.ts';

const PATH = '/api/developer/error-codes';

const errorCodesAnswer = wholeList(
  z.strictObject({ code: z.enum(ERROR_CODES), status: z.int(), message: z.string(), meaning: z.string() }),
).meta({ id: 'ErrorCodes' });

export function registerErrorCodes(app: FastifyInstance): void {
  app.get(PATH, async () => ({ data: publishedErrorCodes(), nextCursor: null }));
}

export const errorCodeOperations: readonly Operation[] = [
  {
    ...none,
    method: 'get',
    route: PATH,
    id: 'listErrorCodes',
    scope: null,
    tag: 'Directory',
    summary: 'Every X-Error-Code, its status and its meaning',
    description: 'The same list as in this document.',
    answers: { 200: json('The list.', errorCodesAnswer) },
    errors: ['invalid_request', ...COMMON],
  },
];
