import type { InjectOptions } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PROVIDER_NAMES } from '../../../media/contract/providers.ts';
import { writeUsage } from '../../../src/usage/call-usage.ts';
import { createApiKey } from '../../../src/workspaces/api-keys.ts';
import { createOperatorKey } from '../../../src/workspaces/operator-keys.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';

const KEY = 'key-canary-of-a-provider';
const BRAIN = { name: 'brain', provider: 'openai_compatible', credentials: { apiKey: KEY } };

let api: ApiFixture;
let operator: string;
/** All that was answered. */
const answers: string[] = [];
beforeAll(async () => {
  api = await createApiFixture();
  operator = (await createOperatorKey(api.database, { name: 'test', by: { actor: 'cli:test' } })).text;
});
afterEach(async () => {
  await api.database.query('DELETE FROM analysis_models');
  await api.database.query('DELETE FROM provider_connections');
});
afterAll(() => api.close());

async function ask(
  method: InjectOptions['method'],
  path: string,
  payload?: object,
  headers: Record<string, string> = {},
  key = api.acme.key,
) {
  const answer = await api.app.inject({
    method: method!,
    url: `/api/developer${path}`,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
  answers.push(answer.body);
  return answer;
}

const audited = async (action: string) =>
  JSON.stringify(
    await api.database.query('SELECT actor, target, before, after FROM audit_log WHERE action = $1', [action]),
  );

describe('connections', () => {
  it('are added, read, changed by version, tried and removed; the key comes out nowhere', async () => {
    const made = await ask('POST', '/connections', { ...BRAIN, limits: { concurrent: 4, tokensPerMinute: 90_000 } });
    expect(made.statusCode, made.body).toBe(201);
    expect(made.json().connection).toMatchObject({
      version: 1,
      hasCredentials: true,
      baseUrl: 'https://api.openai.com/v1',
    });
    const read = await ask('GET', '/connections/brain');
    expect([read.headers['etag'], read.json()]).toEqual([made.headers['etag'], made.json().connection]);

    const changed = await ask('PATCH', '/connections/brain', { limits: { concurrent: null } });
    expect(changed.json().connection).toMatchObject({ version: 2, limits: { tokensPerMinute: 90_000 } });
    expect((await ask('GET', '/connections')).json().data).toHaveLength(1);
    const versions = (await ask('GET', '/connections/brain/versions')).json().data;
    expect(versions.map((one: { version: number; isNewest: boolean }) => [one.version, one.isNewest])).toEqual([
      [2, true],
      [1, false],
    ]);

    const body = `{"data":[{"id":"m-1"}]}`;
    api.providerAnswer = { kind: 'answered', status: 200, retryAfter: null, body, responseMs: 1 };
    expect((await ask('POST', '/connections/brain/test')).json()).toMatchObject({
      ok: true,
      version: 2,
      models: ['m-1'],
    });
    expect(api.providerRequests.at(-1)).toMatchObject({
      url: 'https://api.openai.com/v1/models',
      headers: { authorization: `Bearer ${KEY}` },
    });
    const said = `{"error":{"message":"Incorrect API key provided: ${KEY}"}}`;
    api.providerAnswer = { kind: 'answered', status: 401, retryAfter: null, body: said, responseMs: 1 };
    const refused = await ask('POST', '/connections/brain/test', { model: 'm-1' });
    expect([refused.statusCode, refused.json().fault]).toEqual([200, 'key_refused']);

    expect((await ask('DELETE', '/connections/brain')).json()).toMatchObject({
      success: true,
      connection: { name: 'brain' },
    });
    expect((await ask('GET', '/connections/brain')).json().code).toBe('connection_not_found');
    const rows = [
      await audited('connection.created'),
      await audited('connection.changed'),
      await audited('connection.removed'),
    ];
    expect(rows.every((text) => text.includes(`key:${api.acme.keyId}`))).toBe(true);
    expect(JSON.stringify([rows, answers, api.logLines])).not.toContain(KEY);
  });

  it('are made once a key of idempotency, and not overwritten by a second editor', async () => {
    const headers = { 'idempotency-key': 'brain-once' };
    const [first, second] = [
      await ask('POST', '/connections', BRAIN, headers),
      await ask('POST', '/connections', BRAIN, headers),
    ];
    expect([second.statusCode, second.json()]).toEqual([201, first.json()]);
    expect(JSON.stringify(await api.database.query('SELECT t::text FROM idempotency_keys t'))).not.toContain(KEY);
    const seen = { 'if-match': String(first.headers['etag']) };
    expect((await ask('PATCH', '/connections/brain', { limits: { concurrent: 1 } }, seen)).statusCode).toBe(200);
    for (const late of [
      await ask('PATCH', '/connections/brain', { limits: { concurrent: 2 } }, seen),
      await ask('DELETE', '/connections/brain', undefined, seen),
    ]) {
      expect([late.statusCode, late.json().code]).toEqual([412, 'precondition_failed']);
    }
  });

  it.each([
    ['a name that agents could not write', { ...BRAIN, name: 'My brain' }, 'name', 'small letters'],
    ['a provider that there is not', { ...BRAIN, provider: 'whisper' }, 'provider', 'deepgram'],
    ['a field that there is not', { ...BRAIN, token: 'x' }, '', 'token'],
    ['a key with a blank', { ...BRAIN, credentials: { apiKey: 'a b' } }, '', 'printable ASCII'],
    ['a private address', { ...BRAIN, baseUrl: 'https://10.0.0.1/v1' }, '', 'private or reserved'],
    ['no key where one is needed', { name: 'ear', provider: 'deepgram' }, '', '`credentials.apiKey` is missing'],
    ['a limit of none', { ...BRAIN, limits: { concurrent: 0 } }, 'limits.concurrent', '1'],
    ['a setting of another provider', { ...BRAIN, settings: { mipOptOut: true } }, '', '`settings.mipOptOut`'],
  ])('%s is 400, and says what will do', async (_what, body, field, words) => {
    const answer = await ask('POST', '/connections', body);
    expect([answer.statusCode, answer.json().code]).toEqual([400, 'invalid_request']);
    expect(answer.json().details[0].field).toBe(field);
    expect(answer.json().details[0].issue).toContain(words);
  });

  it('in use are kept: 409 names the agents and the analysis, `force` removes them all the same', async () => {
    await ask('POST', '/connections', BRAIN);
    expect((await ask('PUT', '/model-endpoint', { connection: 'brain', model: 'm-1' })).json()).toMatchObject({
      connection: 'brain',
      baseUrl: 'https://api.openai.com/v1',
      hasKey: true,
    });
    await api.database.query(
      `UPDATE agent_versions SET definition = '{"kind":"cascade","think":[{"connection":"brain"}]}' WHERE agent_id = $1`,
      [api.acme.agentId],
    );
    const kept = await ask('DELETE', '/connections/brain');
    expect([kept.statusCode, kept.json().code]).toEqual([409, 'setting_refused']);
    expect(kept.json().details[0].issue).toContain(
      `agents use it: Tone (${api.acme.agentId}); the analysis of calls uses it`,
    );
    expect((await ask('DELETE', '/connections/brain?force=maybe')).statusCode).toBe(400);
    expect((await ask('DELETE', '/connections/brain?force=true')).statusCode).toBe(200);
    expect((await ask('GET', '/model-endpoint')).json().code).toBe('model_not_set');
  });

  it('to what is no language model read no calls, nor do those that there are not', async () => {
    await ask('POST', '/connections', { name: 'ear', provider: 'deepgram', credentials: { apiKey: KEY } });
    expect((await ask('PUT', '/model-endpoint', { connection: 'ear', model: 'm' })).json().code).toBe(
      'setting_refused',
    );
    expect((await ask('PUT', '/model-endpoint', { connection: 'brain', model: 'm' })).json().code).toBe(
      'invalid_request',
    );
    const both = { connection: 'ear', baseUrl: 'https://llm.example/v1', model: 'm' };
    for (const body of [both, { model: 'm' }, { connection: 'ear', apiKey: 'k', model: 'm' }]) {
      const refused = await ask('PUT', '/model-endpoint', body);
      expect([refused.statusCode, refused.json().details[0].field]).toEqual([400, 'connection']);
    }
  });

  it('say where a key belongs that stands beside them', async () => {
    const body = { name: 'beside', provider: 'deepgram', apiKey: 'canary' };
    const refused = await ask('POST', '/connections', body);
    expect(refused.statusCode).toBe(400);
    expect(JSON.stringify(refused.json().details)).toContain('credentials.apiKey');
    expect(refused.body).not.toContain('canary');
  });

  it('are made to providers that are listed, each with what it can do', async () => {
    const { data } = (await ask('GET', '/providers')).json();
    expect(data.map(({ provider }: { provider: string }) => provider)).toEqual(PROVIDER_NAMES);
    expect(data[0]).toMatchObject({ can: ['listen', 'speak'], credentials: [{ name: 'apiKey', required: true }] });
    const engines = data.flatMap((one: { engines: { name: string; can: string }[] }) => one.engines);
    expect(engines.map(({ name, can }: { name: string; can: string }) => `${can} ${name}`)).toEqual([
      'listen deepgram',
      'listen deepgram-flux',
      'speak deepgram',
      'listen assemblyai',
      'listen openai',
      'think openai',
      'speak openai',
      'think anthropic',
      'think gemini',
      'speak cartesia',
      'speak elevenlabs',
    ]);
  });

  it('want a key that may set them: one that reads cannot even try one', async () => {
    const reader = await createApiKey(api.database, { slug: 'acme', name: 'reader', scopes: ['settings:read'] });
    expect((await ask('GET', '/connections', undefined, {}, reader.text)).statusCode).toBe(200);
    expect((await ask('POST', '/connections/brain/test', undefined, {}, reader.text)).statusCode).toBe(403);
    expect((await ask('POST', '/connections', BRAIN, {}, reader.text)).statusCode).toBe(403);
  });
});

describe('prices and the cost of a call', () => {
  const price = {
    provider: 'openai_compatible',
    model: 'm-1',
    unit: 'output_tokens',
    priceMicros: 1_600,
    currency: 'USD',
  };

  it('are set by the operator alone, and the call log shows what a call cost', async () => {
    expect((await ask('GET', '/prices')).json().code).toBe('operator_only');
    const effectiveAt = '2026-01-01T00:00:00Z';
    const set = await ask('POST', '/prices', { ...price, effectiveAt }, {}, operator);
    expect([set.statusCode, set.json().price.version]).toEqual([201, 1]);
    expect((await ask('GET', '/prices?history=true', undefined, {}, operator)).json().data).toHaveLength(1);
    const other = await ask('POST', '/prices', { ...price, currency: 'EUR' }, {}, operator);
    expect([other.statusCode, other.json().code]).toEqual([409, 'setting_refused']);
    const wrong = await ask('POST', '/prices', { ...price, unit: 'minutes' }, {}, operator);
    expect([wrong.statusCode, wrong.json().details[0].field]).toEqual([400, 'unit']);

    const callUuid = await api.insertCall(api.acme);
    expect((await ask('GET', `/calls/${callUuid}`)).json().cost).toBeNull();
    const line = {
      turnId: 't1',
      connection: 'brain',
      version: 1,
      provider: 'openai_compatible',
      speculative: false,
    } as const;
    const lines = [
      { ...line, usageId: '1', model: 'm-1', unit: 'output_tokens' as const, quantity: 2_000 },
      { ...line, usageId: '2', model: 'm-1', unit: 'input_tokens' as const, quantity: 10 },
    ];
    await writeUsage(api.database, [{ callUuid, lines }]);
    const expected = { currency: 'USD', total: 0.0032, isComplete: false, items: [{ kind: 'llm', amount: 0.0032 }] };
    expect((await ask('GET', `/calls/${callUuid}`)).json().cost).toMatchObject(expected);
    const listed = (await ask('GET', '/calls')).json().data;
    expect(listed.find((call: { callUuid: string }) => call.callUuid === callUuid).cost).toMatchObject(expected);
    expect((await ask('GET', `/calls/${callUuid}`, undefined, {}, api.other.key)).statusCode).toBe(404);
  });
});
