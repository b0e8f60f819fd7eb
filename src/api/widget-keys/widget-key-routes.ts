/**
 * `/api/developer/widget-keys` and `/web-settings`: the public keys of web pages, the origins that may use them, and
 * how web sessions are. The rules are `src/embed/widget-keys.ts` and `web-settings.ts`; the command line runs the same
 * functions.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { setWebSettings, type WebSettings } from '../../embed/web-settings.ts';
import {
  changeWidgetKey,
  createWidgetKey,
  listWidgetKeys,
  readWidgetKey,
  revokeWidgetKey,
  type WidgetKey,
} from '../../embed/widget-keys.ts';
import { changedBy, type Guard } from '../guard.ts';
import { ETAG, json } from '../openapi/operation.ts';
import { routesOn } from '../route.ts';
import { type CreateOnceDeps, createOnce } from '../settings/create-once.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { storedWidgetKeyAnswer, webSettingsAnswer, widgetKeyAnswer, widgetKeysAnswer } from './answers.ts';

export const WIDGET_KEYS_PATH = '/api/developer/widget-keys';
export const WEB_SETTINGS_PATH = '/api/developer/web-settings';

export const widgetKeyParams = z.object({
  publicKey: z.string().regex(/^pk_[0-9A-Za-z]{1,64}$/, 'must be a public key'),
});

const name = z.string().trim().min(1).max(120);
const allowedOrigins = z.array(z.string().max(300)).max(200).meta({
  description: 'https://example.com, https://*.example.com, http://localhost:3000; none: no page may use the key',
});

export const newWidgetKeyBody = z
  .strictObject({ name, allowedOrigins: allowedOrigins.default([]) })
  .meta({ id: 'NewWidgetKey' });

export const widgetKeyChangeBody = z
  .strictObject({
    name: name.optional(),
    enabled: z.boolean().optional(),
    allowedOrigins: allowedOrigins.optional(),
  })
  .meta({ id: 'WidgetKeyChange' });

export const webSettingsBody = z
  .strictObject({ sessionSeconds: z.int().min(60).max(7_200).optional(), webhooks: z.boolean().optional() })
  .meta({ id: 'WebSettingsChange' });

export function registerWidgetKeys(app: FastifyInstance, guard: Guard, deps: CreateOnceDeps): void {
  const route = routesOn(app, guard);
  const { database } = deps;
  const one = `${WIDGET_KEYS_PATH}/:publicKey`;

  route({
    method: 'get',
    path: WIDGET_KEYS_PATH,
    id: 'listWidgetKeys',
    tag: 'Settings',
    summary: 'The public keys for web pages',
    description: 'With the origins that may use them.',
    scope: 'settings:read',
    answers: { 200: json('All of them.', widgetKeysAnswer) },
    handler: async (request) => ({
      data: await listWidgetKeys(database, { slug: request.principal.slug }),
      nextCursor: null,
    }),
  });

  route({
    method: 'post',
    path: WIDGET_KEYS_PATH,
    id: 'createWidgetKey',
    tag: 'Settings',
    summary: 'Make a public key',
    description: 'Without an origin it is refused everywhere.',
    scope: 'settings:write',
    once: true,
    body: newWidgetKeyBody,
    answers: { 201: json('The key.', storedWidgetKeyAnswer, ETAG) },
    errors: ['setting_refused', 'already_exists'],
    handler: (request, reply) =>
      createOnce<WidgetKey>(deps, request, reply, {
        run: (once) => {
          const { name, allowedOrigins } = request.body;
          const { slug } = request.principal;
          const wanted = { slug, name, allow: allowedOrigins, by: changedBy(request) };
          return refusing('widget_key_not_found', createWidgetKey(once, wanted));
        },
        answer: (key) => ({
          status: 201,
          body: { success: true, widgetKey: key },
          headers: { etag: etagOf(stateOf(key)) },
        }),
      }),
  });

  route({
    method: 'get',
    path: one,
    id: 'readWidgetKey',
    tag: 'Settings',
    summary: 'A public key',
    description: 'Revoked ones can be read too.',
    scope: 'settings:read',
    params: widgetKeyParams,
    answers: { 200: json('The key.', widgetKeyAnswer, ETAG) },
    errors: ['widget_key_not_found'],
    async handler(request, reply) {
      const named = { slug: request.principal.slug, publicKey: request.params.publicKey };
      const key = await refusing('widget_key_not_found', readWidgetKey(database, named));
      reply.header('etag', etagOf(stateOf(key)));
      return key;
    },
  });

  route({
    method: 'patch',
    path: one,
    id: 'changeWidgetKey',
    tag: 'Settings',
    summary: 'Change name, switch or allowed origins',
    description: 'The list of origins is replaced whole. Sessions that run go on.',
    scope: 'settings:write',
    ifMatch: true,
    params: widgetKeyParams,
    body: widgetKeyChangeBody,
    answers: { 200: json('The key.', storedWidgetKeyAnswer, ETAG) },
    errors: ['widget_key_not_found', 'setting_refused'],
    async handler(request, reply) {
      const { allowedOrigins: allow, ...rest } = request.body;
      const key = await refusing(
        'widget_key_not_found',
        changeWidgetKey(database, {
          slug: request.principal.slug,
          publicKey: request.params.publicKey,
          change: given({ ...rest, allow }),
          by: changedBy(request),
          expect: expectMatch(request, stateOf),
        }),
      );
      reply.header('etag', etagOf(stateOf(key)));
      return { success: true, widgetKey: key };
    },
  });

  route({
    method: 'delete',
    path: one,
    id: 'revokeWidgetKey',
    tag: 'Settings',
    summary: 'Revoke a public key for good',
    description: 'New sessions and tokens are refused at once; sessions that run go on.',
    scope: 'settings:write',
    ifMatch: true,
    params: widgetKeyParams,
    answers: { 200: json('The key.', storedWidgetKeyAnswer) },
    errors: ['widget_key_not_found', 'setting_refused'],
    async handler(request) {
      const { slug } = request.principal;
      const { publicKey } = request.params;
      const expect = expectMatch(request, stateOf);
      const revoking = revokeWidgetKey(database, { slug, publicKey, by: changedBy(request), expect });
      return { success: true, widgetKey: await refusing('widget_key_not_found', revoking) };
    },
  });

  route({
    method: 'get',
    path: WEB_SETTINGS_PATH,
    id: 'readWebSettings',
    tag: 'Settings',
    summary: 'How web sessions are',
    description: 'How many there may be is among the limits.',
    scope: 'settings:read',
    answers: { 200: json('The settings.', webSettingsAnswer, ETAG) },
    async handler(request, reply) {
      const found = await setWebSettings(database, { slug: request.principal.slug, settings: {} });
      reply.header('etag', etagOf(found));
      return found;
    },
  });

  route({
    method: 'patch',
    path: WEB_SETTINGS_PATH,
    id: 'changeWebSettings',
    tag: 'Settings',
    summary: 'Change how web sessions are',
    description: 'For sessions that begin from now on.',
    scope: 'settings:write',
    ifMatch: true,
    body: webSettingsBody,
    answers: { 200: json('The settings.', webSettingsAnswer, ETAG) },
    errors: ['setting_refused'],
    async handler(request, reply) {
      const { slug } = request.principal;
      const expect = expectMatch<WebSettings>(request, (current) => current);
      const wanted = { slug, settings: given(request.body), by: changedBy(request), expect };
      const changed = await setWebSettings(database, wanted);
      reply.header('etag', etagOf(changed));
      return changed;
    },
  });
}

const stateOf = ({ name: called, allowedOrigins: origins, enabled, revokedAt }: WidgetKey): object => ({
  name: called,
  allowedOrigins: origins,
  enabled,
  revokedAt,
});
