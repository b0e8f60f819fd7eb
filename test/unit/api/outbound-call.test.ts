import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { importAgent } from '../../../src/agents/stored-agents.ts';
import type { Placement } from '../../../src/placement/ports.ts';
import { sealedPlace } from '../../../src/sealing/sealed-places.ts';
import { createApiKey, revokeApiKey } from '../../../src/workspaces/api-keys.ts';
import { addLine } from '../../../src/workspaces/lines.ts';
import { setApiEnabled, setWorkspaceLimits } from '../../../src/workspaces/workspaces.ts';
import { type ApiFixture, createApiFixture, SEALER } from './api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());
afterEach(() => {
  api.placements.length = 0;
  api.place = async () => ({ kind: 'placed', callUuid: uuidv7(), status: 'dialing' });
  api.admission = 'open';
  api.compliance = async () => ({ allowed: true });
});

const WRONG_KEY = 'Bearer sv_live_aaaaaaaa_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb000000';
const UNAUTHORIZED = 'Authentication failed (Unauthorized)';
const CREDENTIALS_MISSING =
  'Credentials missing. Add a phone number and credentials in Phone numbers and Telephony settings.';

interface Answered {
  statusCode: number;
  body: string;
  headers: Record<string, unknown>;
}

function expectRefusal(answer: Answered, status: number, message: string, code: string): void {
  expect([answer.statusCode, answer.body, answer.headers['x-error-code']]).toEqual([
    status,
    JSON.stringify({ success: false, message }),
    code,
  ]);
  expect(answer.headers['x-request-id']).toBeTruthy();
  expect(answer.headers['service-version']).toBe('1');
  if (status === 429 || status === 503) expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
}

