import { randomBytes } from 'node:crypto';
import Fastify, { type InjectOptions } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthenticator } from '../../../src/api/authentication.ts';
import { operationsWithoutServer } from '../../../src/api/openapi/without-a-server.ts';
import { createOperatorGuard } from '../../../src/api/operator/operator-guard.ts';
import { makeApiKey } from '../../../src/workspaces/api-key-format.ts';
import { createApiKey, SCOPES } from '../../../src/workspaces/api-keys.ts';
import { createOperatorKey, revokeOperatorKey } from '../../../src/workspaces/operator-keys.ts';
import { createMemoryLimitStore } from '../../support/fakes/memory-limit-store.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';

const OPERATIONS = await operationsWithoutServer();

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());

type Headers = Record<string, string>;

const ask = (
  method: InjectOptions['method'],
  path: string,
  payload?: object,
  headers: Headers = {},
  key = api.acme.key,
) =>
  api.app.inject({
    method: method!,
    url: `/api/developer${path}`,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(payload === undefined ? {} : { payload }),
  });

const audited = (action: string) =>
  api.database.query<{ actor: string; target: string; before: string | null; after: string | null }>(
    'SELECT actor, target, before, after FROM audit_log WHERE action = $1 ORDER BY id',
    [action],
  );

const DEFINITION = { kind: 'tone', name: 'Bell', direction: 'outbound', toneHz: 600 };

describe('scopes', () => {
  it('a key without the scope gets 403 with the name of the scope in the message, for every operation below /api/developer', async () => {
    const { text } = await createApiKey(api.database, { slug: 'acme', name: 'bench', scopes: ['bench'] });
    const keyed = OPERATIONS.filter(
      ({ scope, specified }) => scope !== null && scope !== 'operator' && scope !== 'person' && !specified,
    );
    expect(keyed.length).toBeGreaterThan(40);
    for (const { method, route, scope } of keyed) {
      const url = route.replace(/:\w+/g, 'x');
      const answer = await api.app.inject({
        method: method as 'get',
        url,
        headers: { authorization: `Bearer ${text}` },
      });
      expect([method, route, answer.statusCode, answer.json().message]).toEqual([
        method,
        route,
        403,
        `The API key lacks the scope ${scope}`,
      ]);
    }
    await api.database.query(`DELETE FROM api_keys WHERE name = 'bench'`);
  });
});

