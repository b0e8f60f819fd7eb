/**
 * `/api/developer/keys` (contract §7): list, read, create, change, rotate, revoke. A key is shown once. One that is made here has no scope, address
 * or life beyond that of the key that asks. The rules are `src/workspaces/api-keys.ts`; the command line runs the same functions.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  type ApiKey,
  createApiKey,
  type Grantor,
  listApiKeys,
  type NewApiKey,
  revokeApiKey,
  rotateApiKey,
  SCOPES,
} from '../../workspaces/api-keys.ts';
import { changeApiKey, readApiKey } from '../../workspaces/change-api-key.ts';
import { changedBy, type Guard } from '../guard.ts';
import { type CreateOnceDeps, createOnce } from '../settings/create-once.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';

export const KEYS_PATH = '/api/developer/keys';

export const keyParams = z.object({ keyId: z.string().regex(/^[0-9A-Za-z]{8}$/, 'must be the eight characters') });

const name = z.string().trim().min(1).max(120);
const scopes = z.array(z.enum(SCOPES)).min(1).max(SCOPES.length);
const cidrs = z.array(z.string().max(50)).max(50);
const RANGES = { description: '203.0.113.0/24; none: anywhere' };

export const newKeyBody = z
  .strictObject({
    name,
    scopes,
    allowedCidrs: cidrs.default([]).meta(RANGES),
    expiresAt: z.iso
      .datetime({ offset: true })
      .nullish()
      .transform((text) => (text === null || text === undefined ? null : new Date(text))),
  })
  .meta({ id: 'NewApiKeyRequest' });

export const keyChangeBody = z
  .strictObject({
    name: name.optional(),
    scopes: scopes.optional().meta({ description: 'All of them: the list is replaced whole' }),
    allowedCidrs: cidrs.optional().meta(RANGES),
    expiresAt: z.iso
      .datetime({ offset: true })
      .transform((text) => new Date(text))
      .nullish()
      .meta({ description: 'In the future; null: it does not end by itself' }),
  })
  .meta({ id: 'ApiKeyChange' });

export const rotateBody = z
  .strictObject({
    overlapSeconds: z.int().min(60).max(604_800).optional().meta({
      description: 'For how long the old key stays valid; default a day',
    }),
  })
  .nullish()
  .meta({ id: 'RotateApiKeyRequest' });

export function registerKeys(plain: FastifyInstance, guard: Guard, deps: CreateOnceDeps): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database } = deps;
  const one = `${KEYS_PATH}/:keyId`;

  app.get(KEYS_PATH, { onRequest: guard('settings:read') }, async (request) => {
    const keys = await listApiKeys(database, { slug: request.principal.slug });
    return { data: keys.map(shown), nextCursor: null };
  });

  const writing = { onRequest: guard('settings:write') };
  app.post(KEYS_PATH, { ...writing, schema: { body: newKeyBody } }, (request, reply) =>
    createOnce<NewApiKey>(deps, request, reply, {
      run: (once) =>
        refusing(
          'key_not_found',
          createApiKey(once, {
            slug: request.principal.slug,
            ...request.body,
            by: changedBy(request),
            grantor: grantorOf(request),
          }),
        ),
      answer: (made) => ({ status: 201, body: { success: true, key: shown(made), secret: made.text } }),
    }),
  );

  app.post(`${one}/rotate`, { ...writing, schema: { params: keyParams, body: rotateBody } }, (request, reply) =>
    createOnce<{ created: NewApiKey; replaced: ApiKey }>(deps, request, reply, {
      run: (once) =>
        refusing(
          'key_not_found',
          rotateApiKey(once, {
            slug: request.principal.slug,
            keyId: request.params.keyId,
            overlapSeconds: request.body?.overlapSeconds,
            by: changedBy(request),
            grantor: grantorOf(request),
          }),
        ),
      answer: ({ created, replaced }) => ({
        status: 201,
        body: { success: true, key: shown(created), replaced: shown(replaced), secret: created.text },
      }),
    }),
  );

  app.get(one, { onRequest: guard('settings:read'), schema: { params: keyParams } }, async (request, reply) => {
    const named = { slug: request.principal.slug, keyId: request.params.keyId };
    const key = await refusing('key_not_found', readApiKey(database, named));
    reply.header('etag', etagOf(stateOf(key)));
    return shown(key);
  });

  app.patch(one, { ...writing, schema: { params: keyParams, body: keyChangeBody } }, async (request, reply) => {
    const key = await refusing(
      'key_not_found',
      changeApiKey(database, {
        slug: request.principal.slug,
        keyId: request.params.keyId,
        change: given(request.body),
        by: changedBy(request),
        grantor: grantorOf(request),
        expect: expectMatch(request, stateOf),
      }),
    );
    reply.header('etag', etagOf(stateOf(key)));
    return { success: true, key: shown(key) };
  });

  app.delete(one, { ...writing, schema: { params: keyParams } }, async (request) => {
    const { slug } = request.principal;
    const { keyId } = request.params;
    const key = await refusing('key_not_found', revokeApiKey(database, { slug, keyId, by: changedBy(request) }));
    return { success: true, key: shown(key) };
  });
}

function grantorOf({ principal }: FastifyRequest): Grantor {
  const { scopes, allowedCidrs, expiresAt } = principal;
  return { scopes, allowedCidrs, expiresAt };
}

const stateOf = ({ name: called, scopes: held, allowedCidrs, expiresAt, revokedAt }: ApiKey): object => ({
  name: called,
  scopes: held,
  allowedCidrs,
  expiresAt,
  revokedAt,
});

/** Never its text, which a new one carries. */
export function shown(key: ApiKey): ApiKey {
  const { keyId, name, scopes, allowedCidrs, expiresAt, revokedAt, lastUsedAt, createdAt } = key;
  return { keyId, name, scopes, allowedCidrs, expiresAt, revokedAt, lastUsedAt, createdAt };
}