describe('steps 1 to 3: before and at the body', () => {
  it('1: a missing, malformed, unknown or revoked key gives 401, and the key may stand only in Authorization', async () => {
    const revoked = await createApiKey(api.database, { slug: 'acme', name: 'r', scopes: ['calls:write'] });
    await revokeApiKey(api.database, { slug: 'acme', keyId: revoked.keyId });
    for (const authorization of ['', 'Bearer', WRONG_KEY, `Basic ${api.acme.key}`, `Bearer ${revoked.text}`]) {
      expectRefusal(await api.call({}, { headers: { authorization } }), 401, UNAUTHORIZED, 'unauthorized');
    }
    const answer = await api.app.inject({
      method: 'POST',
      url: `/api/outbound-call?api_key=${api.acme.key}`,
      headers: { 'x-api-key': api.acme.key },
      payload: { apiKey: api.acme.key },
    });
    expectRefusal(answer, 401, UNAUTHORIZED, 'unauthorized');
  });

  it('1 before 3: a wrong key with a broken, a huge or a wrongly typed body still gives 401', async () => {
    for (const [type, payload] of [
      ['application/json', '{'],
      ['application/json', `"${'x'.repeat(70_000)}"`],
      ['text/plain', 'hello'],
    ]) {
      const answer = await api.call(
        {},
        { payload: payload!, headers: { authorization: WRONG_KEY, 'content-type': type! } },
      );
      expectRefusal(answer, 401, UNAUTHORIZED, 'unauthorized');
    }
  });

  it('1: a key whose workspace has the API switched off gives 401 within 2 s', async () => {
    expect((await api.call()).statusCode).toBe(200);
    await setApiEnabled(api.database, { slug: 'acme', enabled: false });
    api.clock.advanceMs(1_001);
    expectRefusal(await api.call(), 401, UNAUTHORIZED, 'unauthorized');
    await setApiEnabled(api.database, { slug: 'acme', enabled: true });
    api.clock.advanceMs(1_001);
    expect((await api.call()).statusCode).toBe(200);
  });

  it('1: a key without calls:write gives 401 here', async () => {
    const reader = await createApiKey(api.database, { slug: 'acme', name: 'reader', scopes: ['calls:read'] });
    const answer = await api.call({}, { headers: { authorization: `Bearer ${reader.text}` } });
    expectRefusal(answer, 401, UNAUTHORIZED, 'insufficient_scope');
  });

  it('2: above the rate of the key gives 429 with rate headers, before a broken body is looked at', async () => {
    const slug = 'other';
    await setWorkspaceLimits(api.database, { slug, limits: { apiRequestsPerSecond: 1, apiBurst: 2 } });
    const ask = () =>
      api.call(
        {},
        { payload: '{', headers: { authorization: `Bearer ${api.other.key}`, 'content-type': 'application/json' } },
      );
    const answers = [await ask(), await ask(), await ask()];
    expect(answers.map((answer) => answer.statusCode)).toEqual([400, 400, 429]);
    expectRefusal(answers[2]!, 429, 'Carrier rate limit exceeded', 'api_rate_limit');
    expect(answers[2]!.headers['ratelimit-policy']).toBe('"api";q=2;w=2');
    expect(answers[2]!.headers['ratelimit']).toBe('"api";r=0;t=1');
    await setWorkspaceLimits(api.database, { slug, limits: { apiRequestsPerSecond: 10_000, apiBurst: 10_000 } });
  });

  const bodies: [string, string, string | undefined, number, string, string][] = [
    ['no JSON', '{"to":', 'application/json', 400, 'Invalid JSON body', 'invalid_json'],
    ['nothing', '', 'application/json', 400, 'Invalid JSON body', 'invalid_json'],
    [
      '40 nested lists',
      `${'['.repeat(40)}${']'.repeat(40)}`,
      'application/json',
      400,
      'Invalid JSON body',
      'invalid_json',
    ],
    ['a poisoned prototype', '{"__proto__":{}}', 'application/json', 400, 'Invalid JSON body', 'invalid_json'],
    [
      'a form',
      'to=1',
      'application/x-www-form-urlencoded',
      415,
      'Content-Type must be application/json',
      'unsupported_media_type',
    ],
    ['text', '{}', 'text/plain', 415, 'Content-Type must be application/json', 'unsupported_media_type'],
    ['no type', '', undefined, 415, 'Content-Type must be application/json', 'unsupported_media_type'],
    [
      '64 KB and a byte',
      `"${'x'.repeat(65_535)}"`,
      'application/json',
      413,
      'Request body too large',
      'body_too_large',
    ],
  ];
  for (const [what, payload, type, status, message, code] of bodies) {
    it(`3: a body of ${what} gives ${status}`, async () => {
      const answer = await api.app.inject({
        method: 'POST',
        url: '/api/outbound-call',
        headers: { authorization: `Bearer ${api.acme.key}`, ...(type === undefined ? {} : { 'content-type': type }) },
        ...(payload === '' && type === undefined ? {} : { payload }),
      });
      expectRefusal(answer, status, message, code);
    });
  }

  it('3: JSON with a charset is taken', async () => {
    const payload = JSON.stringify({
      to: '+14155550123',
      agentId: api.acme.agentId,
      enterprise: 'acme',
      from: api.acme.lineId,
    });
    const answer = await api.call({}, { payload, headers: { 'content-type': 'application/json; charset=utf-8' } });
    expect(answer.statusCode).toBe(200);
  });
});