describe('keys', () => {
  it('are made, shown once, listed without secret, rotated with an overlap, and revoked', async () => {
    const made = await ask('POST', '/keys', { name: 'backend', scopes: ['calls:read', 'settings:read'] });
    expect(made.statusCode).toBe(201);
    const { key, secret } = made.json();
    expect(secret).toMatch(/^sv_live_/);
    expect(JSON.stringify(key)).not.toContain(secret);
    expect((await ask('GET', '/keys', undefined, {}, secret)).json().data).toHaveLength(2);
    const rotated = (await ask('POST', `/keys/${key.keyId}/rotate`, { overlapSeconds: 60 })).json();
    expect(rotated.replaced).toMatchObject({ keyId: key.keyId });
    expect(Date.parse(rotated.replaced.expiresAt) - Date.now()).toBeLessThanOrEqual(60_000);
    for (const text of [secret, rotated.secret]) {
      expect((await ask('GET', '/keys', undefined, {}, text)).statusCode).toBe(200);
    }
    for (const keyId of [key.keyId, rotated.key.keyId]) {
      expect((await ask('DELETE', `/keys/${keyId}`)).json().key.revokedAt).not.toBeNull();
    }
    api.clock.advanceMs(1_001);
    expect((await ask('GET', '/keys', undefined, {}, rotated.secret)).statusCode).toBe(401);
    const rows = await audited('key.created');
    expect(rows.at(-1)?.actor).toBe(`key:${api.acme.keyId}`);
    expect(JSON.stringify(rows)).not.toContain(secret);
  });

  it('that would be past at once are refused with 400, and one of five is rotated', async () => {
    const wanted = { name: 'late', scopes: ['calls:read'] };
    const past = await ask('POST', '/keys', { ...wanted, expiresAt: '2020-01-01T00:00:00Z' });
    expect([past.statusCode, past.json().code]).toEqual([400, 'invalid_request']);
    expect(past.json().details[0].issue).toMatch(/`expiresAt` must lie in the future/);
    await api.database.query('DELETE FROM api_keys WHERE key_id <> ALL ($1)', [[api.acme.keyId, api.other.keyId]]);
    const made = [];
    for (let key = 0; key < 4; key++) made.push((await ask('POST', '/keys', wanted)).json().key.keyId);
    expect((await ask('POST', '/keys', wanted)).json().code).toBe('setting_refused');
    const rotated = await ask('POST', `/keys/${made[0]}/rotate`, {});
    expect([rotated.statusCode, rotated.json().replaced?.keyId]).toEqual([201, made[0]]);
    await api.database.query(`DELETE FROM api_keys WHERE name = 'late'`);
  });

  it('give no scope, address range or life that they have not themselves', async () => {
    const bound = await createApiKey(api.database, {
      slug: 'acme',
      name: 'bound',
      scopes: ['settings:write', 'calls:read'],
      allowedCidrs: ['127.0.0.0/8'],
      expiresAt: new Date(Date.now() + 3_600_000),
    });
    const wanted = {
      name: 'child',
      scopes: ['calls:read'],
      allowedCidrs: ['127.0.0.1/32'],
      expiresAt: bound.expiresAt,
    };
    const refused = async (change: object, words: RegExp) => {
      const answer = await ask('POST', '/keys', { ...wanted, ...change }, {}, bound.text);
      expect([answer.statusCode, answer.json().code]).toEqual([409, 'setting_refused']);
      expect(answer.json().details[0].issue).toMatch(words);
    };
    await refused({ scopes: ['calls:read', 'calls:write'] }, /lacks calls:write/);
    await refused({ allowedCidrs: [] }, /bound to 127\.0\.0\.0\/8/);
    await refused({ allowedCidrs: ['126.0.0.0/7'] }, /bound to/);
    await refused({ expiresAt: null }, /ends at/);
    const stronger = await ask('POST', `/keys/${api.acme.keyId}/rotate`, {}, {}, bound.text);
    expect([stronger.statusCode, stronger.json().code]).toEqual([409, 'setting_refused']);
    expect((await ask('POST', '/keys', wanted, {}, bound.text)).statusCode).toBe(201);
    await api.database.query(`DELETE FROM api_keys WHERE name IN ('bound', 'child')`);
  });

  it('a repeated request with one Idempotency-Key makes one key and gets the same secret, which lies sealed', async () => {
    const headers = { 'idempotency-key': 'make-one' };
    const body = { name: 'once', scopes: ['calls:read'] };
    const [first, second] = [await ask('POST', '/keys', body, headers), await ask('POST', '/keys', body, headers)];
    expect(second.json()).toEqual(first.json());
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect((await ask('POST', '/keys', { ...body, name: 'two' }, headers)).statusCode).toBe(422);
    // Not somebody else: the one who asks may have fewer scopes than the key that would be shown.
    const { text } = await createApiKey(api.database, { slug: 'acme', name: 'less', scopes: ['settings:write'] });
    const repeated = await ask('POST', '/keys', body, headers, text);
    expect([repeated.statusCode, repeated.json().code]).toEqual([422, 'idempotency_key_reused']);
    await api.database.query(`DELETE FROM api_keys WHERE name = 'less'`);
    const stored = await api.database.query(`SELECT * FROM idempotency_keys WHERE key = 'make-one'`);
    expect(JSON.stringify(stored)).not.toContain(first.json().secret);
    expect((await api.database.query(`SELECT 1 FROM api_keys WHERE name = 'once'`)).length).toBe(1);
    await api.database.query(`DELETE FROM api_keys WHERE name = 'once'`);
  });
});

