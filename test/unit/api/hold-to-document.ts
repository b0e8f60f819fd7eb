/**
 * Holds every answer that any API test sees to the published description: its operation, its code and status, and its
 * body. What differs is collected, and the fixture fails at its end.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { errorAnswer, shortErrorAnswer } from '../../../src/api/openapi/shared-answers.ts';
import { type ErrorCode, factsFor } from '../../../src/errors/error-codes.ts';

export function holdToDocument(app: FastifyInstance, undescribed: Set<string>): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const { url: route } = request.routeOptions;
    if (route === undefined || request.method === 'HEAD') return payload;
    const where = `${request.method} ${route} ${reply.statusCode}`;
    for (const name of missingHeaders(request, reply)) undescribed.add(`${where}: ${name} is not sent`);
    const { operation } = request.routeOptions.config;
    if (operation === undefined) {
      undescribed.add(`${where}: no such operation`);
      return payload;
    }
    const code = reply.getHeader('x-error-code');
    if (typeof code === 'string') {
      if (!operation.errors.includes(code as ErrorCode)) undescribed.add(`${where}: ${code} is not among its errors`);
      if (factsFor(code as ErrorCode, operation.specified).status !== reply.statusCode)
        undescribed.add(`${where}: ${code} has another status`);
      for (const issue of issuesOf(payload))
        if (!SENTENCE.test(issue)) undescribed.add(`${where}: ${issue} is no sentence`);
      compare(operation.specified ? shortErrorAnswer : errorAnswer, payload, where, undescribed);
      return payload;
    }
    const answer = operation.answers[reply.statusCode];
    if (answer === undefined) undescribed.add(`${where}: no such answer`);
    if (answer !== undefined && Object.keys(answer.content).length === 0) {
      if (payload !== undefined && payload !== '') undescribed.add(`${where}: a body where none is described`);
      return payload;
    }
    const type = String(reply.getHeader('content-type')).split(';', 1)[0] ?? '';
    const schema = answer?.content[type];
    if (answer !== undefined && schema === undefined) undescribed.add(`${where}: no content of type ${type}`);
    if (schema !== undefined && type === 'application/json') compare(schema, payload, where, undescribed);
    return payload;
  });
}

/** Begins like one, ends like one, and is more than a code. */
const SENTENCE = /^[^a-z\s].* .*[.!?…]$/s;

function issuesOf(payload: unknown): string[] {
  const { details = [] } = JSON.parse(String(payload)) as { details?: { issue: string }[] };
  return details.map(({ issue }) => issue);
}

/** Of those that `/openapi.json` names for every operation that takes a key. */
function missingHeaders(request: FastifyRequest, reply: FastifyReply): string[] {
  const { operation } = request.routeOptions.config;
  if (operation === undefined || operation.scope === null) return [];
  const code = reply.getHeader('x-error-code');
  const wanted = [
    ...(reply.statusCode === 401 || code === 'insufficient_scope' ? ['www-authenticate'] : []),
    ...(reply.statusCode < 300 || code === 'api_rate_limit' ? ['ratelimit', 'ratelimit-policy'] : []),
  ];
  return wanted.filter((name) => reply.getHeader(name) === undefined);
}

function compare(schema: z.ZodType, payload: unknown, where: string, undescribed: Set<string>): void {
  const parsed = schema.safeParse(JSON.parse(String(payload)));
  for (const { path, message } of parsed.error?.issues ?? [])
    undescribed.add(`${where}: ${path.join('.')}: ${message}`);
}