describe('steps 4 to 6: the form of the body', () => {
  it('4: a body that is no object, or lacks a required field, gives 400 Missing required fields', async () => {
    for (const payload of ['[]', '"x"', 'null', '7']) {
      const answer = await api.call({}, { payload, headers: { 'content-type': 'application/json' } });
      expectRefusal(answer, 400, 'Missing required fields', 'missing_fields');
    }
    for (const field of ['to', 'agentId', 'enterprise', 'from']) {
      for (const value of [undefined, null, '']) {
        const answer = await api.call({ [field]: value });
        expectRefusal(answer, 400, 'Missing required fields', 'missing_fields');
      }
    }
  });

  it('4 before 5 before 6: a missing field is told before a bad from, and a bad from before a bad to', async () => {
    expectRefusal(await api.call({ to: null, from: 'x' }), 400, 'Missing required fields', 'missing_fields');
    expectRefusal(await api.call({ to: '1', from: 'x' }), 400, "Invalid 'from' phone ID format", 'invalid_from');
  });

  const long = (characters: number): string => 'x'.repeat(characters);
  const keys = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, '']));
  const rows: [string, object, string][] = [
    ['a number without a plus', { to: '14155550123' }, 'to'],
    ['a number that begins with 0', { to: '+04155550123' }, 'to'],
    ['a number of 16 digits', { to: '+1234567890123456' }, 'to'],
    ['a number of 6 digits', { to: '+123456' }, 'to'],
    ['a number as a number', { to: 14155550123 }, 'to'],
    ['a number with a line break', { to: '+14155550123\n' }, 'to'],
    ['an agent id that is no UUID', { agentId: 'agent-1' }, 'agentId'],
    ['an agent id that is an object', { agentId: {} }, 'agentId'],
    ['a name of 121 characters', { name: long(121) }, 'name'],
    ['a name that is a number', { name: 5 }, 'name'],
    ['a name with a NUL', { name: 'a\u0000b' }, 'name'],
    ['a name with half a surrogate pair', { name: '\ud800' }, 'name'],
    ['metadata that is a list', { metadata: [] }, 'metadata'],
    ['metadata that is text', { metadata: 'x' }, 'metadata'],
    ['metadata of 51 keys', { metadata: keys(51) }, 'metadata'],
    ['a metadata key that begins with a digit', { metadata: { '1st': 'x' } }, 'metadata'],
    ['a metadata key of 65 characters', { metadata: { [long(65)]: 'x' } }, 'metadata'],
    ['an empty metadata key', { metadata: { '': 'x' } }, 'metadata'],
    ['a metadata value of 2,001 characters', { metadata: { a: long(2_001) } }, 'metadata'],
    ['a metadata object of 2,001 characters as JSON', { metadata: { a: { b: long(1_994) } } }, 'metadata'],
    [
      'metadata of more than 8 KB',
      { metadata: { a: long(1_999), b: long(1_999), c: long(1_999), d: long(1_999), e: long(300) } },
      'metadata',
    ],
    ['a metadata value with a NUL deep inside', { metadata: { a: { b: ['x\u0000'] } } }, 'metadata'],
  ];
  for (const [what, change, field] of rows) {
    it(`6: ${what} gives 400 Invalid '${field}' format`, async () => {
      expectRefusal(await api.call(change), 400, `Invalid '${field}' format`, `invalid_${field}`);
    });
  }

  it('6 passes what is just inside every limit, and hands it on as it came', async () => {
    const metadata = { ...keys(46), a: long(2_000), [long(64)]: null, 'secret.x': true, o: { b: long(1_992) } };
    const answer = await api.call({ name: 'ü'.repeat(120), metadata });
    expect(answer.statusCode).toBe(200);
    expect(api.placements[0]).toMatchObject({ name: 'ü'.repeat(120), metadata });
  });

  it('6: to is told before agentId, agentId before name, name before metadata', async () => {
    const bad = { to: 'x', agentId: 'x', name: 1, metadata: 1 };
    const codes: unknown[] = [];
    for (const fixed of [{}, { to: '+14155550123' }, { agentId: uuidv4() }, { name: 'A' }]) {
      Object.assign(bad, fixed);
      codes.push((await api.call(bad)).headers['x-error-code']);
    }
    expect(codes).toEqual(['invalid_to', 'invalid_agentId', 'invalid_name', 'invalid_metadata']);
  });
});