describe('agents', () => {
  it('are made, changed by version, brought back to an old one, and deleted; a live call keeps its version', async () => {
    const long = await ask('POST', '/agents', { definition: { ...DEFINITION, name: 'x'.repeat(100_000) } });
    expect([long.statusCode, long.json().details[0].issue]).toEqual([413, 'The request may have at most 65536 bytes.']);
    const made = await ask('POST', '/agents', { definition: DEFINITION });
    expect(made.json().warnings).toEqual([]);
    expect([made.statusCode, made.headers['etag']]).toEqual([201, '"1"']);
    const { id } = made.json().agent;
    expect((await api.call({ agentId: id })).statusCode).toBe(200);
    const live = await api.insertCall(api.acme, { agent_id: id, agent_version: 1, status: 'in_progress' });

    const changed = await ask(
      'POST',
      `/agents/${id}/versions`,
      { definition: { ...DEFINITION, toneHz: 700 } },
      { 'if-match': '"1"' },
    );
    expect(changed.json().agent).toMatchObject({ version: 2 });
    const late = await ask('POST', `/agents/${id}/versions`, { definition: DEFINITION }, { 'if-match': '"1"' });
    expect([late.statusCode, late.json().code]).toEqual([412, 'precondition_failed']);
    expect((await ask('GET', `/agents/${id}`)).json().definition.toneHz).toBe(700);

    expect((await ask('POST', `/agents/${id}/versions/1/activate`)).json().agent.version).toBe(1);
    expect((await ask('POST', `/agents/${id}/versions`, { definition: DEFINITION })).json().agent.version).toBe(3);
    const versions = (await ask('GET', `/agents/${id}/versions`)).json().data;
    expect(versions.map((one: { version: number; isCurrent: boolean }) => [one.version, one.isCurrent])).toEqual([
      [3, true],
      [2, false],
      [1, false],
    ]);
    expect((await ask('GET', `/agents/${id}/versions/9`)).json().code).toBe('agent_version_not_found');

    expect((await ask('DELETE', `/agents/${id}`)).statusCode).toBe(200);
    expect((await ask('GET', `/agents/${id}`)).json().code).toBe('agent_not_found');
    expect((await api.call({ agentId: id })).statusCode).toBe(404);
    const [call] = await api.database.query<{ definition: { toneHz: number } }>(
      `SELECT v.definition FROM calls c JOIN agent_versions v ON v.agent_id = c.agent_id AND v.version = c.agent_version
       WHERE c.call_uuid = $1`,
      [live],
    );
    expect(call?.definition.toneHz).toBe(600);
  });

  it('get a line by editors who do not overwrite each other; an editor of the definition minds the version alone', async () => {
    const { id } = (await ask('POST', '/agents', { definition: DEFINITION })).json().agent;
    const path = `/agents/${id}`;
    const tag = async () => String((await ask('GET', path)).headers['etag']);
    const seen = { 'if-match': await tag() };
    const mine = await ask('PATCH', path, { lineId: api.acme.lineId }, seen);
    expect([mine.statusCode, mine.headers['etag']]).toEqual([200, await tag()]);
    expect(mine.headers['etag']).not.toBe(seen['if-match']);
    const late = await ask('PATCH', path, { lineId: null }, seen);
    expect([late.statusCode, late.json().code, late.headers['etag']]).toEqual([
      412,
      'precondition_failed',
      await tag(),
    ]);
    expect((await ask('GET', path)).json().lineId).toBe(api.acme.lineId);

    const next = await ask('POST', `${path}/versions`, { definition: DEFINITION }, { 'if-match': await tag() });
    expect([next.statusCode, next.headers['etag']]).toEqual([201, await tag()]);
    const again = await ask('PATCH', path, { lineId: null }, { 'if-match': String(mine.headers['etag']) });
    expect(again.statusCode).toBe(412);
    expect((await ask('PATCH', path, { lineId: null }, { 'if-match': await tag() })).headers['etag']).toBe('"2"');
    expect((await ask('PATCH', path, { lineId: null })).statusCode).toBe(200);
  });

  it('a faulty definition is refused with the path of each fault, and nothing is stored', async () => {
    const before = (await ask('GET', '/agents')).json().data.length;
    const answer = await ask('POST', '/agents', { definition: { ...DEFINITION, toneHz: 'high', direction: 'up' } });
    expect([answer.statusCode, answer.json().code]).toEqual([400, 'invalid_agent']);
    const fields = answer.json().details.map((one: { field: string }) => one.field);
    expect(fields.toSorted()).toEqual(['direction', 'toneHz']);
    expect((await ask('GET', '/agents')).json().data).toHaveLength(before);
  });
});

