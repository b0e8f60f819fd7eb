/**
 * `/api/developer/keys` (contract §7): list, read, create, change, rotate, revoke. A key is shown once. One that is
 * made here has no scope, address or life beyond that of the key that asks. The rules are `src/workspaces/api-keys.ts`;
 * the command line runs the same functions.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
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
import { ETAG, json } from '../openapi/operation.ts';
import { routesOn } from '../route.ts';
import { type CreateOnceDeps, createOnce } from '../settings/create-once.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { keyAnswer, keysAnswer, newKeyAnswer, rotatedKeyAnswer, storedKeyAnswer } from './answers.ts';

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

export function registerKeys(app: FastifyInstance, guard: Guard, deps: CreateOnceDeps): void {
  const route = routesOn(app, guard);
  const { database } = deps;
  const one = `${KEYS_PATH}/:keyId`;

  route({
    method: 'get',
    path: KEYS_PATH,
    id: 'listKeys',
    tag: 'Settings',
    summary: 'The API keys of the workspace',
    description: 'Revoked and expired ones too, without their secrets.',
    scope: 'settings:read',
    answers: { 200: json('All of them.', keysAnswer) },
    async handler(request) {
      const keys = await listApiKeys(database, { slug: request.principal.slug });
      return { data: keys.map(shown), nextCursor: null };
    },
  });

  route({
    method: 'post',
    path: KEYS_PATH,
    id: 'createKey',
    tag: 'Settings',
    summary: 'Make a key',
    description:
      'Its text is in the answer and nowhere else. It has no scope, address range or life beyond that of the key that asks. A workspace has at most five live keys.',
    scope: 'settings:write',
    once: true,
    body: newKeyBody,
    answers: { 201: json('The key, this once.', newKeyAnswer) },
    errors: ['setting_refused', 'already_exists'],
    handler: (request, reply) =>
      createOnce<NewApiKey>(deps, request, reply, {
        asked: byWhoAsks(request),
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
  });

  route({
    method: 'post',
    path: `${one}/rotate`,
    id: 'rotateKey',
    tag: 'Settings',
    summary: 'Make a key like this one, which then ends',
    description:
      'The old key stays valid for `overlapSeconds`, a minute to a week, so that its users can be changed in between.',
    scope: 'settings:write',
    once: true,
    params: keyParams,
    body: rotateBody,
    bodyOptional: true,
    answers: { 201: json('The new key, this once.', rotatedKeyAnswer) },
    errors: ['key_not_found', 'setting_refused', 'already_exists'],
    handler: (request, reply) =>
      createOnce<{ created: NewApiKey; replaced: ApiKey }>(deps, request, reply, {
        asked: byWhoAsks(request),
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
  });

  route({
    method: 'get',
    path: one,
    id: 'readKey',
    tag: 'Settings',
    summary: 'A key',
    description: 'A revoked or expired one too, without its secret.',
    scope: 'settings:read',
    params: keyParams,
    answers: { 200: json('The key.', keyAnswer, ETAG) },
    errors: ['key_not_found'],
    async handler(request, reply) {
      const named = { slug: request.principal.slug, keyId: request.params.keyId };
      const key = await refusing('key_not_found', readApiKey(database, named));
      reply.header('etag', etagOf(stateOf(key)));
      return shown(key);
    },
  });

  route({
    method: 'patch',
    path: one,
    id: 'changeKey',
    tag: 'Settings',
    summary: 'Change name, scopes, address ranges or end of life of a key',
    description:
      'Only what is given, of a live key; holds within 2 s. It is widened to no scope, address range or life beyond that of the key that asks.',
    scope: 'settings:write',
    ifMatch: true,
    params: keyParams,
    body: keyChangeBody,
    answers: { 200: json('The key.', storedKeyAnswer, ETAG) },
    errors: ['key_not_found', 'setting_refused'],
    async handler(request, reply) {
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
    },
  });

  route({
    method: 'delete',
    path: one,
    id: 'revokeKey',
    tag: 'Settings',
    summary: 'End a key',
    description: 'Holds within 2 s on every node, for the key that asks too. Revoking twice is fine.',
    scope: 'settings:write',
    params: keyParams,
    answers: { 200: json('The key.', storedKeyAnswer) },
    errors: ['key_not_found'],
    async handler(request) {
      const { slug } = request.principal;
      const { keyId } = request.params;
      const key = await refusing('key_not_found', revokeApiKey(database, { slug, keyId, by: changedBy(request) }));
      return { success: true, key: shown(key) };
    },
  });
}

/** A secret is repeated to whoever made it: another key may have fewer scopes than the one that is in the answer. */
const byWhoAsks = ({ principal, body }: FastifyRequest): object => ({ by: principal.actor, body: body ?? null });

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
