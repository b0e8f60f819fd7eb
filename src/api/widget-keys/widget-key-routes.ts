/**
 * `/api/developer/widget-keys` and `/web-settings`: the public keys of web pages, the origins that may use them, and how web sessions
 * are. The rules are `src/embed/widget-keys.ts` and `web-settings.ts`; the command line runs the same functions.
 */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
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
import { type CreateOnceDeps, createOnce } from '../settings/create-once.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';

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

export function registerWidgetKeys(plain: FastifyInstance, guard: Guard, deps: CreateOnceDeps): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database } = deps;
  const reading = { onRequest: guard('settings:read') };
  const writing = { onRequest: guard('settings:write') };
  const one = `${WIDGET_KEYS_PATH}/:publicKey`;

  app.get(WIDGET_KEYS_PATH, reading, async (request) => ({
    data: await listWidgetKeys(database, { slug: request.principal.slug }),
    nextCursor: null,
  }));

  app.post(WIDGET_KEYS_PATH, { ...writing, schema: { body: newWidgetKeyBody } }, (request, reply) =>
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
  );

  app.get(one, { ...reading, schema: { params: widgetKeyParams } }, async (request, reply) => {
    const named = { slug: request.principal.slug, publicKey: request.params.publicKey };
    const key = await refusing('widget_key_not_found', readWidgetKey(database, named));
    reply.header('etag', etagOf(stateOf(key)));
    return key;
  });

  const changing = { ...writing, schema: { params: widgetKeyParams, body: widgetKeyChangeBody } };
  app.patch(one, changing, async (request, reply) => {
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
  });

  app.delete(one, { ...writing, schema: { params: widgetKeyParams } }, async (request) => {
    const { slug } = request.principal;
    const { publicKey } = request.params;
    const expect = expectMatch(request, stateOf);
    const revoking = revokeWidgetKey(database, { slug, publicKey, by: changedBy(request), expect });
    return { success: true, widgetKey: await refusing('widget_key_not_found', revoking) };
  });

  app.get(WEB_SETTINGS_PATH, reading, async (request, reply) => {
    const found = await setWebSettings(database, { slug: request.principal.slug, settings: {} });
    reply.header('etag', etagOf(found));
    return found;
  });

  app.patch(WEB_SETTINGS_PATH, { ...writing, schema: { body: webSettingsBody } }, async (request, reply) => {
    const { slug } = request.principal;
    const expect = expectMatch<WebSettings>(request, (current) => current);
    const wanted = { slug, settings: given(request.body), by: changedBy(request), expect };
    const changed = await setWebSettings(database, wanted);
    reply.header('etag', etagOf(changed));
    return changed;
  });
}

const stateOf = ({ name: called, allowedOrigins: origins, enabled, revokedAt }: WidgetKey): object => ({
  name: called,
  allowedOrigins: origins,
  enabled,
  revokedAt,
});
