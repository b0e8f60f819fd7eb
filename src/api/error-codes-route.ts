/** `GET /api/developer/error-codes`: every code that an answer may carry, for anybody. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ERROR_CODES, publishedErrorCodes } from '../errors/error-codes.ts';
import { json } from './openapi/operation.ts';
import { wholeList } from './openapi/shared-answers.ts';
import { routesOn } from './route.ts';

const errorCodesAnswer = wholeList(
  z.strictObject({ code: z.enum(ERROR_CODES), status: z.int(), message: z.string(), meaning: z.string() }),
).meta({ id: 'ErrorCodes' });

export function registerErrorCodes(app: FastifyInstance): void {
  const route = routesOn(app, null);
  route({
    method: 'get',
    path: '/api/developer/error-codes',
    id: 'listErrorCodes',
    tag: 'Directory',
    summary: 'Every X-Error-Code, its status and its meaning',
    description: 'The same list as in this document.',
    scope: null,
    answers: { 200: json('The list.', errorCodesAnswer) },
    handler: async () => ({ data: publishedErrorCodes(), nextCursor: null }),
  });
}
