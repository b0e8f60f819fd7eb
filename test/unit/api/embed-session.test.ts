import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { importAgent } from '../../../src/agents/stored-agents.ts';
import { createWidgetKey, revokeWidgetKey, setWidgetKeyEnabled } from '../../../src/embed/widget-keys.ts';
import { sampleAgent } from '../../support/sample-agent.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';

const ORIGIN = 'https://example.com';
let api: ApiFixture;
let publicKey: string;
let agentId: string;
let address = 1;

beforeAll(async () => {
  api = await createApiFixture();
  const { slug } = api.acme;
  publicKey = (await createWidgetKey(api.database, { slug, name: 'site', allow: [ORIGIN] })).publicKey;
  agentId = (await importAgent(api.database, { slug, definition: sampleAgent({ direction: 'web' }) })).id;
});
afterAll(() => api.close());
beforeEach(() => {
  api.admission = 'open';
  address++;
});

function ask(change: object = {}, headers: Record<string, string> = { origin: ORIGIN }) {
  return api.app.inject({
    method: 'POST',
    url: '/api/embed/session',
    payload: { publicKey, agentId, parentOrigin: ORIGIN, ...change },
    headers,
    remoteAddress: `198.51.100.${address}`,
  });
}

describe('POST /api/embed/session', () => {
  it('gives a page of an allowed origin a token with the claims of the contract, good for 60 s', async () => {
    const answer = await ask();
    expect(answer.statusCode).toBe(200);
    expect(Object.keys(answer.json())).toEqual(['token']);
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'access-control-allow-origin': ORIGIN,
      vary: 'Origin',
      'referrer-policy': 'no-referrer',
    });
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    const { token } = answer.json();
    const month = new Date(api.clock.epochMs()).toISOString().slice(0, 7);
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'EdDSA', kid: month, typ: 'JWT' });
    const claims = decodeJwt(token);
    expect(claims).toMatchObject({
      iss: 'http://127.0.0.1:8080',
      aud: 'ws/live',
      sub: 'embed',
      ent: 'acme',
      agentId,
      origin: ORIGIN,
      pk: publicKey,
      v: 1,
    });
    expect(claims.exp! - claims.iat!).toBe(60);
    expect(claims.nbf).toBe(claims.iat);
    expect(claims.jti).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(api.prepared.length).toBeGreaterThan(0);
  });

  it.each([
    ['no publicKey', { publicKey: undefined }, {}, 400, 'Missing required fields', 'missing_fields'],
    ['an empty agentId', { agentId: '' }, {}, 400, 'Missing required fields', 'missing_fields'],
    ['a null parentOrigin', { parentOrigin: null }, {}, 400, 'Missing required fields', 'missing_fields'],
    [
      'a parentOrigin with a path',
      { parentOrigin: `${ORIGIN}/` },
      {},
      400,
      "Invalid 'parentOrigin' format",
      'invalid_parent_origin',
    ],
    [
      'a parentOrigin "null"',
      { parentOrigin: 'null' },
      { origin: 'null' },
      400,
      "Invalid 'parentOrigin' format",
      'invalid_parent_origin',
    ],
    ['an unknown key', { publicKey: 'pk_unknown' }, {}, 401, 'Invalid public key', 'invalid_public_key'],
    ['a key that is a number', { publicKey: 7 }, {}, 401, 'Invalid public key', 'invalid_public_key'],
    ['a key with NUL', { publicKey: 'pk_\u0000' }, {}, 401, 'Invalid public key', 'invalid_public_key'],
    ['another Origin', {}, { origin: 'https://evil.com' }, 403, 'Origin not allowed', 'origin_not_allowed'],
    [
      'an origin that is not listed',
      { parentOrigin: 'https://www.example.com' },
      { origin: 'https://www.example.com' },
      403,
      'Origin not allowed',
      'origin_not_allowed',
    ],
    [
      'no such agent',
      { agentId: '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11' },
      {},
      404,
      'Agent not found',
      'agent_not_found',
    ],
    ['an agentId that is no UUID', { agentId: 'x' }, {}, 404, 'Agent not found', 'agent_not_found'],
  ])('%s', async (_case, change, headers, status, message, code) => {
    const answer = await ask(change, { origin: ORIGIN, ...headers });
    expect([answer.statusCode, answer.json()]).toEqual([status, { success: false, message }]);
    expect(answer.headers['x-error-code']).toBe(code);
    expect(answer.headers['access-control-allow-origin']).toBe({ origin: ORIGIN, ...headers }.origin);
    expect(answer.headers['access-control-expose-headers']).toBe('X-Error-Code, X-Request-Id, Retry-After');
  });

  it.each(['https://exämple.com', 'https://example.com\u00ff', 'h\tttps://x'])(
    'refuses the Origin %j, and does not send it back in a header that no client can read',
    async (origin) => {
      const answer = await ask({}, { origin });
      expect([answer.statusCode, answer.headers['x-error-code']]).toEqual([403, 'origin_not_allowed']);
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      const preflight = await api.app.inject({ method: 'OPTIONS', url: '/api/embed/session', headers: { origin } });
      expect([preflight.statusCode, preflight.headers['access-control-allow-origin']]).toEqual([204, undefined]);
    },
  );

  it('refuses a request without an Origin header', async () => {
    const answer = await ask({}, {});
    expect([answer.statusCode, answer.headers['x-error-code']]).toEqual([403, 'origin_not_allowed']);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('answers the earlier of two faults: fields, key, origin, agent, limits, draining', async () => {
    api.admission = 'draining';
    const codes = [];
    for (const change of [
      { publicKey: '', parentOrigin: 'x' },
      { parentOrigin: 'x', publicKey: 'pk_unknown' },
      { publicKey: 'pk_unknown', parentOrigin: 'https://evil.com' },
      { parentOrigin: 'https://evil.com', agentId: 'x' },
      { agentId: 'x' },
      {},
    ]) {
      codes.push((await ask(change)).headers['x-error-code']);
    }
    expect(codes).toEqual([
      'missing_fields',
      'invalid_parent_origin',
      'invalid_public_key',
      'origin_not_allowed',
      'agent_not_found',
      'draining',
    ]);
  });

  it('refuses an outbound agent and an agent of another workspace', async () => {
    expect((await ask({ agentId: api.acme.agentId })).headers['x-error-code']).toBe('agent_not_found');
    const foreign = await importAgent(api.database, { slug: 'other', definition: sampleAgent({ direction: 'web' }) });
    expect((await ask({ agentId: foreign.id })).headers['x-error-code']).toBe('agent_not_found');
  });

  it('refuses a key that is switched off, and one that is revoked for good', async () => {
    const key = await createWidgetKey(api.database, { slug: 'acme', name: 'old', allow: [ORIGIN] });
    const codeNow = async () => (await ask({ publicKey: key.publicKey })).headers['x-error-code'];
    expect(await codeNow()).toBeUndefined();
    await setWidgetKeyEnabled(api.database, { publicKey: key.publicKey, enabled: false });
    expect(await codeNow()).toBe('invalid_public_key');
    await setWidgetKeyEnabled(api.database, { publicKey: key.publicKey, enabled: true });
    expect(await codeNow()).toBeUndefined();
    await revokeWidgetKey(api.database, { publicKey: key.publicKey });
    expect(await codeNow()).toBe('invalid_public_key');
    await expect(setWidgetKeyEnabled(api.database, { publicKey: key.publicKey, enabled: true })).rejects.toThrow(
      'revoked',
    );
  });

  it("always allows the hosted page's own origin, and nothing for an empty list", async () => {
    const key = await createWidgetKey(api.database, { slug: 'acme', name: 'empty', allow: [] });
    const own = 'http://127.0.0.1:8080';
    expect((await ask({ publicKey: key.publicKey, parentOrigin: own }, { origin: own })).statusCode).toBe(200);
    expect((await ask({ publicKey: key.publicKey })).statusCode).toBe(403);
  });

  it('lets one address have 5 sessions at once; tokens are none', async () => {
    for (let i = 0; i < 6; i++) expect((await ask()).statusCode).toBe(200);
    await api.database.query(
      `INSERT INTO limit_leases (holder, name, until)
       SELECT 'session ' || i, $1, now() + interval '1 minute' FROM generate_series(1, 5) AS i`,
      [`embed:address:198.51.100.${address}`],
    );
    const sixth = await ask();
    expect([sixth.statusCode, sixth.headers['x-error-code']]).toEqual([429, 'concurrency_limit']);
    expect(Number(sixth.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('takes 10 requests a minute from one address and answers the 11th 429 with Retry-After', async () => {
    const beganAtMs = performance.now();
    let last = await ask();
    let taken = 0;
    while (last.statusCode === 200) {
      taken += 1;
      last = await ask();
    }
    expect(taken).toBeGreaterThanOrEqual(10);
    // Each 6 s that this machine takes earn another.
    expect(taken).toBeLessThanOrEqual(10 + Math.floor((performance.now() - beganAtMs) / 6_000));
    expect([last.statusCode, last.json().message, last.headers['x-error-code']]).toEqual([
      429,
      'Too many sessions',
      'embed_rate_limit',
    ]);
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('answers 429 concurrency_limit when the workspace may have no more web sessions', async () => {
    await api.database.query('UPDATE workspaces SET max_web_sessions = 0 WHERE slug = $1', ['acme']);
    const answer = await ask();
    await api.database.query('UPDATE workspaces SET max_web_sessions = 10 WHERE slug = $1', ['acme']);
    expect([answer.statusCode, answer.json().message, answer.headers['x-error-code']]).toEqual([
      429,
      'Too many sessions',
      'concurrency_limit',
    ]);
  });

  it('lets any page read why its body was refused', async () => {
    const options = { method: 'POST', url: '/api/embed/session' } as const;
    const noJson = await api.app.inject({
      ...options,
      payload: '{',
      headers: { origin: ORIGIN, 'content-type': 'application/json' },
    });
    const text = await api.app.inject({
      ...options,
      payload: 'x',
      headers: { origin: ORIGIN, 'content-type': 'text/plain' },
    });
    const big = await api.app.inject({ ...options, payload: { x: 'y'.repeat(70_000) }, headers: { origin: ORIGIN } });
    const list = await api.app.inject({ ...options, payload: [], headers: { origin: ORIGIN } });
    expect([noJson, text, big, list].map(({ statusCode }) => statusCode)).toEqual([400, 415, 413, 400]);
    for (const answer of [noJson, text, big, list]) {
      expect(answer.headers['access-control-allow-origin']).toBe(ORIGIN);
      expect(Object.keys(answer.json())).toEqual(['success', 'message']);
    }
  });

  it('answers the preflight of any origin', async () => {
    const answer = await api.app.inject({
      method: 'OPTIONS',
      url: '/api/embed/session',
      headers: { origin: 'https://anybody.example', 'access-control-request-method': 'POST' },
    });
    expect([answer.statusCode, answer.body]).toEqual([204, '']);
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': 'https://anybody.example',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': '600',
    });
  });
});
