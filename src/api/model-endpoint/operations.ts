/** The model endpoint, described for the published document. */
import { z } from 'zod';
import { BODY, json, KEYED, type Operation, RATE_HEADERS } from '../openapi/operation.ts';
import { time } from '../openapi/shared-answers.ts';
import { IF_MATCH, settings, TAGGED } from '../settings/described.ts';
import { MODEL_ENDPOINT_PATH, modelEndpointBody } from './model-endpoint-routes.ts';

const modelEndpointAnswer = z
  .strictObject({
    baseUrl: z.string(),
    model: z.string(),
    hasKey: z.boolean().describe('It is write-only'),
    updatedAt: time,
  })
  .meta({ id: 'ModelEndpoint' });
const one = { ...settings, route: MODEL_ENDPOINT_PATH } as const;

export const modelEndpointOperations: readonly Operation[] = [
  {
    ...one,
    method: 'get',
    id: 'readModelEndpoint',
    summary: 'The chat endpoint that reads the calls',
    description: '404 where there is none: a local heuristic reads them.',
    scope: 'settings:read',
    answers: { 200: json('The endpoint.', modelEndpointAnswer, TAGGED) },
    errors: ['model_not_set', ...KEYED],
  },
  {
    ...one,
    method: 'put',
    id: 'setModelEndpoint',
    summary: 'Set the chat endpoint',
    description: 'It gets the transcript of every answered call that ends from now on.',
    scope: 'settings:write',
    headers: IF_MATCH,
    body: modelEndpointBody,
    answers: { 200: json('The endpoint.', modelEndpointAnswer, TAGGED) },
    errors: ['model_not_set', 'invalid_request', 'precondition_failed', ...KEYED, ...BODY],
  },
  {
    ...one,
    method: 'delete',
    id: 'removeModelEndpoint',
    summary: 'Remove the chat endpoint',
    description: 'From now on the local heuristic reads the calls.',
    scope: 'settings:write',
    headers: IF_MATCH,
    answers: { 200: json('What was there.', modelEndpointAnswer, RATE_HEADERS) },
    errors: ['model_not_set', 'precondition_failed', ...KEYED, ...BODY],
  },
];