describe('phone numbers', () => {
  it('take credentials and never show them, keep limits within the caps, and stop at removal', async () => {
    const number = '+14155550177';
    const credentials = { authId: 'MA9', authToken: 'canary-of-settings' };
    const made = await ask('POST', '/phone-numbers', { number, carrier: 'plivo', credentials });
    expect(made.statusCode).toBe(201);
    const { id } = made.json().phoneNumber;
    expect(made.body).not.toContain('canary');
    expect((await ask('POST', '/phone-numbers', { number, carrier: 'plivo' })).json().code).toBe('already_exists');

    const etag = String((await ask('GET', `/phone-numbers/${id}`)).headers['etag']);
    const changed = await ask('PATCH', `/phone-numbers/${id}`, { limits: { callsPerSecond: 2 } }, { 'if-match': etag });
    expect(changed.json().phoneNumber.limits).toEqual({ concurrentCalls: 10, callsPerSecond: 2 });
    const stale = await ask('PATCH', `/phone-numbers/${id}`, { limits: { callsPerSecond: 3 } }, { 'if-match': etag });
    expect([stale.statusCode, stale.json().code]).toEqual([412, 'precondition_failed']);
    const above = await ask('PATCH', `/phone-numbers/${id}`, { limits: { concurrentCalls: 11 } });
    expect(above.json()).toMatchObject({
      code: 'setting_refused',
      details: [{ issue: expect.stringMatching(/at most 10/) }],
    });
    const faulty = await ask('PUT', `/phone-numbers/${id}/credentials`, { authId: 'MA9' });
    expect(faulty.json().details[0].issue).toMatch(/lack: authToken/);
    // Two who set credentials at once: what the second has seen is gone, though it looks the same.
    const path = `/phone-numbers/${id}/credentials`;
    const match = { 'if-match': String((await ask('GET', `/phone-numbers/${id}`)).headers['etag']) };
    const first = await ask('PUT', path, { authId: 'MA9', authToken: 'canary-of-settings-2' }, match);
    expect([first.statusCode, Object.keys(first.json().phoneNumber)]).toEqual([
      200,
      Object.keys(made.json().phoneNumber),
    ]);
    const second = await ask('PUT', path, { authId: 'MA9', authToken: 'canary-of-settings-3' }, match);
    expect(second.json().code).toBe('precondition_failed');

    expect((await ask('DELETE', `/phone-numbers/${id}`)).statusCode).toBe(200);
    expect((await api.call({ from: id })).json().message).toBe("Invalid 'from' phone ID format");
    const rows = [...(await audited('line.added')), ...(await audited('line.removed'))];
    expect(JSON.stringify(rows)).not.toContain('canary');
    expect(api.logLines.join('')).not.toContain('canary-of-settings');
  });

  it('a call is placed with the number of its credentials, so that later ones do not reach it', async () => {
    await api.call();
    expect(api.placements.at(-1)?.line).toMatchObject({ credentialsVersion: 1 });
    await ask('PUT', `/phone-numbers/${api.acme.lineId}/credentials`, { authId: 'MA1', authToken: 'second' });
    await api.call();
    expect(api.placements.at(-1)?.line).toMatchObject({ credentialsVersion: 2, credentials: { authToken: 'second' } });
  });
});

