import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWidgetKey, revokeWidgetKey } from '../../../src/embed/widget-keys.ts';
import { PLAIN_LOOK } from '../../../src/embed/widget-looks.ts';
import { WIDGET_LANGUAGES, widgetTexts } from '../../../src/embed/widget-texts.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';

let api: ApiFixture;
let publicKey: string;
beforeAll(async () => {
  api = await createApiFixture();
  publicKey = (await createWidgetKey(api.database, { slug: 'acme', name: 'Shop', allow: [] })).publicKey;
});
afterAll(() => api.close());

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const LOOK = {
  name: 'River Dental',
  color: '#ffe600',
  language: 'de',
  position: 'bottom-left',
  panel: 'docked',
  typing: true,
  transcript: true,
  errorText: 'Bitte rufen Sie uns an.',
  picture: `data:image/png;base64,${PNG}`,
};

const ask = (
  method: NonNullable<InjectOptions['method']>,
  payload?: object,
  { key = api.acme.key, path = '', headers = {} }: { key?: string; path?: string; headers?: object } = {},
) =>
  api.app.inject({
    method,
    url: `/api/developer/widget-keys/${publicKey}/look${path}`,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
const shown = (key = publicKey) => api.app.inject({ url: `/embed/looks/${key}` });

describe('the look of a widget key', () => {
  it('is plain at first, set whole, and told to any page with what follows from it', async () => {
    expect((await ask('GET')).json()).toEqual(PLAIN_LOOK);
    expect((await shown()).json()).toMatchObject({ name: null, colors: null, texts: null });
    const set = await ask('PUT', LOOK);
    expect(set.statusCode, set.body).toBe(200);
    expect((await ask('GET')).json()).toEqual(LOOK);
    const told = await shown();
    expect(told.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=60',
    });
    expect(told.json()).toMatchObject({
      name: 'River Dental',
      texts: { end: 'Auflegen' },
      colors: { dark: { accent: '#ffe600', onAccent: '#061014' } },
      picture: LOOK.picture,
    });
    const audit = await api.database.query<{ after: string }>(
      `SELECT after FROM audit_log WHERE action = 'widget_key.look_changed'`,
    );
    expect(JSON.parse(audit[0]!.after)).toMatchObject({ name: 'River Dental', picture: true });
  });

  it('is changed for the state that its editor saw', async () => {
    const { etag } = (await ask('GET')).headers;
    expect((await ask('PUT', LOOK, { headers: { 'if-match': '"other"' } })).json().code).toBe('precondition_failed');
    const changed = await ask(
      'PUT',
      { ...LOOK, name: null, picture: null },
      { headers: { 'if-match': etag as string } },
    );
    expect(changed.json()).toMatchObject({ name: null, picture: null });
  });

  it.each([
    ['color', 'red'],
    ['color', '#FFF'],
    ['language', 'xx'],
    ['position', 'middle'],
    ['name', 'x'.repeat(61)],
    ['picture', 'https://evil.example/a.png'],
    ['picture', 'data:image/svg+xml;base64,PHN2Zz4='],
    ['picture', `data:image/jpeg;base64,${PNG}`],
    [
      'picture',
      `data:image/png;base64,${Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.alloc(40_000)]).toString('base64')}`,
    ],
  ])('is refused with %s %s', async (field, value) => {
    const refused = await ask('PUT', { ...LOOK, [field]: value });
    expect([refused.statusCode, refused.json().code], refused.body.slice(0, 300)).toEqual([400, 'invalid_request']);
  });

  it('is previewed without being stored, and is nobody else’s', async () => {
    const before = (await ask('GET')).json();
    const preview = await ask('POST', { ...LOOK, name: 'Other' }, { path: '/preview' });
    expect(preview.json()).toMatchObject({ name: 'Other', texts: { end: 'Auflegen' } });
    expect((await ask('GET')).json()).toEqual(before);
    for (const [method, payload, path] of [
      ['GET', undefined, ''],
      ['PUT', LOOK, ''],
      ['POST', LOOK, '/preview'],
    ] as const) {
      expect((await ask(method, payload, { key: api.other.key, path })).json().code).toBe('widget_key_not_found');
    }
  });

  it('of a key that is revoked, or that nobody has, is the plain one', async () => {
    await ask('PUT', LOOK);
    await revokeWidgetKey(api.database, { publicKey });
    expect((await shown()).json()).toMatchObject({ name: null, texts: null });
    expect((await shown('pk_nobodys')).json()).toEqual((await shown()).json());
  });
});

it('every language of the widget has the same words, and each of them says something', () => {
  for (const language of WIDGET_LANGUAGES) {
    const { faults, ...words } = widgetTexts(language) ?? { faults: {} };
    for (const word of [...Object.values(words), ...Object.values(faults)]) expect(word, language).not.toBe('');
  }
});
