/**
 * `/openapi.json`: made of the routes that are registered, once, when somebody first asks for it: a process that starts
 * again under calls has better things to do. For anybody, because it holds nothing of a workspace.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { routesOn } from '../route.ts';
import { buildDocument } from './document.ts';
import { json } from './operation.ts';

export function registerOpenApi(app: FastifyInstance, { publicUrl }: { publicUrl: string }): void {
  const route = routesOn(app, null);
  let made: Promise<string> | null = null;
  const document = (): Promise<string> => {
    made ??= buildDocument(app.operations, publicUrl).then((built) => JSON.stringify(built));
    return made;
  };
  route({
    method: 'get',
    path: '/openapi.json',
    id: 'openapi',
    tag: 'Service',
    summary: 'This document',
    description: 'OpenAPI 3.1.',
    scope: null,
    answers: { 200: json('The document.', z.looseObject({ openapi: z.literal('3.1.1') })) },
    async handler(_request, reply) {
      return reply
        .type('application/json; charset=utf-8')
        .serializer(String)
        .send(await document());
    },
  });
}