describe('the webhook URL', () => {
  it('is set with a secret that is shown once, rotated, given opt-in events, and refused where it leads inside', async () => {
    const set = await ask('PUT', '/webhooks', { url: 'https://hooks.example.com/parley' });
    expect(set.json()).toMatchObject({
      success: true,
      webhook: { enabled: true },
      secret: expect.stringMatching(/^whsec_/),
    });
    const rotated = (await ask('POST', '/webhooks/rotate-secret')).json();
    expect(rotated.secret).not.toBe(set.json().secret);
    expect(rotated.webhook.previousSecretUntil).not.toBeNull();
    const read = await ask('GET', '/webhooks');
    expect(read.body).not.toContain('whsec_');
    const match = { 'if-match': String(read.headers['etag']) };
    const changed = await ask('PATCH', '/webhooks', { events: ['call.answered'], enabled: false }, match);
    expect(changed.json()).toMatchObject({ events: ['call.answered'], enabled: false });
    expect((await ask('PATCH', '/webhooks', { enabled: true }, match)).statusCode).toBe(412);
    for (const url of ['https://127.0.0.1/', 'http://hooks.example.com/', 'ftp://x', 'https://169.254.169.254/']) {
      expect([url, (await ask('PUT', '/webhooks', { url })).json().code]).toEqual([url, 'invalid_request']);
    }
    expect(JSON.stringify(await audited('webhook.set'))).not.toContain('whsec_');
  });
});

describe('web pages', () => {
  it('get keys whose origins are changed by editors who do not overwrite each other', async () => {
    const made = await ask('POST', '/widget-keys', { name: 'Shop', allowedOrigins: ['https://shop.example.com'] });
    const { publicKey } = made.json().widgetKey;
    const seen = { 'if-match': String(made.headers['etag']) };
    const mine = await ask('PATCH', `/widget-keys/${publicKey}`, { allowedOrigins: ['https://a.example.com'] }, seen);
    expect(mine.json().widgetKey.allowedOrigins).toEqual(['https://a.example.com']);
    expect((await ask('PATCH', `/widget-keys/${publicKey}`, { allowedOrigins: [] }, seen)).statusCode).toBe(412);
    const faulty = await ask('PATCH', `/widget-keys/${publicKey}`, { allowedOrigins: ['https://x.example/path'] });
    expect(faulty.json().details[0].issue).toMatch(/more than an origin/);
    expect((await ask('DELETE', `/widget-keys/${publicKey}`)).json().widgetKey.revokedAt).not.toBeNull();
    expect((await ask('PATCH', `/widget-keys/${publicKey}`, { enabled: true })).json().code).toBe(
      'widget_key_not_found',
    );
    expect((await ask('PATCH', '/web-settings', { sessionSeconds: 600 })).json()).toEqual({
      sessionSeconds: 600,
      webhooks: true,
    });
    expect((await audited('widget_key.changed')).at(-1)).toMatchObject({ actor: `key:${api.acme.keyId}` });
  });
});

describe('secrets for tools', () => {
  it('go in, are listed by name, and never come out', async () => {
    const stored = await ask('PUT', '/secrets/SHOP_KEY', { value: 'canary-of-tools' });
    expect(stored.json()).toMatchObject({ success: true, secret: { name: 'SHOP_KEY' } });
    const listed = await ask('GET', '/secrets');
    expect(listed.json().data.map((one: { name: string }) => one.name)).toEqual(['SHOP_KEY']);
    expect((await ask('PUT', '/secrets/A', { value: 'two\nlines' })).json().code).toBe('invalid_request');
    expect((await ask('DELETE', '/secrets/SHOP_KEY', undefined, {}, api.other.key)).statusCode).toBe(404);
    expect((await ask('DELETE', '/secrets/SHOP_KEY')).statusCode).toBe(200);
    expect((await ask('DELETE', '/secrets/SHOP_KEY')).json().code).toBe('secret_not_found');
    const rows = [...(await audited('secret.created')), ...(await audited('secret.removed'))];
    expect(JSON.stringify([stored.body, listed.body, rows, api.logLines])).not.toContain('canary-of-tools');
  });
});

