import fc from 'fast-check';
import type { LightMyRequestResponse } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApiKey } from '../../../src/workspaces/api-keys.ts';
import { setWorkspaceLimits } from '../../../src/workspaces/workspaces.ts';
import { type ApiFixture, createApiFixture, type Tenant } from './api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.database.query('DELETE FROM leads');
});

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at by their paths
type Loose = any;
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

function ask(
  method: Method,
  path: string,
  payload?: unknown,
  options: { tenant?: Tenant; headers?: Record<string, string> } = {},
): Promise<LightMyRequestResponse> {
  return api.app.inject({
    method,
    url: `/api/developer/leads${path}`,
    headers: { authorization: `Bearer ${(options.tenant ?? api.acme).key}`, ...options.headers },
    ...(payload === undefined ? {} : { payload: payload as object }),
  });
}

const create = (change: object = {}, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> =>
  ask('POST', '', { enterprise: 'acme', phone: '+14155550123', ...change }, { headers });

async function created(change: object = {}): Promise<Loose> {
  const answer = await create(change);
  expect([answer.statusCode, answer.body.slice(0, 15)]).toEqual([201, '{"success":true']);
  return answer.json().lead;
}

function expectShort(answer: LightMyRequestResponse, status: number, message: string, code: string): void {
  expect([answer.statusCode, answer.body, answer.headers['x-error-code']]).toEqual([
    status,
    JSON.stringify({ success: false, message }),
    code,
  ]);
}

describe('POST /api/developer/leads', () => {
  it('answers 201 with exactly the keys of the contract, in their order, and defaults for the rest', async () => {
    const answer = await create({ agentId: api.acme.agentId, name: 'Asha', notes: 'n', source: 'website' });
    const { lead, ...rest } = answer.json();
    expect(rest).toEqual({ success: true });
    expect(Object.keys(lead).join(' ')).toBe(
      'id enterprise agentId name phone notes source status metadata externalId timezone lastCallUuid callCount duplicateOf createdAt updatedAt',
    );
    expect(lead).toMatchObject({ enterprise: 'acme', agentId: api.acme.agentId, name: 'Asha', status: 'new' });
    expect(await created()).toMatchObject({
      agentId: null,
      name: 'Customer',
      notes: null,
      metadata: {},
      callCount: 0,
      lastCallUuid: null,
    });
  });

  it('takes the number under each of its three names, in any spelling', async () => {
    for (const field of ['phone', 'phone_number', 'mobile']) {
      const lead = await created({ phone: undefined, [field]: '+1 (415) 555-0123' });
      expect(lead.phone).toBe('+14155550123');
    }
    expectShort(await create({ mobile: '+14155550124' }), 400, 'Conflicting phone fields', 'conflicting_phone_fields');
    expectShort(await create({ phone: '4155550123' }), 400, "Invalid 'phone' format", 'invalid_phone');
  });

  it('refuses in one order: fields, conflict, number, agent id, the rest, workspace, agent', async () => {
    const missing = [
      {},
      [],
      'text',
      null,
      { phone: '+14155550123' },
      { enterprise: 'acme' },
      { enterprise: '', phone: 'x' },
    ];
    for (const body of missing) {
      const answer = await ask('POST', '', JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
      expectShort(answer, 400, 'Missing required fields', 'missing_fields');
    }
    const bad = { phone: 'x', agentId: 'x', name: 5, enterprise: 'other' };
    expectShort(await create(bad), 400, "Invalid 'phone' format", 'invalid_phone');
    const { phone: _phone, ...later } = bad;
    expectShort(await create(later), 400, "Invalid 'agentId' format", 'invalid_agentId');
    expectShort(await create({ name: 5, enterprise: 'other' }), 400, "Invalid 'name' format", 'invalid_name');
    const foreign = { enterprise: 'other', agentId: uuidv7() };
    expectShort(await create(foreign), 401, 'Authentication failed (Unauthorized)', 'unauthorized');
    expectShort(await create({ agentId: api.other.agentId }), 404, 'Agent not found', 'agent_not_found');
  });

  it.each<[string, unknown, string]>([
    ['notes', 'x'.repeat(4_001), 'invalid_notes'],
    ['source', 'x'.repeat(121), 'invalid_source'],
    ['source', 'a\u0000b', 'invalid_source'],
    ['metadata', { 'not a key': 1 }, 'invalid_metadata'],
    ['metadata', [], 'invalid_metadata'],
    ['externalId', 'x'.repeat(129), 'invalid_externalId'],
    ['externalId', 7, 'invalid_externalId'],
    ['timezone', 'Mars/Olympus', 'invalid_timezone'],
    ['timezone', '+01:00', 'invalid_timezone'],
    ['consent', { source: 'form' }, 'invalid_consent'],
    ['consent', { type: 'written', proofUrl: 'javascript:alert(1)' }, 'invalid_consent'],
    ['consent', { type: 'written', at: 'yesterday' }, 'invalid_consent'],
  ])('refuses %s (%#)', async (field, value, code) => {
    expectShort(await create({ [field]: value }), 400, `Invalid '${field}' format`, code);
  });

  it('takes 4,000 characters of notes that are two code units each', async () => {
    expect((await created({ notes: '😀'.repeat(4_000) })).notes).toHaveLength(8_000);
  });

  it('gives the same number another lead, and names the oldest as duplicateOf until that is deleted', async () => {
    const first = await created();
    const second = await created({ mobile: '+1 415 555 0123' });
    const third = await created();
    expect([first.duplicateOf, second.duplicateOf, third.duplicateOf]).toEqual([null, first.id, first.id]);
    await ask('DELETE', `/${first.id}`);
    expect((await ask('GET', `/${second.id}`)).json().duplicateOf).toBeNull();
    expect((await ask('GET', `/${third.id}`)).json().duplicateOf).toBe(second.id);
  });

  it('changes the lead of an externalId with 200: what is given, and nothing else', async () => {
    const first = await created({ externalId: 'crm-7', name: 'Asha', notes: 'old', metadata: { a: 1 } });
    const answer = await create({ externalId: 'crm-7', phone: '+14155550199', notes: 'new', name: null, source: '' });
    expect(answer.statusCode).toBe(200);
    const { lead } = answer.json();
    expect(lead).toMatchObject({ id: first.id, name: 'Asha', notes: 'new', phone: '+14155550199', metadata: { a: 1 } });
    const own = await ask(
      'POST',
      '',
      { enterprise: 'other', phone: '+14155550100', externalId: 'crm-7' },
      { tenant: api.other },
    );
    expect([own.statusCode, own.json().lead.id === first.id]).toEqual([201, false]);
  });

  it('keeps what an upsert does not say: notes, source, metadata, zone and consent', async () => {
    const all = {
      notes: 'n',
      source: 's',
      metadata: { a: 1 },
      timezone: 'Europe/Berlin',
      agentId: api.acme.agentId,
      consent: { type: 'express_written' },
    };
    const first = await created({ externalId: 'crm-9', name: 'Asha', ...all });
    const answer = await create({ externalId: 'crm-9', name: 'Bela' });
    expect(answer.statusCode).toBe(200);
    const { lead } = answer.json();
    expect(lead).toEqual({ ...first, name: 'Bela', updatedAt: lead.updatedAt });
    const [row] = await api.database.query<{ consent: object }>('SELECT consent FROM leads WHERE id = $1', [first.id]);
    expect(row!.consent).toEqual({ type: 'express_written' });
  });

  it('makes one lead of 12 parallel requests with one externalId, and of 12 with one Idempotency-Key', async () => {
    const upserts = await Promise.all(Array.from({ length: 12 }, () => create({ externalId: 'crm-8' })));
    expect(upserts.map(({ statusCode }) => statusCode).toSorted()).toEqual([...Array(11).fill(200), 201]);
    expect(new Set(upserts.map((answer) => answer.json().lead.id)).size).toBe(1);
    const headers = { 'idempotency-key': uuidv7() };
    const keyed = await Promise.all(Array.from({ length: 12 }, () => create({}, headers)));
    const good = keyed.filter(({ statusCode }) => statusCode === 201);
    expect(good.length).toBeGreaterThan(0);
    expect(new Set(good.map(({ body }) => body)).size).toBe(1);
    for (const answer of keyed.filter(({ statusCode }) => statusCode !== 201)) {
      expectShort(answer, 409, 'Request in progress', 'request_in_progress');
    }
    const again = await create({}, headers);
    expect([again.statusCode, again.body, again.headers['idempotent-replayed']]).toEqual([201, good[0]!.body, 'true']);
    expectShort(
      await create({ name: 'B' }, headers),
      422,
      'Idempotency-Key reused with a different body',
      'idempotency_key_reused',
    );
    expect(await api.database.query('SELECT 1 AS one FROM leads')).toHaveLength(2);
  });

  it('leaves its key free when the request was not understood, or names another workspace', async () => {
    for (const change of [{ phone: '555' }, { phone: null }, { enterprise: 'other' }, { timezone: 'Mars' }]) {
      const headers = { 'idempotency-key': uuidv7() };
      expect((await create(change, headers)).statusCode, JSON.stringify(change)).toBeLessThan(404);
      const mended = await create({}, headers);
      expect([mended.statusCode, mended.headers['idempotent-replayed']]).toEqual([201, undefined]);
    }
  });

  it('replays a final refusal under its key, and says what is wrong with a key', async () => {
    const headers = { 'idempotency-key': uuidv7() };
    expectShort(await create({ agentId: api.other.agentId }, headers), 404, 'Agent not found', 'agent_not_found');
    const again = await create({ agentId: api.other.agentId }, headers);
    expect([again.statusCode, again.headers['idempotent-replayed']]).toEqual([404, 'true']);
    expectShort(
      await create({}, { 'idempotency-key': 'a b' }),
      400,
      'Invalid Idempotency-Key',
      'invalid_idempotency_key',
    );
  });

  it('answers 401, 413, 415 and 429 with the messages of the contract', async () => {
    const wrong = { authorization: 'Bearer no' };
    expectShort(await create({}, wrong), 401, 'Authentication failed (Unauthorized)', 'unauthorized');
    const reader = await createApiKey(api.database, { slug: 'acme', name: 'r', scopes: ['leads:read'] });
    const lacking = await create({}, { authorization: `Bearer ${reader.text}` });
    expectShort(lacking, 401, 'Authentication failed (Unauthorized)', 'insufficient_scope');
    expectShort(await create({ notes: 'x'.repeat(70_000) }), 413, 'Request body too large', 'body_too_large');
    const form = await ask('POST', '', 'phone=1', { headers: { 'content-type': 'text/plain' } });
    expectShort(form, 415, 'Content-Type must be application/json', 'unsupported_media_type');
    await setWorkspaceLimits(api.database, { slug: 'other', limits: { apiRequestsPerSecond: 1, apiBurst: 1 } });
    api.clock.advanceMs(1_001);
    const fast = async (): Promise<LightMyRequestResponse> => ask('POST', '', {}, { tenant: api.other });
    expect((await fast()).statusCode).toBe(400);
    expectShort(await fast(), 429, 'Too many requests', 'api_rate_limit');
    await setWorkspaceLimits(api.database, {
      slug: 'other',
      limits: { apiRequestsPerSecond: 10_000, apiBurst: 10_000 },
    });
    api.clock.advanceMs(1_001);
  });

  it('shows no secret.* metadata, and keeps it', async () => {
    const lead = await created({ metadata: { plan: 'gold', 'secret.token': 'hush' } });
    expect(lead.metadata).toEqual({ plan: 'gold' });
    const [row] = await api.database.query<Loose>('SELECT metadata FROM leads WHERE id = $1', [lead.id]);
    expect(row.metadata).toEqual({ plan: 'gold', 'secret.token': 'hush' });
  });
});

describe('one lead', () => {
  it('is read, changed and deleted by its workspace alone: another sees 404 on each', async () => {
    const { id } = await created();
    for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
      const payload = method === 'PATCH' ? { name: 'x' } : undefined;
      const answer = await ask(method, `/${id}`, payload, { tenant: api.other });
      expect([answer.statusCode, answer.json().message]).toEqual([404, 'Lead not found']);
      const none = await ask(method, `/${uuidv7()}`, payload);
      expect({ ...none.json(), requestId: '' }).toEqual({ ...answer.json(), requestId: '' });
      const malformed = await ask(method, '/7', payload);
      expect([malformed.statusCode, malformed.json().message]).toEqual([400, 'Invalid lead ID format']);
    }
    expect((await ask('GET', `/${id.toUpperCase()}`)).json()).toMatchObject({
      id,
      name: 'Customer',
      consent: null,
    });
    expect((await ask('DELETE', `/${id}`)).json()).toEqual({ success: true, leadId: id });
    for (const method of ['GET', 'DELETE'] as const) expect((await ask(method, `/${id}`)).statusCode).toBe(404);
  });

  it('changes what is given, clears what is null, and keeps its number', async () => {
    const consent = { type: 'express_written', at: '2026-11-21T01:00:00Z', proofUrl: 'https://example.com/p' };
    const { id } = await created({ notes: 'n', source: 's', metadata: { a: 1 }, consent });
    const change = async (body: object): Promise<Loose> => (await ask('PATCH', `/${id}`, body)).json();
    expect((await change({ name: 'Bo', notes: null })).lead).toMatchObject({
      name: 'Bo',
      notes: null,
      source: 's',
      consent,
    });
    expect((await change({ mobile: '+44 20 7946 0958', metadata: null })).lead).toMatchObject({
      phone: '+442079460958',
      metadata: {},
    });
    expect((await change({ phone: null })).message).toBe("Invalid 'phone' format");
    expect((await change({ phone: '+14155550123', mobile: '+14155550124' })).message).toBe('Conflicting phone fields');
    expect((await change({ status: 'contacted' })).message).toBe("Invalid 'status' format");
    expect((await change({ status: 'do_not_contact' })).lead.status).toBe('do_not_contact');
    expect((await change({ status: 'new', name: null })).lead).toMatchObject({ status: 'new', name: 'Customer' });
    expect((await change({ agentId: api.other.agentId })).message).toBe('Agent not found');
    expect((await change({ enterprise: 'other' })).code).toBe('unauthorized');
    expect((await change({})).lead.phone).toBe('+442079460958');
  });

  it("does not take another's externalId", async () => {
    await created({ externalId: 'crm-1' });
    const { id } = await created({ externalId: 'crm-2' });
    const answer = await ask('PATCH', `/${id}`, { externalId: 'crm-1' });
    expect([answer.statusCode, answer.json().code]).toEqual([409, 'external_id_taken']);
  });
});

describe('the audit', () => {
  it('has a row for each change, by the key, with ids and no numbers', async () => {
    const { id } = await created({ name: 'Asha' });
    await ask('PATCH', `/${id}`, { name: 'Bo', phone: '+14155550199' });
    await ask('PATCH', `/${id}`, { name: 7 });
    await ask('DELETE', `/${id}`);
    await ask('DELETE', `/${id}`);
    const rows = await api.database.query<Loose>(
      'SELECT actor, action, before, after, request_id FROM audit_log WHERE target = $1 ORDER BY id',
      [`lead:${id}`],
    );
    expect(rows.map((row) => [row.action, row.actor])).toEqual(
      ['lead.created', 'lead.changed', 'lead.deleted'].map((action) => [action, `key:${api.acme.keyId}`]),
    );
    expect(JSON.parse(rows[1].after)).toEqual({ fields: ['name', 'phone'] });
    expect(JSON.stringify(rows)).not.toMatch(/4155550|Asha/);
    expect(rows.every((row) => row.request_id !== null)).toBe(true);
  });
});

describe('GET /api/developer/leads', () => {
  const list = async (query: Record<string, string>, tenant = api.acme): Promise<Loose> =>
    (await ask('GET', `?${new URLSearchParams(query)}`, undefined, { tenant })).json();

  it('filters by each field and by all of them, and never shows a lead of another workspace', async () => {
    const wanted = await created({ agentId: api.acme.agentId, source: 'web', externalId: 'e1', phone: '+14155550177' });
    await created();
    await ask('POST', '', { enterprise: 'other', phone: '+14155550177', source: 'web' }, { tenant: api.other });
    const filters: Record<string, string> = {
      status: 'new',
      source: 'web',
      agentId: api.acme.agentId.toUpperCase(),
      phone: '+1 415 555-0177',
      externalId: 'e1',
      createdAfter: wanted.createdAt,
      createdBefore: new Date(Date.parse(wanted.createdAt) + 1).toISOString(),
    };
    for (const [name, value] of Object.entries(filters)) {
      if (['status', 'createdAfter', 'createdBefore'].includes(name)) continue;
      expect(
        (await list({ [name]: value })).data.map((lead: Loose) => lead.id),
        name,
      ).toEqual([wanted.id]);
    }
    expect((await list(filters)).data.map((lead: Loose) => lead.id)).toEqual([wanted.id]);
    expect((await list({ status: 'failed' })).data).toEqual([]);
    expect((await list({ createdBefore: wanted.createdAt })).data).toEqual([]);
    const unencoded = await ask('GET', '?phone=+14155550177');
    expect(unencoded.json().data).toHaveLength(1);
    for (const bad of [
      { status: 'old' },
      { agentId: '7' },
      { phone: '4155550177' },
      { createdAfter: 'soon' },
      { limit: '201' },
    ]) {
      expect((await list(bad)).code, JSON.stringify(bad)).toBe('invalid_request');
    }
  });

  it('pages through leads that come and go meanwhile: none twice, none of those that stayed left out (40 histories)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.constantFrom('add', 'delete', 'none'), { maxLength: 10 }),
        fc.integer({ min: 0, max: 12 }),
        async (limit, meanwhile, count) => {
          await api.database.query('DELETE FROM leads');
          const stable = new Set<string>();
          const doomed: string[] = [];
          for (let index = 0; index < count; index++) {
            const { id } = await created();
            if (index % 3 === 1) doomed.push(id);
            else stable.add(id);
          }
          const seen: string[] = [];
          let cursor: string | null = null;
          for (let page = 0; ; page++) {
            const answer: Loose = await list({ limit: String(limit), ...(cursor === null ? {} : { cursor }) });
            seen.push(...answer.data.map((lead: Loose) => lead.id));
            cursor = answer.nextCursor;
            if (cursor === null) break;
            const effect = meanwhile[page] ?? 'none';
            if (effect === 'add') await created();
            const gone = effect === 'delete' ? doomed.pop() : undefined;
            if (gone !== undefined) await ask('DELETE', `/${gone}`);
          }
          expect(new Set(seen).size).toBe(seen.length);
          expect([...stable].filter((id) => !seen.includes(id))).toEqual([]);
          expect(seen).toEqual(seen.toSorted().toReversed());
        },
      ),
      { numRuns: 40, seed: 4 },
    );
  });

  it('refuses a cursor of another list, workspace or filter, and one that was changed', async () => {
    for (let index = 0; index < 3; index++) await created({ source: 's' });
    const { nextCursor } = await list({ limit: '1', source: 's' });
    expect((await list({ limit: '2', source: 's', cursor: nextCursor })).data).toHaveLength(2);
    expect((await list({ cursor: nextCursor })).code).toBe('invalid_cursor');
    expect((await list({ source: 's', cursor: nextCursor }, api.other)).code).toBe('invalid_cursor');
    expect((await list({ source: 's', cursor: `${nextCursor.slice(0, -2)}AA` })).code).toBe('invalid_cursor');
    const others = await api.app.inject({
      url: `/api/developer/suppressions?cursor=${nextCursor}`,
      headers: { authorization: `Bearer ${api.acme.key}` },
    });
    expect(others.json().code).toBe('invalid_cursor');
  });
});
