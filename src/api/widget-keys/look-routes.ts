/**
 * `/api/developer/widget-keys/{publicKey}/look`: how the widget looks on the websites of a key, and
 * `GET /embed/looks/{publicKey}`, which visitors' browsers ask. The rules are `src/embed/widget-looks.ts`.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { findActiveWidgetKey, readWidgetKey } from '../../embed/widget-keys.ts';
import {
  MOST_PICTURE_BYTES,
  PLAIN_LOOK,
  readWidgetLook,
  setWidgetLook,
  shownLook,
  WIDGET_PANELS,
  WIDGET_POSITIONS,
  type WidgetLook,
} from '../../embed/widget-looks.ts';
import { WIDGET_LANGUAGES } from '../../embed/widget-texts.ts';
import type { Database } from '../../store/database.ts';
import { isStorable } from '../../store/storable.ts';
import { changedBy, type Guard } from '../guard.ts';
import { ETAG, json } from '../openapi/operation.ts';
import { routesOn } from '../route.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { WIDGET_KEYS_PATH, widgetKeyParams } from './widget-key-routes.ts';

/** As text: four characters for three bytes, and the type before them. */
const LONGEST_PICTURE = Math.ceil(MOST_PICTURE_BYTES / 3) * 4 + 40;
/** How long browsers keep a look: whoever changes it sees it soon. */
const KEPT_SECONDS = 60;

const words = (most: number) =>
  z.string().trim().min(1).max(most).refine(isStorable, 'must not hold a NUL character').nullable();
const about = {
  name: "The panel's heading; null: what the page says",
  color: '`#rrggbb`, made darker or lighter until it can be read; null: the widget’s own',
  language: 'Of what it says to visitors; the agent’s language is its own',
  position: 'Of the button and of the docked panel',
  panel: 'What opens while a call runs, where the script says `data-panel="auto"`; `docked` does not block the page',
  typing: 'Visitors may type, too',
  transcript: 'What was said can be read and copied afterwards',
  errorText: 'What visitors read when they cannot mend it; null: the widget’s own words',
  picture: `\`data:image/png;base64,…\`, JPEG or WebP, at most ${MOST_PICTURE_BYTES} bytes`,
};

const fields = {
  name: words(60).meta({ description: about.name }),
  color: z
    .string()
    .regex(/^#[0-9a-f]{6}$/, 'must be like #0f766e')
    .nullable()
    .meta({ description: about.color }),
  language: z.enum(WIDGET_LANGUAGES).meta({ description: about.language }),
  position: z.enum(WIDGET_POSITIONS).meta({ description: about.position }),
  panel: z.enum(WIDGET_PANELS).meta({ description: about.panel }),
  typing: z.boolean().meta({ description: about.typing }),
  transcript: z.boolean().meta({ description: about.transcript }),
  errorText: words(300).meta({ description: about.errorText }),
  picture: z.string().max(LONGEST_PICTURE).nullable().meta({ description: about.picture }),
};
/** What is absent is as it comes. */
export const widgetLookBody = z
  .strictObject({
    name: fields.name.default(PLAIN_LOOK.name),
    color: fields.color.default(PLAIN_LOOK.color),
    language: fields.language.default(PLAIN_LOOK.language),
    position: fields.position.default(PLAIN_LOOK.position),
    panel: fields.panel.default(PLAIN_LOOK.panel),
    typing: fields.typing.default(PLAIN_LOOK.typing),
    transcript: fields.transcript.default(PLAIN_LOOK.transcript),
    errorText: fields.errorText.default(PLAIN_LOOK.errorText),
    picture: fields.picture.default(PLAIN_LOOK.picture),
  })
  .meta({ id: 'WidgetLookRequest' });
const widgetLookAnswer = z.strictObject(fields).meta({ id: 'WidgetLook' });

const shades = z.strictObject({ accent: z.string(), onAccent: z.string().describe('Of what is written on it') });
const appearanceAnswer = z
  .strictObject({
    ...z.strictObject(fields).omit({ color: true }).shape,
    colors: z.strictObject({ light: shades, dark: shades }).nullable(),
    texts: z.record(z.string(), z.unknown()).nullable().describe('Null: the words that the widget brings'),
  })
  .meta({ id: 'WidgetAppearance' });

export function registerWidgetLooks(app: FastifyInstance, guard: Guard, { database }: { database: Database }): void {
  const route = routesOn(app, guard);
  const path = `${WIDGET_KEYS_PATH}/:publicKey/look`;

  route({
    method: 'get',
    path,
    id: 'readWidgetLook',
    tag: 'Settings',
    summary: 'How the widget looks on the websites of a key',
    description: 'As its owner has set it; before that, as it comes.',
    scope: 'settings:read',
    params: widgetKeyParams,
    answers: { 200: json('The look.', widgetLookAnswer, ETAG) },
    errors: ['widget_key_not_found'],
    async handler(request, reply) {
      const named = { slug: request.principal.slug, publicKey: request.params.publicKey };
      await refusing('widget_key_not_found', readWidgetKey(database, named));
      const look = await readWidgetLook(database, named.publicKey);
      reply.header('etag', etagOf(look));
      return look;
    },
  });

  route({
    method: 'put',
    path,
    id: 'setWidgetLook',
    tag: 'Settings',
    summary: 'Set how the widget looks',
    description: 'The whole of it. Visitors have it within a minute; no page needs to be changed.',
    scope: 'settings:write',
    ifMatch: true,
    params: widgetKeyParams,
    body: widgetLookBody,
    answers: { 200: json('The look.', widgetLookAnswer, ETAG) },
    errors: ['widget_key_not_found'],
    async handler(request, reply) {
      const change = {
        slug: request.principal.slug,
        publicKey: request.params.publicKey,
        look: request.body,
        by: changedBy(request),
        expect: expectMatch<WidgetLook>(request, (current) => current),
      };
      const look = await refusing('widget_key_not_found', setWidgetLook(database, change));
      reply.header('etag', etagOf(look));
      return look;
    },
  });

  route({
    method: 'post',
    path: `${path}/preview`,
    id: 'previewWidgetLook',
    tag: 'Settings',
    summary: 'A look as visitors would get it',
    description: 'Nothing is stored.',
    scope: 'settings:read',
    params: widgetKeyParams,
    body: widgetLookBody,
    answers: { 200: json('What their browsers would be told.', appearanceAnswer) },
    errors: ['widget_key_not_found'],
    async handler(request) {
      const named = { slug: request.principal.slug, publicKey: request.params.publicKey };
      await refusing('widget_key_not_found', readWidgetKey(database, named));
      return shownLook(request.body);
    },
  });
}

/** For any page: a look is no secret, and an unknown key has the plain one. */
export function registerShownLook(app: FastifyInstance, { database }: { database: Database }): void {
  const route = routesOn(app, null);
  route({
    method: 'get',
    path: '/embed/looks/:publicKey',
    id: 'embedLook',
    tag: 'Web',
    summary: 'How the widget looks, for browsers',
    description: 'Asked by the embed script. A key that is not in use has the plain look.',
    scope: null,
    params: widgetKeyParams,
    answers: { 200: json('The look.', appearanceAnswer, { 'Access-Control-Allow-Origin': 'Any page may read it' }) },
    async handler(request, reply) {
      const { publicKey } = request.params;
      const isUsed = (await findActiveWidgetKey(database, publicKey)) !== undefined;
      const look = isUsed ? await readWidgetLook(database, publicKey) : PLAIN_LOOK;
      reply.headers({
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': `public, max-age=${KEPT_SECONDS}`,
      });
      return shownLook(look);
    },
  });
}
