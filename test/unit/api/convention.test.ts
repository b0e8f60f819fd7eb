/** One convention everywhere: what holds for every operation below `/api/developer`, asked of each of them. */
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordCallEvent } from '../../../bench/harness/record-call-event.ts';
import { importAgent } from '../../../src/agents/stored-agents.ts';
import { sentenceOf, textOfIssue } from '../../../src/api/issue-sentence.ts';
import { buildDocument } from '../../../src/api/openapi/document.ts';
import type { Operation } from '../../../src/api/openapi/operation.ts';
import { operationsWithoutServer } from '../../../src/api/openapi/without-a-server.ts';
import { valuesOf, withPlus } from '../../../src/api/query-values.ts';
import { readCall } from '../../../src/calls/call-row.ts';
import { READING_HERE } from '../../../src/leads/import-reading.ts';
import { createImportRunner } from '../../../src/leads/import-runner.ts';
import { placeHold } from '../../../src/retention/legal-holds.ts';
import { setEndpoint } from '../../../src/webhooks/endpoint.ts';
import { ALL_EVENTS } from '../../../src/webhooks/events.ts';
import { createApiKey } from '../../../src/workspaces/api-keys.ts';
import { createOperatorKey } from '../../../src/workspaces/operator-keys.ts';
import { type ApiFixture, createApiFixture, SEALER } from './api-fixture.ts';

const OPERATIONS = await operationsWithoutServer();

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at by their paths
type Loose = any;

let api: ApiFixture;
let operator: string;
beforeAll(async () => {
  api = await createApiFixture();
  operator = (await createOperatorKey(api.database, { name: 'test', by: { actor: 'cli:test' } })).text;
});
afterAll(() => api.close());

