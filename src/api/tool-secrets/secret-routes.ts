/**
 * `/api/developer/secrets`: what tools put into headers. They go in and never come out; their names are listed. The rules are
 * `src/tools/secrets.ts`; the command line runs the same functions.
 */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Database } from '../../store/database.ts';
import type { Sealer } from '../../store/secrets.ts';
import { listSecrets, removeSecret, type SecretSummary, setSecret, showSecret } from '../../tools/secrets.ts';
import { changedBy, type Guard } from '../guard.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { refusing } from '../settings/setting-refusal.ts';

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
  plain: FastifyInstance,
  guard: Guard,
  { database, sealer }: { database: Database; sealer: Sealer },
): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const writing = { onRequest: guard('settings:write') };
  const one = `${SECRETS_PATH}/:name`;

  app.get(SECRETS_PATH, { onRequest: guard('settings:read') }, async (request) => ({
    data: await listSecrets(database, { slug: request.principal.slug }),
    nextCursor: null,
  }));

  const readable = { onRequest: guard('settings:read'), schema: { params: secretParams } };
  app.get(one, readable, async (request, reply) => {
    const { slug } = request.principal;
    const secret = await refusing('secret_not_found', showSecret(database, { slug, name: request.params.name }));
    reply.header('etag', etagOf(secret));
    return secret;
  });

  app.put(one, { ...writing, schema: { params: secretParams, body: secretBody } }, async (request, reply) => {
    const { name } = request.params;
    const expect = expectMatch<SecretSummary | null>(request, (current) => current);
    const wanted = { slug: request.principal.slug, name, value: request.body.value, by: changedBy(request), expect };
    const secret = await refusing('secret_not_found', setSecret(database, sealer, wanted));
    reply.header('etag', etagOf(secret));
    return { success: true, secret };
  });

  app.delete(one, { ...writing, schema: { params: secretParams } }, async (request) => {
    const { name } = request.params;
    const { slug } = request.principal;
    const expect = expectMatch<SecretSummary | null>(request, (current) => current);
    await refusing('secret_not_found', removeSecret(database, { slug, name, by: changedBy(request), expect }));
    return { success: true, name };
  });
}
