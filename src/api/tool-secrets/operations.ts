/** The routes of tools' secrets, described for the published document. */
import { z } from 'zod';
import { json, KEYED, type Operation, RATE_HEADERS } from '../openapi/operation.ts';
import { time, wholeList } from '../openapi/shared-answers.ts';
import { CHANGING, IF_MATCH, settings, TAGGED } from '../settings/described.ts';
import { SECRETS_PATH, secretBody, secretParams } from './secret-routes.ts';

const secret = z.strictObject({ name: z.string(), createdAt: time, updatedAt: time }).meta({ id: 'ToolSecret' });
const secretsAnswer = wholeList(secret).meta({ id: 'ToolSecrets' });
const storedAnswer = z.strictObject({ success: z.literal(true), secret }).meta({ id: 'StoredToolSecret' });
const deletedAnswer = z.strictObject({ success: z.literal(true), name: z.string() }).meta({ id: 'DeletedToolSecret' });
const one = { ...settings, route: `${SECRETS_PATH}/:name`, scope: 'settings:write', params: secretParams } as const;

export const toolSecretOperations: readonly Operation[] = [
  {
    ...settings,
    method: 'get',
    route: SECRETS_PATH,
    id: 'listToolSecrets',
    summary: "The names of the workspace's secrets for tools",
    description: 'Never their values.',
    scope: 'settings:read',
    answers: { 200: json('All of them.', secretsAnswer, RATE_HEADERS) },
    errors: KEYED,
  },
  {
    ...one,
    method: 'get',
    id: 'readToolSecret',
    summary: 'When a secret was stored',
    description: 'Never its value. Its ETag is another as soon as the secret is.',
    scope: 'settings:read',
    answers: { 200: json('The secret without itself.', secret, TAGGED) },
    errors: ['secret_not_found', 'invalid_request', ...KEYED],
  },
  {
    ...one,
    method: 'put',
    id: 'setToolSecret',
    summary: 'Store or replace a secret',
    description:
      'For `{{secret.NAME}}` in the headers of tools, from the next request on. `TOOL_SIGNING_SECRET` signs the requests of tools.',
    headers: IF_MATCH,
    body: secretBody,
    answers: { 200: json('Its name.', storedAnswer, TAGGED) },
    errors: ['secret_not_found', ...CHANGING],
  },
  {
    ...one,
    method: 'delete',
    id: 'deleteToolSecret',
    summary: 'Remove a secret',
    description: 'Tools that use it fail from the next request on.',
    headers: IF_MATCH,
    answers: { 200: json('It is gone.', deletedAnswer, RATE_HEADERS) },
    errors: ['secret_not_found', ...CHANGING],
  },
];