function ask(
  method: InjectOptions['method'],
  path: string,
  options: { payload?: object | string; headers?: Record<string, string>; key?: string } = {},
): Promise<LightMyRequestResponse> {
  const { payload, headers = {}, key = api.acme.key } = options;
  return api.app.inject({
    method: method!,
    url: path.startsWith('/api') ? path : `/api/developer${path}`,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
}

const get = (path: string): Promise<LightMyRequestResponse> => ask('GET', path);
const keyOf = ({ scope }: Operation): string => (scope === 'operator' ? operator : api.acme.key);

async function idsOf(path: string, name = 'id'): Promise<string[]> {
  const answer = await get(path);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json().data.map((one: Record<string, string>) => one[name]);
}

const own = OPERATIONS.filter(({ route, specified }) => route.startsWith('/api/developer/') && !specified);

describe('a parameter that is not known', () => {
  it('is 400 with its name and the known ones, on every operation that is not of the specification', async () => {
    expect(own.length).toBeGreaterThan(60);
    for (const operation of own) {
      const url = `${operation.route.replace(/:\w+/g, 'x')}?stauts=failed`;
      const answer = await ask(operation.method.toUpperCase() as 'GET', url, { key: keyOf(operation) });
      const where = `${operation.method} ${operation.route}`;
      expect([answer.statusCode, answer.json().code], where).toEqual([400, 'invalid_request']);
      const [detail] = answer.json().details;
      expect(detail.field, where).toBe('stauts');
      for (const name of Object.keys(operation.query?.shape ?? {})) expect(detail.issue, where).toContain(name);
    }
  });

  it('is nothing to an operation of the specification', async () => {
    const answer = await api.call({}, { url: '/api/outbound-call?stauts=failed' });
    expect(answer.statusCode).toBe(200);
  });
});

describe('NUL', () => {
  it('in any filter, name or id of any operation is 400, and never asks the database', async () => {
    const samples = ['%00', 'a%00b', '%2B14155550150%00', `${api.acme.agentId}%00`];
    let asked = 0;
    const bad: string[] = [];
    for (const operation of OPERATIONS) {
      const names = Object.keys(operation.query?.shape ?? {}).map((name) => name.replace('<key>', 'plan'));
      const plain = operation.route.replace(/:\w+/g, api.acme.agentId);
      const urls = [
        ...names.flatMap((name) => samples.map((value) => `${plain}?${name}=${value}`)),
        ...(operation.route.includes(':') ? samples.map((value) => operation.route.replace(/:\w+/g, value)) : []),
        ...(operation.specified ? [] : [`${plain}?%00=x`]),
      ];
      for (const url of urls) {
        const payload = operation.body === null ? {} : { payload: {} };
        const method = operation.method.toUpperCase() as 'GET';
        const { statusCode } = await ask(method, url, { key: keyOf(operation), ...payload });
        if (statusCode < 400 || statusCode >= 500) bad.push(`${method} ${url} ${statusCode}`);
        asked++;
      }
    }
    expect(bad).toEqual([]);
    expect(asked).toBeGreaterThan(400);
    expect(api.logLines.filter((line) => line.includes('request failed'))).toEqual([]);
    const named = await ask('DELETE', '/secrets/a%00');
    expect(named.json().details).toEqual([{ field: 'name', issue: "'name' must not hold NUL." }]);
  });

  it('and half a surrogate pair in a body is 400 where no schema has said so', async () => {
    const bad: string[] = [];
    for (const [method, path, payload] of [
      ['POST', '/keys', { name: 'a\u0000b', scopes: ['leads:read'] }],
      ['POST', '/leads', { enterprise: 'acme', phone: '+14155550199', name: '\u0000' }],
      ['POST', '/leads', { enterprise: 'acme', phone: '+14155550199', metadata: { plan: 'a\u0000' } }],
      ['POST', '/leads', { enterprise: 'acme', phone: '+14155550199', metadata: { plan: '\ud800' } }],
      ['POST', '/widget-keys', { name: '\u0000', allow: [] }],
      ['POST', '/suppressions', { phones: ['+14155550199'], reason: '\u0000' }],
      ['PUT', '/secrets/A', { value: '\u0000' }],
      ['POST', '/legal-holds', { reason: '\u0000', callUuid: api.acme.agentId }],
    ] as const) {
      const answer = await ask(method, path, { payload });
      if (answer.statusCode >= 500) bad.push(`${method} ${path} ${JSON.stringify(payload)} ${answer.statusCode}`);
    }
    expect(bad).toEqual([]);
  });
});

const document = (await buildDocument(OPERATIONS, 'https://voice.example.com')) as Loose;

describe('one envelope for reads', () => {
  const target = (schema: Loose): Loose =>
    schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1)];

  it('a list is `data` and `nextCursor`, anything else is the thing itself', () => {
    const reads = own.filter(
      ({ method, answers }) => method === 'get' && 'application/json' in (answers[200]?.content ?? {}),
    );
    expect(reads.length).toBeGreaterThan(25);
    for (const { route, id } of reads) {
      const operation = document.paths[route.replace(/:(\w+)/g, '{$1}')].get;
      const { properties } = target(operation.responses[200].content['application/json'].schema);
      const names = Object.keys(properties);
      expect(names, `${id} ${route}`).not.toContain('success');
      expect(names.includes('data') && id !== 'readCall', `${id} ${route}`).toBe(names.includes('nextCursor'));
      if (id.startsWith('list')) expect(names, id).toEqual(expect.arrayContaining(['data', 'nextCursor']));
    }
  });
});