describe('steps 7 to 13: who, with what, and whether now', () => {
  it('7: an unknown or another workspace gives the same 401, after step 6 and before the line is looked at', async () => {
    for (const enterprise of ['nobody', 'other', 5, ['acme'], 'ACME', 'acme\u0000']) {
      expectRefusal(await api.call({ enterprise, from: uuidv4() }), 401, UNAUTHORIZED, 'unauthorized');
    }
    expectRefusal(await api.call({ enterprise: 'nobody', to: 'x' }), 400, "Invalid 'to' format", 'invalid_to');
  });

  it('8 before 9: without any line that has credentials, even an unknown from gives 400 Credentials missing', async () => {
    await api.database.query('UPDATE phone_lines SET credentials_sealed = NULL WHERE id = $1', [api.acme.lineId]);
    for (const from of [api.acme.lineId, uuidv4()]) {
      expectRefusal(await api.call({ from, agentId: uuidv4() }), 400, CREDENTIALS_MISSING, 'credentials_missing');
    }
    await api.database.query('UPDATE phone_lines SET credentials_sealed = $2 WHERE id = $1', [
      api.acme.lineId,
      SEALER.seal(
        JSON.stringify({ authId: 'MA0', authToken: 'token-canary' }),
        sealedPlace.lineCredentials(api.acme.workspaceId, api.acme.lineId),
      ),
    ]);
  });

  it('8: a line without credentials beside one that has them gives 400 Credentials missing too', async () => {
    const bare = await addLine(api.database, SEALER, { slug: 'acme', number: '+14155550177', carrier: 'plivo' });
    expectRefusal(await api.call({ from: bare.id }), 400, CREDENTIALS_MISSING, 'credentials_missing');
  });

  it("9 before 10: an unknown line or another workspace's gives 400, also when the agent is unknown", async () => {
    for (const from of [uuidv4(), api.other.lineId]) {
      const answer = await api.call({ from, agentId: uuidv4() });
      expectRefusal(answer, 400, "Invalid 'from' phone ID format", 'invalid_from');
    }
  });

  it("10: an unknown agent or another workspace's gives 404, one for other calls 400", async () => {
    for (const agentId of [uuidv4(), api.other.agentId]) {
      expectRefusal(await api.call({ agentId }), 404, 'Agent not found', 'agent_not_found');
    }
    for (const direction of ['inbound', 'web']) {
      const definition = { kind: 'tone', name: 'T', direction, toneHz: 440 };
      const agent = await importAgent(api.database, { slug: 'acme', definition });
      expectRefusal(await api.call({ agentId: agent.id }), 400, 'Agent is not an outbound agent', 'agent_not_outbound');
    }
  });

  it('11: a call that the policy blocks gives 403 with its code, before step 12', async () => {
    api.admission = 'draining';
    for (const code of ['blocked_suppressed', 'blocked_time_window', 'blocked_country'] as const) {
      api.compliance = async () => ({ allowed: false, code });
      expectRefusal(await api.call(), 403, 'Call blocked by compliance policy', code);
    }
    const agentId = uuidv4();
    expectRefusal(await api.call({ agentId }), 404, 'Agent not found', 'agent_not_found');
  });

  it('11: what placement finds blocked in its transaction gives 403 too, and 409 for a duplicate', async () => {
    api.place = async () => ({ kind: 'blocked', code: 'blocked_suppressed' });
    expectRefusal(await api.call(), 403, 'Call blocked by compliance policy', 'blocked_suppressed');
    api.place = async () => ({ kind: 'blocked', code: 'duplicate_call' });
    expectRefusal(await api.call(), 409, 'Duplicate call in progress', 'duplicate_call');
  });

  it('12: draining or no capacity gives 503, and placement is not asked', async () => {
    for (const admission of ['draining', 'no_capacity'] as const) {
      api.admission = admission;
      expectRefusal(await api.call(), 503, 'Service temporarily unavailable', 'draining');
    }
    expect(api.placements).toHaveLength(0);
  });

  it('no refusal of steps 1 to 12 reaches placement', async () => {
    await api.call({ to: 'x' });
    await api.call({ enterprise: 'nobody' });
    await api.call({ agentId: uuidv4() });
    expect(api.placements).toHaveLength(0);
  });
});

