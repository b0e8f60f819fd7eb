/**
 * `/api/developer/model-endpoint`: the OpenAI-compatible chat endpoint that reads a workspace's calls. Its key goes in
 * and never comes out. The rules are `src/analysis/operator-model.ts`; the command line runs the same functions.
 */

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../../../media/contract/clock.ts';
import type { AddressCheck } from '../../../media/net/target-check.ts';
import {
  type ModelEndpoint,
  removeModelEndpoint,
  setModelEndpoint,
  showModelEndpoint,
} from '../../analysis/operator-model.ts';
import type { Sealer } from '../../sealing/sealer.ts';
import type { Database } from '../../store/database.ts';
import { changedBy, type Guard } from '../guard.ts';
import { ETAG, json } from '../openapi/operation.ts';
import { routesOn } from '../route.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { modelEndpointAnswer } from './answers.ts';

export interface ModelEndpointDeps {
  database: Database;
  sealer: Sealer;
  clock: Clock;
  /** Where a model's URL may lead. */
  modelAddress: Omit<AddressCheck, 'clock'>;
}

export const MODEL_ENDPOINT_PATH = '/api/developer/model-endpoint';

export const modelEndpointBody = z
  .strictObject({
    baseUrl: z.string().trim().min(1).max(2_000).meta({ description: 'https://api.openai.com/v1' }),
    model: z.string().trim().min(1).max(120),
    apiKey: z.string().min(1).max(4_096).nullish().meta({
      description: 'Write-only. Absent: the stored one stays, if the address does; null: the server wants none',
    }),
  })
  .meta({ id: 'ModelEndpointRequest' });

export function registerModelEndpoint(app: FastifyInstance, guard: Guard, deps: ModelEndpointDeps): void {
  const route = routesOn(app, guard);
  const { database, sealer } = deps;

  route({
    method: 'get',
    path: MODEL_ENDPOINT_PATH,
    id: 'readModelEndpoint',
    tag: 'Settings',
    summary: 'The chat endpoint that reads the calls',
    description: '404 where there is none: a local heuristic reads them.',
    scope: 'settings:read',
    answers: { 200: json('The endpoint.', modelEndpointAnswer, ETAG) },
    errors: ['model_not_set'],
    async handler(request, reply) {
      const endpoint = await refusing('model_not_set', showModelEndpoint(database, { slug: request.principal.slug }));
      reply.header('etag', etagOf(endpoint));
      return endpoint;
    },
  });

  route({
    method: 'put',
    path: MODEL_ENDPOINT_PATH,
    id: 'setModelEndpoint',
    tag: 'Settings',
    summary: 'Set the chat endpoint',
    description: 'It gets the transcript of every answered call that ends from now on.',
    scope: 'settings:write',
    ifMatch: true,
    body: modelEndpointBody,
    answers: { 200: json('The endpoint.', modelEndpointAnswer, ETAG) },
    errors: ['model_not_set'],
    async handler(request, reply) {
      const { baseUrl, model, apiKey } = request.body;
      const check = { ...deps.modelAddress, clock: deps.clock };
      const wanted = {
        slug: request.principal.slug,
        baseUrl,
        model,
        ...given({ apiKey }),
        by: changedBy(request),
        check,
        expect: expectMatch<ModelEndpoint | null>(request, (current) => current),
      };
      const endpoint = await refusing('model_not_set', setModelEndpoint(database, sealer, wanted));
      reply.header('etag', etagOf(endpoint));
      return endpoint;
    },
  });

  route({
    method: 'delete',
    path: MODEL_ENDPOINT_PATH,
    id: 'removeModelEndpoint',
    tag: 'Settings',
    summary: 'Remove the chat endpoint',
    description: 'From now on the local heuristic reads the calls.',
    scope: 'settings:write',
    ifMatch: true,
    answers: { 200: json('What was there.', modelEndpointAnswer) },
    errors: ['model_not_set'],
    handler(request) {
      const expect = expectMatch<ModelEndpoint | null>(request, (current) => current);
      const named = { slug: request.principal.slug, by: changedBy(request), expect };
      return refusing('model_not_set', removeModelEndpoint(database, named));
    },
  });
}