describe('several values with commas', () => {
  it('mean any of them, on leads, suppressions, imports, deliveries and the audit', async () => {
    const make = async (fields: object): Promise<Loose> => {
      const payload = { enterprise: 'acme', phone: '+14155550150', ...fields };
      return (await ask('POST', '/leads', { payload })).json().lead;
    };
    const [one, two, three] = [
      await make({ source: 'fair', externalId: 'a' }),
      await make({ source: 'fair, Berlin', phone: '+14155550151' }),
      await make({ source: 'web', externalId: 'c' }),
    ];
    await ask('PATCH', `/leads/${three.id}`, { payload: { status: 'do_not_contact' } });
    expect(await idsOf('/leads?source=fair,web')).toEqual([three.id, one.id]);
    expect(await idsOf('/leads?source=fair%5C,%20Berlin')).toEqual([two.id]);
    expect(await idsOf('/leads?status=new,do_not_contact')).toHaveLength(3);
    expect(await idsOf('/leads?externalId=a,c')).toEqual([three.id, one.id]);
    expect(await idsOf(`/leads?agentId=${api.acme.agentId},${api.other.agentId}`)).toEqual([]);

    await ask('POST', '/suppressions', { payload: { phones: ['+14155550150', '+14155550151', '+14155550152'] } });
    expect(await idsOf('/suppressions?phone=%2B14155550150,%2B14155550152', 'phone')).toHaveLength(2);

    const events = ['call.completed', 'recording.ready', 'analysis.completed'] as const;
    await setEndpoint(api.database, SEALER, api.acme.workspaceId, 'https://example.com/hooks');
    for (const event of events) {
      const callUuid = await api.insertCall(api.acme, {
        status: 'completed',
        ended_reason: 'user_hangup',
        ended_at: new Date(),
      });
      const call = (await readCall(api.database, api.acme.workspaceId, callUuid))!;
      await api.database.transaction((tx) => recordCallEvent(tx, call, event, {}, api.clock));
    }
    expect(ALL_EVENTS).toEqual(expect.arrayContaining([...events]));
    const found = await idsOf(
      '/webhooks/deliveries?event=call.completed,analysis.completed&state=pending,dead',
      'event',
    );
    expect(found.toSorted()).toEqual(['analysis.completed', 'call.completed']);

    const actions = await idsOf('/audit?action=lead.created,suppressions.added,lead.changed', 'action');
    expect(new Set(actions)).toEqual(new Set(['lead.created', 'lead.changed', 'suppressions.added']));
  });

  it('are cut at commas that are not escaped', () => {
    expect(valuesOf('a,b\\,c,')).toEqual(['a', 'b,c', '']);
  });
});

describe('a + in a query string, which arrives as a blank', () => {
  it.each([
    ['/calls', 'to', 'callUuid'],
    ['/calls', 'from', 'callUuid'],
    ['/leads', 'phone', 'id'],
    ['/suppressions', 'phone', 'phone'],
  ])(
    'is understood in %s?%s, alone and in a list, and other spellings are refused, never empty',
    async (path, name, id) => {
      const number = '+14155550177';
      await api.insertCall(api.acme, { to_number: number, from_number: number });
      await ask('POST', '/leads', { payload: { enterprise: 'acme', phone: number } });
      await ask('POST', '/suppressions', { payload: { phone: number } });
      for (const value of ['%2B14155550177', '+14155550177', '+1%20(415)%20555-0177', '%2B19995550000,+14155550177']) {
        expect((await idsOf(`${path}?${name}=${value}`, id)).length, value).toBeGreaterThan(0);
      }
      for (const value of ['14155550177', '004155550177', 'Asha', '%2B1']) {
        const answer = await get(`${path}?${name}=${value}`);
        expect([answer.statusCode, answer.json().code], value).toEqual([400, 'invalid_request']);
        expect(answer.json().details[0].issue, value).toContain('+14155550');
      }
    },
  );

  it('is understood before the offset of a time, in metadata and in an id of your own', async () => {
    await api.insertCall(api.acme, { metadata: { mobile: '+491711234567' } });
    expect(await idsOf('/calls?metadata.mobile=+491711234567', 'callUuid')).toHaveLength(1);
    expect((await get('/calls?createdAfter=2026-11-21T00:00:00+02:00')).statusCode).toBe(200);
    expect((await get('/leads?createdBefore=2026-11-21T00:00:00+02:00')).statusCode).toBe(200);
    expect([withPlus(' 491711234567'), withPlus(' 4th floor'), withPlus('a 1')]).toEqual([
      '+491711234567',
      ' 4th floor',
      'a 1',
    ]);
  });
});

describe('what is wrong with a field', () => {
  it('is said as a sentence: of a schema, a function and a code alike', async () => {
    const issues = async (answer: Promise<LightMyRequestResponse>): Promise<string[]> =>
      (await answer).json().details.map((one: { issue: string }) => one.issue);
    const { lead } = (await ask('POST', '/leads', { payload: { enterprise: 'acme', phone: '+14155550180' } })).json();
    expect(await issues(ask('PATCH', `/leads/${lead.id}`, { payload: { phone: '12' } }))).toEqual([
      expect.stringMatching(/^The number must be in international form, like \+14155550123;.*\.$/),
    ]);
    expect(await issues(ask('POST', '/keys', { payload: { name: 7, scopes: ['all'], zone: 1 } }))).toEqual([
      "'name' must be a text.",
      expect.stringMatching(/^'scopes\.0' must be one of calls:write, .*, bench\.$/),
      'The request holds what is unknown here: zone.',
    ]);
    expect(await issues(get('/calls?limit=999'))).toEqual(["'limit' must be at most 200."]);
    expect(await issues(get('/leads?status=new&status=failed'))).toEqual([
      "'status' is given more than once; write several values in one, separated by commas.",
    ]);
    expect(sentenceOf('', 'must be an object')).toBe('The request must be an object.');
    expect(sentenceOf('steps[2]', 'no step has this id')).toBe('No step has this id.');
    expect(
      textOfIssue({
        keyword: 'invalid_type',
        message: 'Invalid input: expected string, received undefined',
        params: {},
      }),
    ).toBe('is required');
  });
});