describe('the model endpoint', () => {
  it('is set, shown without its key, refused where it leads inside, and removed', async () => {
    expect((await ask('GET', '/model-endpoint')).json().code).toBe('model_not_set');
    const wanted = { baseUrl: 'https://llm.example.com/v1', model: 'small', apiKey: 'canary-of-model' };
    const set = await ask('PUT', '/model-endpoint', wanted);
    expect(set.json()).toMatchObject({ baseUrl: wanted.baseUrl, model: 'small', hasKey: true });
    const inside = await ask('PUT', '/model-endpoint', { ...wanted, baseUrl: 'https://10.0.0.1/v1' });
    expect(inside.json().code).toBe('invalid_request');
    expect((await ask('DELETE', '/model-endpoint')).statusCode).toBe(200);
    expect((await ask('GET', '/model-endpoint')).statusCode).toBe(404);
    const rows = [...(await audited('model.set')), ...(await audited('model.removed'))];
    expect(JSON.stringify([set.body, rows, api.logLines])).not.toContain('canary-of-model');
  });
});

describe('secrets and the model endpoint', () => {
  it('are not overwritten or removed by a second editor', async () => {
    const model = { baseUrl: 'https://models.example.com/v1', model: 'small' };
    for (const [path, change, other] of [
      ['/secrets/CRM_TOKEN', { value: 'one' }, { value: 'two' }],
      ['/model-endpoint', { ...model, apiKey: 'one' }, { ...model, apiKey: 'two' }],
    ] as const) {
      const absent = await ask('PUT', path, change, { 'if-match': '"none"' });
      expect([absent.statusCode, absent.json().code]).toEqual([412, 'precondition_failed']);
      const made = await ask('PUT', path, change);
      const seen = { 'if-match': String(made.headers['etag']) };
      expect((await ask('GET', path)).headers['etag']).toBe(seen['if-match']);
      const mine = await ask('PUT', path, other, seen);
      expect([mine.statusCode, mine.headers['etag'] === seen['if-match']]).toEqual([200, false]);
      for (const late of [await ask('PUT', path, change, seen), await ask('DELETE', path, undefined, seen)]) {
        expect([late.statusCode, late.json().code, late.headers['etag']]).toEqual([
          412,
          'precondition_failed',
          mine.headers['etag'],
        ]);
      }
      expect((await ask('DELETE', path, undefined, { 'if-match': String(mine.headers['etag']) })).statusCode).toBe(200);
      expect((await ask('GET', path)).statusCode).toBe(404);
    }
  });
});

describe('retention', () => {
  it("is the workspace's by kind, an agent's where it has its own, and not overwritten by a second editor", async () => {
    const before = await ask('GET', '/retention');
    expect(before.json()).toMatchObject({ recording: 365, transcript: 365 });
    const seen = { 'if-match': String(before.headers['etag']) };
    expect((await ask('PATCH', '/retention', { recording: 30 }, seen)).json()).toMatchObject({ recording: 30 });
    expect((await ask('PATCH', '/retention', { recording: 7 }, seen)).statusCode).toBe(412);
    const path = `/agents/${api.acme.agentId}/retention`;
    expect((await ask('PATCH', path, { recording: 1 })).json()).toMatchObject({ recording: 1, transcript: 365 });
    expect((await ask('PATCH', path, { recording: null })).json()).toMatchObject({ recording: 30 });
    expect((await ask('PATCH', '/retention', { recording: 3_651 })).json().code).toBe('invalid_request');
    await ask('PATCH', '/retention', { recording: null });
  });
});

describe('limits and calling settings', () => {
  it('a workspace lowers its limits and goes back up to the cap, never above', async () => {
    const lowered = await ask('PATCH', '/limit-settings', { concurrentCalls: 4 });
    expect(lowered.json()).toMatchObject({ limits: { concurrentCalls: 4 }, caps: { concurrentCalls: 10 } });
    expect((await ask('PATCH', '/limit-settings', { concurrentCalls: 11 })).json().code).toBe('setting_refused');
    expect((await ask('PATCH', '/limit-settings', { concurrentCalls: 10 })).json().limits.concurrentCalls).toBe(10);
  });

  it('hours, countries and defaults are set, checked and forgotten', async () => {
    const window = { start: '09:00', end: '20:00', days: [1, 2, 3], timezone: 'recipient' };
    const set = await ask('PATCH', '/calling-settings', {
      window,
      allowedCountries: ['us'],
      defaultAgentId: api.acme.agentId,
    });
    expect(set.json()).toMatchObject({ window, allowedCountries: ['US'], defaultAgentId: api.acme.agentId });
    const faulty = await ask('PATCH', '/calling-settings', { window: { ...window, timezone: 'Moon/Base' } });
    expect([faulty.statusCode, faulty.json().code]).toEqual([400, 'invalid_request']);
    expect((await ask('DELETE', `/agents/${api.acme.agentId}`)).json().code).toBe('setting_refused');
    const cleared = await ask('PATCH', '/calling-settings', {
      window: null,
      allowedCountries: null,
      defaultAgentId: null,
    });
    expect(cleared.json()).toMatchObject({ window: null, allowedCountries: null, defaultAgentId: null });
  });
});