describe('steps 12 to 16: what placement said', () => {
  const callUuid = uuidv7();
  const left = { perSecond: { limit: 1, remaining: 0 }, concurrent: { limit: 10, remaining: 3 } };
  const rows: [string, Placement, number, string, string][] = [
    ['12: draining', { kind: 'draining' }, 503, 'Service temporarily unavailable', 'draining'],
    [
      '13: the call rate',
      { kind: 'limited', code: 'cps_limit', retryAfterSeconds: 1, left },
      429,
      'Carrier rate limit exceeded',
      'cps_limit',
    ],
    [
      '13: the calls at once',
      { kind: 'limited', code: 'concurrency_limit', retryAfterSeconds: 17, left },
      429,
      'Carrier rate limit exceeded',
      'concurrency_limit',
    ],
    [
      '13: a throttling carrier',
      { kind: 'throttled', retryAfterSeconds: 3 },
      429,
      'Carrier rate limit exceeded',
      'carrier_throttled',
    ],
    [
      '14: a refusing carrier',
      { kind: 'rejected', callUuid, code: 'carrier_rejected' },
      502,
      'Carrier rejected the call',
      'carrier_rejected',
    ],
    [
      '14: wrong carrier credentials',
      { kind: 'rejected', callUuid, code: 'carrier_auth' },
      502,
      'Carrier rejected the call',
      'carrier_auth',
    ],
    [
      '14: a number that the carrier does not know',
      { kind: 'rejected', callUuid, code: 'invalid_number' },
      502,
      'Carrier rejected the call',
      'invalid_number',
    ],
    ['15: an unknown outcome', { kind: 'unknown', callUuid }, 500, 'Internal server error', 'submission_unknown'],
  ];
  for (const [what, placement, status, message, code] of rows) {
    it(`${what} gives ${status} ${code}, with X-Call-Uuid from step 14 on`, async () => {
      api.place = async () => placement;
      const answer = await api.call();
      expectRefusal(answer, status, message, code);
      expect(answer.headers['x-call-uuid']).toBe('callUuid' in placement ? callUuid : undefined);
      if (placement.kind === 'limited') {
        expect(answer.headers['retry-after']).toBe(String(placement.retryAfterSeconds));
        expect(answer.headers['ratelimit-policy']).toBe('"cps";q=1;w=1, "concurrent";q=10');
        const name = placement.code === 'cps_limit' ? 'cps' : 'concurrent';
        expect(answer.headers['ratelimit']).toBe(`"${name}";r=0;t=${placement.retryAfterSeconds}`);
      }
    });
  }

  it('16: a throw gives 500 without its text, logged once with the request id', async () => {
    api.place = async () => {
      throw new Error('boom-canary');
    };
    api.logLines.length = 0;
    const answer = await api.call({}, { headers: { 'x-request-id': 'req-16' } });
    expectRefusal(answer, 500, 'Internal server error', 'internal_error');
    expect(answer.body).not.toContain('canary');
    const faults = api.logLines.filter((line) => line.includes('boom-canary'));
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain('req-16');
  });
});