describe('a key without the scope', () => {
  it("is told so by its code and a challenge; the message is the specification's on its own paths", async () => {
    const { text } = await createApiKey(api.database, { slug: 'acme', name: 'bench', scopes: ['bench'] });
    for (const operation of OPERATIONS.filter(({ scope, specified }) => specified && scope !== null)) {
      const url = operation.route.replace(/:\w+/g, api.acme.agentId);
      const answer = await ask('POST', url, { key: text, payload: {} });
      expect([answer.statusCode, answer.headers['x-error-code'], answer.json()], url).toEqual([
        401,
        'insufficient_scope',
        { success: false, message: 'Authentication failed (Unauthorized)' },
      ]);
      expect(answer.headers['www-authenticate']).toBe(`Bearer error="insufficient_scope", scope="${operation.scope}"`);
    }
    await api.database.query(`DELETE FROM api_keys WHERE name = 'bench'`);
  });

  it('every 401, 403 and 429 documents the headers that are sent with it', async () => {
    for (const { method, route, scope } of own.filter((one) => one.scope !== null)) {
      const { responses } = document.paths[route.replace(/:(\w+)/g, '{$1}')][method];
      const where = `${method} ${route}`;
      expect(Object.keys(responses[401].headers), where).toContain('WWW-Authenticate');
      if (scope !== 'operator') expect(Object.keys(responses[403].headers), where).toContain('WWW-Authenticate');
      for (const status of Object.keys(responses).filter((one) => one !== '401')) {
        expect(Object.keys(responses[status].headers), `${where} ${status}`).toEqual(
          expect.arrayContaining(['RateLimit', 'RateLimit-Policy']),
        );
      }
    }
    const foreign = await api.call({ enterprise: 'other' });
    expect([foreign.statusCode, foreign.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    const listed = await ask('GET', '/workspaces', { key: operator });
    expect([listed.headers['ratelimit-policy'], listed.headers['ratelimit']]).toEqual([
      '"api";q=40;w=2',
      expect.stringMatching(/^"api";r=\d+;t=\d+$/),
    ]);
  });
});

describe('a lead', () => {
  it('refuses an agent that cannot call out: create, change and import', async () => {
    const definition = { kind: 'tone', name: 'Door', direction: 'inbound', toneHz: 440 };
    const { id } = await importAgent(api.database, { slug: 'acme', definition });
    const payload = { enterprise: 'acme', phone: '+14155550190', agentId: id };
    const refused = await ask('POST', '/leads', { payload });
    expect([refused.statusCode, refused.headers['x-error-code'], refused.json()]).toEqual([
      400,
      'agent_not_outbound',
      { success: false, message: 'Agent is not an outbound agent' },
    ]);
    const { lead } = (await ask('POST', '/leads', { payload: { ...payload, agentId: api.acme.agentId } })).json();
    const changed = await ask('PATCH', `/leads/${lead.id}`, { payload: { agentId: id } });
    expect([changed.statusCode, changed.json().code]).toEqual([400, 'agent_not_outbound']);
    const headers = { 'content-type': 'text/csv' };
    const upload = (query: string, csv: string) => ask('POST', `/leads/import${query}`, { payload: csv, headers });
    expect((await upload(`?agentId=${id}`, 'phone\n+14155550191\n')).json().code).toBe('agent_not_outbound');
    const { import: started } = (await upload('', `phone,agentId\n+14155550191,${id}\n`)).json();
    await createImportRunner({
      database: api.database,
      clock: api.clock,
      log: pino({ level: 'silent' }),
      reading: READING_HERE,
    }).drain();
    expect((await get(`/leads/import/${started.id}/errors`)).json().data).toMatchObject([
      { row: 1, field: 'agentId', code: 'agent_not_outbound' },
    ]);
  });
});

describe('imports', () => {
  const upload = async (rows: number): Promise<string> => {
    const payload = `phone\n${'+14155550123\n'.repeat(rows)}`;
    const answer = await ask('POST', '/leads/import', { payload, headers: { 'content-type': 'text/csv' } });
    return answer.json().import.id;
  };

  it('are listed newest first in pages, by state, and called off: what was stored stays, and no more comes', async () => {
    await api.database.query('DELETE FROM leads');
    const runner = createImportRunner({
      database: api.database,
      clock: api.clock,
      log: pino({ level: 'silent' }),
      reading: READING_HERE,
    });
    await runner.drain();
    const [done, first, second] = [await upload(1), await upload(600), await upload(1)];
    await api.database.query(`UPDATE lead_imports SET state = 'completed' WHERE id = $1`, [done]);
    const page = (await get('/leads/import?state=queued,running&limit=1')).json();
    expect(page.data.map((one: Loose) => one.id)).toEqual([second]);
    const rest = (await get(`/leads/import?state=queued,running&limit=1&cursor=${page.nextCursor}`)).json();
    expect([rest.data.map((one: Loose) => one.id), rest.nextCursor]).toEqual([[first], null]);

    expect((await ask('POST', `/leads/import/${first}/cancel`, { key: api.other.key })).statusCode).toBe(404);
    // Called off after its first group of 250 rows, by somebody else than who works on it.
    let groups = 0;
    const watched = createImportRunner({
      clock: api.clock,
      log: pino({ level: 'silent' }),
      reading: READING_HERE,
      database: {
        ...api.database,
        transaction: async (work) => {
          const stored = await api.database.transaction(work);
          if (++groups === 1) {
            const canceled = await ask('POST', `/leads/import/${first}/cancel`);
            expect([canceled.statusCode, canceled.json().import.state]).toEqual([200, 'canceled']);
          }
          return stored;
        },
      },
    });
    await watched.drain();
    expect((await get(`/leads/import/${first}`)).json()).toMatchObject({
      state: 'canceled',
      processedRows: 250,
      createdCount: 250,
    });
    expect((await get(`/leads/import/${second}`)).json().state).toBe('completed');
    const [{ count }] = (await api.database.query('SELECT count(*)::int AS count FROM leads')) as [{ count: number }];
    expect(count).toBe(251);
    expect((await ask('POST', `/leads/import/${first}/cancel`)).statusCode).toBe(200);
    const over = await ask('POST', `/leads/import/${second}/cancel`);
    expect([over.statusCode, over.json().code]).toEqual([409, 'import_over']);
    const rows = await api.database.query(`SELECT 1 FROM audit_log WHERE action = 'lead_import.canceled'`);
    expect(rows).toHaveLength(1);
  });
});

describe('a key', () => {
  it('is read and changed, within what the key that asks may give, and 412 when somebody else was faster', async () => {
    const made = await createApiKey(api.database, { slug: 'acme', name: 'crm', scopes: ['leads:read', 'calls:write'] });
    const path = `/keys/${made.keyId}`;
    const read = await get(path);
    expect(read.json()).toMatchObject({ keyId: made.keyId, name: 'crm', scopes: ['leads:read', 'calls:write'] });
    expect(read.body).not.toContain(made.text);
    const etag = String(read.headers['etag']);
    const changed = await ask('PATCH', path, {
      payload: { name: 'CRM', scopes: ['leads:read'] },
      headers: { 'if-match': etag },
    });
    expect([changed.statusCode, changed.json().key]).toMatchObject([
      200,
      { name: 'CRM', scopes: ['leads:read'], expiresAt: null },
    ]);
    const late = await ask('PATCH', path, { payload: { name: 'x' }, headers: { 'if-match': etag } });
    expect(late.statusCode).toBe(412);
    api.clock.advanceMs(1_001);
    expect((await ask('GET', '/calls', { key: made.text })).statusCode).toBe(403);
    const past = await ask('PATCH', path, { payload: { expiresAt: '2020-01-01T00:00:00Z' } });
    expect([past.statusCode, past.json().details[0].issue]).toEqual([400, expect.stringContaining('in the future')]);
    expect((await ask('PATCH', path, { payload: { allowedCidrs: ['nowhere'] } })).statusCode).toBe(400);

    const bound = await createApiKey(api.database, {
      slug: 'acme',
      name: 'bound',
      scopes: ['settings:write', 'leads:read'],
      allowedCidrs: ['127.0.0.0/8'],
    });
    const byBound = async (payload: object): Promise<number> =>
      (await ask('PATCH', path, { payload, key: bound.text })).statusCode;
    expect(await byBound({ name: 'renamed' })).toBe(200);
    expect(await byBound({ scopes: ['leads:read', 'calls:write'] })).toBe(409);
    // A scope that it has itself, but for a key that is bound to no address.
    expect(await byBound({ scopes: ['leads:read', 'settings:write'] })).toBe(409);
    expect(await byBound({ allowedCidrs: ['127.0.0.1/32'] })).toBe(200);
    expect(await byBound({ allowedCidrs: [] })).toBe(409);

    expect((await ask('GET', path, { key: api.other.key })).statusCode).toBe(404);
    await ask('DELETE', path);
    expect((await get(path)).json().revokedAt).not.toBeNull();
    expect((await ask('PATCH', path, { payload: { name: 'again' } })).json().code).toBe('key_not_found');
    const actions = await api.database.query<{ after: string }>(
      `SELECT after FROM audit_log WHERE action = 'key.changed'`,
    );
    expect(actions).toHaveLength(3);
    await api.database.query(`DELETE FROM api_keys WHERE name IN ('bound', 'renamed')`);
  });
});

describe('a key that is being rotated out', () => {
  it('may end sooner than the rotation said, and not later: it is not among the five any more', async () => {
    const { keyId } = await createApiKey(api.database, { slug: 'acme', name: 'old', scopes: ['leads:read'] });
    expect((await ask('POST', `/keys/${keyId}/rotate`, { payload: { overlapSeconds: 3_600 } })).statusCode).toBe(201);
    const until = async (expiresAt: string | null) =>
      (await ask('PATCH', `/keys/${keyId}`, { payload: { expiresAt } })).statusCode;
    expect(await until(null)).toBe(400);
    expect(await until(new Date(Date.now() + 86_400_000).toISOString())).toBe(400);
    expect(await until(new Date(Date.now() + 60_000).toISOString())).toBe(200);
    await api.database.query(`DELETE FROM api_keys WHERE name = 'old'`);
  });
});

describe('a workspace', () => {
  it('is renamed by the operator; its short name stays', async () => {
    const renamed = await ask('PATCH', '/workspaces/other', { payload: { name: 'Other, Inc.' }, key: operator });
    expect(renamed.json().workspace).toMatchObject({ slug: 'other', name: 'Other, Inc.' });
    const rows = await api.database.query(`SELECT before, after FROM audit_log WHERE action = 'workspace.renamed'`);
    expect(rows).toEqual([{ before: '{"name":"other"}', after: '{"name":"Other, Inc."}' }]);
    expect((await ask('PATCH', '/workspaces/other', { payload: { name: '  ' }, key: operator })).statusCode).toBe(400);
  });
});

describe('legal holds and the purge', () => {
  const over = { status: 'completed', ended_reason: 'user_hangup', answered_at: new Date(0), ended_at: new Date(0) };

  it('a held call outlives the purge; released, it goes with a receipt; two calls a request, and says that there are more', async () => {
    await api.database.query(`UPDATE calls SET purged_kinds = '{recording,transcript,analysis,events,metadata}'`);
    const calls: string[] = [];
    for (let i = 0; i < 4; i++) calls.push(await api.insertCall(api.acme, over));
    const foreign = await api.insertCall(api.other, over);
    const held = await ask('POST', '/legal-holds', { payload: { callUuid: calls[0], reason: 'case 7' } });
    expect([held.statusCode, held.json().hold]).toMatchObject([
      201,
      { callUuid: calls[0], reason: 'case 7', placedBy: `key:${api.acme.keyId}` },
    ]);
    expect(await idsOf(`/legal-holds?callUuid=${calls[0]}`)).toEqual([held.json().hold.id]);
    expect((await ask('POST', '/legal-holds', { payload: { callUuid: foreign, reason: 'x' } })).json().code).toBe(
      'call_not_found',
    );
    expect((await ask('DELETE', `/calls/${calls[0]}?kind=all`)).json().code).toBe('legal_hold');

    const purge = async () => (await ask('POST', '/retention/purge')).json();
    expect(await purge()).toMatchObject({
      removed: { recording: 2, transcript: 2, analysis: 2, events: 2, metadata: 2 },
      more: true,
      putOff: false,
    });
    for (let more = true; more; ) more = (await purge()).more;
    const purged = async (callUuid: string) =>
      (
        await api.database.query<{ kinds: string[] }>('SELECT purged_kinds AS kinds FROM calls WHERE call_uuid = $1', [
          callUuid,
        ])
      )[0]!.kinds.length;
    expect(await Promise.all([...calls, foreign].map(purged))).toEqual([0, 5, 5, 5, 0]);
    const receipts = await idsOf('/retention/receipts', 'callUuid');
    expect(receipts.toSorted()).toEqual(
      calls
        .slice(1)
        .toSorted()
        .flatMap((callUuid) => Array(5).fill(callUuid)),
    );

    expect((await ask('DELETE', `/legal-holds/${held.json().hold.id}`, { key: api.other.key })).statusCode).toBe(404);
    expect((await ask('DELETE', `/legal-holds/${held.json().hold.id}`)).statusCode).toBe(200);
    expect((await ask('DELETE', `/legal-holds/${held.json().hold.id}`)).json().code).toBe('hold_not_found');
    for (let more = true; more; ) more = (await purge()).more;
    expect(await purged(calls[0]!)).toBe(5);
  });

  it("the operator's hold is not a key's to release", async () => {
    const { id } = await placeHold(api.database, {
      workspaceId: api.acme.workspaceId,
      callUuid: null,
      reason: 'court',
      by: { actor: 'cli:root' },
      at: new Date(),
    });
    const refused = await ask('DELETE', `/legal-holds/${id}`);
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'setting_refused']);
    expect(await idsOf('/legal-holds')).toEqual([id]);
  });
});