/** Another secret for the same id, as somebody who guesses makes it. */
function operatorKeyLike(keyId: string): string {
  const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const ids = Uint8Array.from(keyId, (letter) => letters.indexOf(letter));
  const made = makeApiKey((bytes) => (bytes === ids.length ? ids : randomBytes(bytes)), 'oper');
  expect(made.keyId).toBe(keyId);
  return made.text;
}

describe('the operator', () => {
  it('makes a workspace, switches its API on and off, sets caps and makes the first key', async () => {
    const { text, keyId } = await createOperatorKey(api.database, { name: 'console', by: { actor: 'cli:test' } });
    const made = await ask('POST', '/workspaces', { slug: 'nova', name: 'Nova' }, {}, text);
    expect([made.statusCode, made.json().workspace.apiEnabled]).toEqual([201, false]);
    const first = { name: 'first', scopes: [...SCOPES] };
    expect((await ask('POST', '/workspaces/nova/keys', first, {}, text)).json().code).toBe('setting_refused');
    const on = await ask('PATCH', '/workspaces/nova', { apiEnabled: true, limits: { concurrentCalls: 50 } }, {}, text);
    expect(on.json().workspace).toMatchObject({ apiEnabled: true, caps: { concurrentCalls: 50 } });
    const { secret } = (await ask('POST', '/workspaces/nova/keys', first, {}, text)).json();
    expect((await ask('GET', '/limit-settings', undefined, {}, secret)).json().caps.concurrentCalls).toBe(50);
    await ask('PATCH', '/workspaces/nova', { apiEnabled: false }, {}, text);
    api.clock.advanceMs(1_001);
    expect((await ask('GET', '/limit-settings', undefined, {}, secret)).statusCode).toBe(401);
    expect((await audited('workspace.created')).at(-1)?.actor).toBe(`operator:${keyId}`);
    await revokeOperatorKey(api.database, { keyId, by: { actor: 'cli:test' } });
    expect((await ask('GET', '/workspaces', undefined, {}, text)).statusCode).toBe(401);
  });

  it('guesses are refused after a while with the same 401, unseen; keys that were right go on', async () => {
    const operator = await createOperatorKey(api.database, { name: 'guessed', by: { actor: 'cli:test' } });
    const from = (key: string | null, path = '/workspaces') =>
      api.app.inject({
        url: `/api/developer${path}`,
        remoteAddress: '203.0.113.77',
        headers: key === null ? {} : { authorization: `Bearer ${key}` },
      });
    const late = async (key: string | null, path?: string) => {
      const before = api.clock.pendingTimers;
      const asked = from(key, path);
      while (api.clock.pendingTimers === before) await new Promise(setImmediate);
      api.clock.advanceMs(500);
      return asked;
    };
    expect([(await from(operator.text)).statusCode, (await from(api.acme.key, '/keys')).statusCode]).toEqual([
      200, 200,
    ]);
    for (let guess = 0; guess < 20; guess++) {
      expect((await from(`no-${guess}`)).headers['x-error-code']).toBe('unauthorized');
    }
    for (const path of ['/workspaces', '/keys']) {
      for (const wrong of ['nonsense', null]) {
        const refused = await late(wrong, path);
        expect([refused.statusCode, refused.json().message]).toEqual([401, 'Authentication failed (Unauthorized)']);
        expect(refused.headers).toMatchObject({ 'x-error-code': 'auth_rate_limit', 'www-authenticate': 'Bearer' });
        expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      }
    }
    expect([(await from(operator.text)).statusCode, (await from(api.acme.key, '/keys')).statusCode]).toEqual([
      200, 200,
    ]);
    // Who knows the public half of a key shuts nobody out with it.
    await late(`${operator.text.slice(0, 20)}${'0'.repeat(35)}`);
    expect((await from(operator.text)).statusCode).toBe(200);
    await revokeOperatorKey(api.database, { keyId: operator.keyId, by: { actor: 'cli:test' } });
    expect((await from(operator.text)).statusCode).toBe(401);
  });

  it('a key that was there when this process started goes on while others guess at its id', async () => {
    const [early, late] = [
      await createOperatorKey(api.database, { name: 'early', by: { actor: 'cli:test' } }),
      await createOperatorKey(api.database, { name: 'late', by: { actor: 'cli:test' } }),
    ];
    const clock = new VirtualClock();
    const limitStore = createMemoryLimitStore(clock);
    const deps = { database: api.database, clock, log: pino({ level: 'silent' }), limitStore };
    const guard = createOperatorGuard({ ...deps, authenticator: createAuthenticator(deps) });
    const app = Fastify();
    app.get('/', { onRequest: guard.hook }, async () => 'in');
    const ask = async (text: string, remoteAddress = '203.0.113.5'): Promise<number> => {
      let isAnswered = false;
      const asked = app.inject({ url: '/', remoteAddress, headers: { authorization: `Bearer ${text}` } });
      void asked.then(() => {
        isAnswered = true;
      });
      while (!isAnswered && clock.pendingTimers === 0) await new Promise(setImmediate);
      if (!isAnswered) clock.advanceMs(500);
      return (await asked).statusCode;
    };
    const isRevoked = (then: string) =>
      api.database.query(`UPDATE operator_keys SET revoked_at = ${then} WHERE key_id = $1`, [late.keyId]);
    try {
      await isRevoked('now()');
      await guard.warm();
      await isRevoked('NULL');
      for (const { keyId } of [early, late]) {
        for (let times = 0; times < 20; times++) {
          expect(await ask(operatorKeyLike(keyId), `198.51.100.${times}`)).toBe(401);
        }
      }
      expect([await ask(early.text), await ask(late.text)]).toEqual([200, 401]);
    } finally {
      await app.close();
    }
  });

  it("a workspace's key is not the operator's, and the operator's opens nothing of a workspace", async () => {
    const { text } = await createOperatorKey(api.database, { name: 'console', by: { actor: 'cli:test' } });
    for (const { method, route } of OPERATIONS.filter(({ scope }) => scope === 'operator')) {
      const url = route.replace(':slug', 'acme');
      const asked = (key: string) =>
        api.app.inject({ method: method as 'get', url, headers: { authorization: `Bearer ${key}` } });
      expect((await asked(api.acme.key)).json()).toMatchObject({ code: 'operator_only' });
      expect((await asked('sv_oper_nonsense')).statusCode).toBe(401);
    }
    for (const path of ['/keys', '/agents', '/calls', '/phone-numbers']) {
      expect((await ask('GET', path, undefined, {}, text)).statusCode).toBe(401);
    }
  });
});

it('every change above stands in the audit with who asked', async () => {
  const rows = await api.database.query<{ action: string }>(
    `SELECT DISTINCT action FROM audit_log WHERE actor LIKE 'key:%' OR actor LIKE 'operator:%'`,
  );
  expect(rows.map(({ action }) => action)).toEqual(
    expect.arrayContaining([
      'key.created',
      'key.rotated',
      'key.revoked',
      'agent.created',
      'agent.changed',
      'agent.version_activated',
      'agent.deleted',
      'line.added',
      'line.limits_changed',
      'line.credentials_changed',
      'line.removed',
      'webhook.set',
      'webhook.secret_rotated',
      'webhook.events_changed',
      'webhook.disabled',
      'widget_key.created',
      'widget_key.changed',
      'widget_key.revoked',
      'workspace.web_changed',
      'workspace.limits_changed',
      'workspace.calling_changed',
      'retention.changed',
      'workspace.created',
      'workspace.api_enabled',
    ]),
  );
});