describe('a placed call', () => {
  it('gives 200 with exactly success and callUuid, and its headers', async () => {
    const callUuid = uuidv7();
    api.place = async () => ({ kind: 'placed', callUuid, status: 'ringing' });
    const answer = await api.call({}, { headers: { 'x-request-id': 'my-request.1' } });
    expect([answer.statusCode, answer.body]).toEqual([200, JSON.stringify({ success: true, callUuid })]);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': 'my-request.1',
      'x-call-uuid': callUuid,
      'x-call-status': 'ringing',
      'service-version': '1',
      'ratelimit-policy': '"api";q=10000;w=1',
    });
    expect(answer.headers['ratelimit']).toMatch(/^"api";r=\d+;t=1$/);
    expect(answer.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('tells on success what is left of the limits of calls, and of full queues with 503 and Retry-After 2', async () => {
    const callUuid = uuidv7();
    const left = { perSecond: { limit: 1, remaining: 0 }, concurrent: { limit: 10, remaining: 3 } };
    api.place = async () => ({ kind: 'placed', callUuid, status: 'dialing', left });
    const { headers } = await api.call();
    expect(headers['ratelimit-policy']).toBe('"cps";q=1;w=1, "concurrent";q=10');
    expect(headers['ratelimit']).toBe('"cps";r=0;t=1, "concurrent";r=3');
    api.place = async () => ({ kind: 'draining', code: 'overloaded', retryAfterSeconds: 2 });
    const refused = await api.call();
    expectRefusal(refused, 503, 'Service temporarily unavailable', 'overloaded');
    expect(refused.headers['retry-after']).toBe('2');
    api.admission = 'overloaded';
    expectRefusal(await api.call(), 503, 'Service temporarily unavailable', 'overloaded');
    api.admission = 'open';
  });

  it('hands placement the whole call, with the opened credentials and Customer as the default name', async () => {
    await api.call({ metadata: { plan: 'gold' } }, { headers: { 'x-request-id': 'r-1' } });
    expect(api.placements).toEqual([
      {
        workspaceId: api.acme.workspaceId,
        enterprise: 'acme',
        agent: {
          id: api.acme.agentId,
          version: 1,
          definition: { kind: 'tone', name: 'Tone', direction: 'outbound', toneHz: 440 },
        },
        line: {
          id: api.acme.lineId,
          number: '+14155550100',
          carrier: 'plivo',
          credentials: { authId: 'MA0', authToken: 'token-canary' },
          credentialsVersion: 1,
        },
        limits: expect.objectContaining({ lineConcurrent: expect.any(Number), workspacePerSecond: expect.any(Number) }),
        by: { actor: `key:${api.acme.keyId}`, ip: '127.0.0.1', requestId: 'r-1' },
        keyId: api.acme.keyId,
        to: '+14155550123',
        name: 'Customer',
        metadata: { plan: 'gold' },
        lead: null,
        guardDuplicates: true,
        idempotencyKey: null,
        idempotencyPath: 'POST /api/outbound-call',
        requestId: 'r-1',
        lateAcceptance: 'cancel',
      },
    ]);
  });

  it('takes null name and metadata as absent, and ids in capitals', async () => {
    const answer = await api.call({
      name: null,
      metadata: null,
      from: api.acme.lineId.toUpperCase(),
      agentId: api.acme.agentId.toUpperCase(),
    });
    expect(answer.statusCode).toBe(200);
    expect(api.placements[0]).toMatchObject({ name: 'Customer', metadata: {} });
  });

  it('with Prefer: return=representation also shows the call and the limits', async () => {
    const callUuid = await api.insertCall(api.acme);
    api.place = async () => ({ kind: 'placed', callUuid, status: 'dialing' });
    const answer = await api.call({}, { headers: { prefer: 'respond-async, return=representation' } });
    const body = answer.json();
    expect(Object.keys(body)).toEqual(['success', 'callUuid', 'call', 'limits']);
    expect(body.call).toMatchObject({ callUuid, status: 'dialing', enterprise: 'acme' });
    expect(body.limits).toEqual({ concurrencyLimit: 10, concurrencyInUse: 1, lineCps: 1 });
    expect(answer.headers['preference-applied']).toBe('return=representation');
    await api.database.query('DELETE FROM calls WHERE call_uuid = $1', [callUuid]);
  });

  it('replaces a request id that could harm a log', async () => {
    for (const given of ['a b', 'x'.repeat(65), 'a\tb', '{}']) {
      const answer = await api.call({}, { headers: { 'x-request-id': given } });
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('leaves no key, secret or number in the log', async () => {
    api.logLines.length = 0;
    await api.call();
    await api.call({}, { headers: { authorization: WRONG_KEY } });
    const log = api.logLines.join('');
    expect(log).toContain('/api/outbound-call');
    for (const secret of [api.acme.key, api.acme.key.slice(17), WRONG_KEY.slice(7), 'canary', '+1415']) {
      expect(log).not.toContain(secret);
    }
  });
});