describe('the webhook over HTTP', () => {
  const put = (payload: object) => ask('PUT', '/webhooks', { payload });

  it('keeps its secret with another URL unless asked, shows its breaker, which `enable` closes, and is removed', async () => {
    await api.database.query('DELETE FROM webhook_deliveries');
    await api.database.query('DELETE FROM webhook_endpoints');
    expect((await put({ url: 'https://example.com/a' })).json().secret).toMatch(/^whsec_/);
    expect((await put({ url: 'https://example.com/b' })).json()).toMatchObject({
      secret: null,
      webhook: { url: 'https://example.com/b' },
    });
    const asked = (await put({ url: 'https://example.com/c', newSecret: true })).json();
    expect(asked.secret).toMatch(/^whsec_/);
    expect(Date.parse(asked.webhook.previousSecretUntil)).toBeGreaterThan(Date.now());

    expect((await get('/webhooks')).json().breaker).toEqual({ state: 'closed', opensAt: null, reason: null });
    await api.database.query(
      `UPDATE webhook_endpoints SET failures_since_success = 23, failing_since = now(), last_failure_at = now(), last_failure = 'answered 500'`,
    );
    const open = (await get('/webhooks')).json();
    expect(open).toMatchObject({
      enabled: true,
      breaker: { state: 'open', reason: '23 attempts in a row failed; the last: answered 500' },
      notice: expect.stringContaining('switching it on sends what waits'),
    });
    expect(Date.parse(open.breaker.opensAt)).toBeGreaterThan(Date.now());
    expect((await ask('POST', '/webhooks/enable')).json()).toMatchObject({
      breaker: { state: 'closed' },
      notice: null,
    });

    expect((await ask('DELETE', '/webhooks', { headers: { 'if-match': '"stale"' } })).statusCode).toBe(412);
    expect((await ask('DELETE', '/webhooks')).json()).toMatchObject({
      success: true,
      webhook: { url: 'https://example.com/c' },
    });
    expect((await ask('DELETE', '/webhooks')).json().code).toBe('webhook_not_set');
    expect((await get('/webhooks')).json().code).toBe('webhook_not_set');
    expect((await put({ url: 'https://example.com/a' })).json().secret).toMatch(/^whsec_/);
  });
});
