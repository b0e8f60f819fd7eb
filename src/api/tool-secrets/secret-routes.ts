/**
 * `/api/developer/secrets`: what tools put into headers. They go in and never come out; their names are listed. The
 * rules are `src/tools/secrets.ts`; the command line runs the same functions.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Sealer } from '../../sealing/sealer.ts';
import type { Database } from '../../store/database.ts';
import { listSecrets, removeSecret, type SecretSummary, setSecret, showSecret } from '../../tools/secrets.ts';
import { changedBy, type Guard } from '../guard.ts';
import { ETAG, json } from '../openapi/operation.ts';
import { routesOn } from '../route.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { deletedAnswer, secretAnswer, secretsAnswer, storedAnswer } from './answers.ts';

export const SECRETS_PATH = '/api/developer/secrets';

export const secretParams = z.object({ name: z.string().min(1).max(56) });
export const secretBody = z
  .strictObject({
    value: z
      .string()
      .min(1)
      .max(2_000)
      .meta({ description: 'Printable ASCII on one line, because it goes into a header' }),
  })
  .meta({ id: 'ToolSecretRequest' });

export function registerToolSecrets(
  app: FastifyInstance,
  guard: Guard,
  { database, sealer }: { database: Database; sealer: Sealer },
): void {
  const route = routesOn(app, guard);
  const one = `${SECRETS_PATH}/:name`;

  route({
    method: 'get',
    path: SECRETS_PATH,
    id: 'listToolSecrets',
    tag: 'Settings',
    summary: "The names of the workspace's secrets for tools",
    description: 'Never their values.',
    scope: 'settings:read',
    answers: { 200: json('All of them.', secretsAnswer) },
    handler: async (request) => ({
      data: await listSecrets(database, { slug: request.principal.slug }),
      nextCursor: null,
    }),
  });

  route({
    method: 'get',
    path: one,
    id: 'readToolSecret',
    tag: 'Settings',
    summary: 'When a secret was stored',
    description: 'Never its value. Its ETag is another as soon as the secret is.',
    scope: 'settings:read',
    params: secretParams,
    answers: { 200: json('The secret without itself.', secretAnswer, ETAG) },
    errors: ['secret_not_found'],
    async handler(request, reply) {
      const { slug } = request.principal;
      const secret = await refusing('secret_not_found', showSecret(database, { slug, name: request.params.name }));
      reply.header('etag', etagOf(secret));
      return secret;
    },
  });

  route({
    method: 'put',
    path: one,
    id: 'setToolSecret',
    tag: 'Settings',
    summary: 'Store or replace a secret',
    description:
      'For `{{secret.NAME}}` in the headers of tools, from the next request on. `TOOL_SIGNING_SECRET` signs the requests of tools.',
    scope: 'settings:write',
    ifMatch: true,
    params: secretParams,
    body: secretBody,
    answers: { 200: json('Its name.', storedAnswer, ETAG) },
    errors: ['secret_not_found', 'setting_refused'],
    async handler(request, reply) {
      const { name } = request.params;
      const expect = expectMatch<SecretSummary | null>(request, (current) => current);
      const wanted = { slug: request.principal.slug, name, value: request.body.value, by: changedBy(request), expect };
      const secret = await refusing('secret_not_found', setSecret(database, sealer, wanted));
      reply.header('etag', etagOf(secret));
      return { success: true, secret };
    },
  });

  route({
    method: 'delete',
    path: one,
    id: 'deleteToolSecret',
    tag: 'Settings',
    summary: 'Remove a secret',
    description: 'Tools that use it fail from the next request on.',
    scope: 'settings:write',
    ifMatch: true,
    params: secretParams,
    answers: { 200: json('It is gone.', deletedAnswer) },
    errors: ['secret_not_found', 'setting_refused'],
    async handler(request) {
      const { name } = request.params;
      const { slug } = request.principal;
      const expect = expectMatch<SecretSummary | null>(request, (current) => current);
      await refusing('secret_not_found', removeSecret(database, { slug, name, by: changedBy(request), expect }));
      return { success: true, name };
    },
  });
}
