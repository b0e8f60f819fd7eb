/**
 * Every operation of the published document with every id that it takes, once with an id of another workspace and once
 * with one that nobody has: the two answers must not differ, and nothing of the other workspace may change. The cells
 * are made from OPERATIONS, so a new route is in the matrix by itself; one that takes an id of
 * a kind that is not known here fails.
 */
import { createHash } from 'node:crypto';
import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { importAgent } from '../../../src/agents/stored-agents.ts';
import type { Operation } from '../../../src/api/openapi/operation.ts';
import { operationsWithoutServer } from '../../../src/api/openapi/without-a-server.ts';
import { BY_OPERATOR } from '../../../src/audit/audit-entry.ts';
import { addConnection } from '../../../src/connections/stored-connections.ts';
import { createWidgetKey } from '../../../src/embed/widget-keys.ts';
import { placeHold } from '../../../src/retention/legal-holds.ts';
import { setSecret } from '../../../src/tools/secrets.ts';
import { createApiKey } from '../../../src/workspaces/api-keys.ts';
import { addLine } from '../../../src/workspaces/lines.ts';
import { wavOf } from '../../support/clip-files.ts';
import { putStored, toneFile } from '../../support/encrypted-recording.ts';
import { type ApiFixture, createApiFixture, SEALER, type Tenant } from './api-fixture.ts';

const OPERATIONS = await operationsWithoutServer();

const SOUND = toneFile(1);

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(async () => {
  await api.close();
});

type Where = 'path' | 'query' | 'body';

interface Kind {
  /** Makes a thing of this kind for the tenant; returns its id. */
  make(tenant: Tenant): Promise<string>;
  /** An id of the right form that nobody has. */
  unknown(): string;
  /** Nothing of the kind exists yet, so one's own id finds nothing either. */
  isEmpty?: true;
}

const uuid = { unknown: () => uuidv4() };
const number = { unknown: () => `+1415${String(Math.floor(Math.random() * 1e7)).padStart(7, '0')}` };

/** What an id's name stands for. `query:` before a name: only there it is one. */
const KINDS: Record<string, Kind> = {
  callUuid: { make: async (tenant) => (await delivery(tenant)).callUuid, ...uuid },
  // Of a call that is held and has lost something.
  'query:callUuid': { make: heldCall, ...uuid },
  'path:holdId': { make: hold, ...uuid },
  leadId: { make: lead, ...uuid },
  agentId: { make: async (tenant) => (await finishedCall(tenant)) && tenant.agentId, ...uuid },
  // What a path names may be taken away by the operation, so it is a thing of its own each time.
  'path:agentId': { make: agent, ...uuid },
  'path:lineId': { make: line, ...uuid },
  'path:publicKey': { make: widgetKey, unknown: () => `pk_${uuidv4().replaceAll('-', '')}` },
  clipId: { make: clip, ...uuid },
  'path:keyId': { make: apiKey, unknown: () => uuidv4().replaceAll('-', '').slice(0, 8) },
  // Not an id of its own: it names a version of the agent before it.
  'path:version': { make: async () => '1', unknown: () => '2' },
  'path:connectionName': { make: connection, unknown: () => `c${uuidv4().slice(0, 8)}` },
  'path:name': { make: secret, unknown: () => `S${uuidv4().slice(0, 8)}` },
  lineId: { make: async (tenant) => tenant.lineId, ...uuid },
  defaultAgentId: { make: async (tenant) => tenant.agentId, ...uuid },
  defaultLineId: { make: async (tenant) => tenant.lineId, ...uuid },
  from: { make: async (tenant) => (await finishedCall(tenant)) && tenant.lineId, ...uuid },
  enterprise: { make: async (tenant) => tenant.slug, unknown: () => 'nobody-here' },
  deliveryId: { make: async (tenant) => (await delivery(tenant)).deliveryId, ...uuid },
  callUuids: { make: async (tenant) => (await delivery(tenant)).callUuid, ...uuid },
  importId: { make: leadImport, ...uuid },
  exportId: { make: callExport, ...uuid },
  // Not an id of its own: it names a tool of the agent before it, and the spare one has none.
  'path:toolName': { make: async () => 'lookup', unknown: () => 'other', isEmpty: true },
  campaignId: { make: async () => uuidv4(), ...uuid, isEmpty: true },
  'query:phone': { make: leadNumber, ...number },
  'query:externalId': { make: externalId, unknown: () => uuidv4() },
  'query:idempotencyKey': { make: keyedCall, unknown: () => uuidv4() },
};

const CSV = 'phone\n+14155550125\n';

/** Fields that look like ids and are the client's own words. */
const OWN_WORDS = new Set(['body:externalId', 'path:version', 'path:name']);
const LOOKS_LIKE_ID = /(^|[a-z])(Ids?|Uuids?|ID|UUID)$|^(id|ids|from|enterprise)$/;

/** For fields that a body must have; by the operation's name where it has another form there. */
const SAMPLES: Record<string, unknown> = {
  to: '+14155550123',
  phone: '+14155550124',
  name: 'Asha',
  action: 'mute_agent',
  definition: { kind: 'tone', name: 'Tone', direction: 'any', toneHz: 440 },
  limits: { concurrentCalls: 3 },
  'changeConnection:limits': { concurrent: 3 },
  authId: 'MA1',
  authToken: 'another',
  recording: 30,
  reason: 'case 7',
};

interface Cell {
  operation: Operation;
  where: Where;
  field: string;
  kind: Kind | null;
}

function cells(): Cell[] {
  return OPERATIONS.filter(({ scope }) => scope !== null && scope !== 'operator' && scope !== 'person').flatMap(
    (operation) => {
      const fields: [Where, string][] = [
        ...Object.keys(operation.params?.shape ?? {}).map((name): [Where, string] => ['path', name]),
        ...Object.keys(operation.query?.shape ?? {}).map((name): [Where, string] => ['query', name]),
        ...Object.keys(propertiesOf(operation)).map((name): [Where, string] => ['body', name]),
      ];
      return (
        fields
          .filter(([where, name]) => where === 'path' || `${where}:${name}` in KINDS || LOOKS_LIKE_ID.test(name))
          // What its filters find is told by the file alone; they are those of the list.
          .filter(([where]) => operation.id !== 'exportCalls' || where !== 'query')
          .filter(([where, name]) => !OWN_WORDS.has(`${where}:${name}`) && !isTime(operation, where, name))
          .map(([where, field]) => ({ operation, where, field, kind: kindOf(where, field) }))
      );
    },
  );
}

const kindOf = (where: Where, field: string): Kind | null => KINDS[`${where}:${field}`] ?? KINDS[field] ?? null;

/** `from` of a period. */
function isTime(operation: Operation, where: Where, name: string): boolean {
  const { format } = (where === 'body' ? (propertiesOf(operation)[name] ?? {}) : {}) as { format?: string };
  return format === 'date-time';
}

/** Of a body that is one of several shapes, all of their fields. */
function propertiesOf({ body }: Operation): Record<string, unknown> {
  if (body === null) return {};
  const whole = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as Shape & {
    $defs?: Record<string, Shape>;
  };
  const target = (one: Shape): Shape =>
    one.$ref === undefined ? one : (whole.$defs?.[one.$ref.split('/').at(-1)!] ?? {});
  const schema = target(whole);
  const shapes = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map((one) => target(one).properties ?? {});
  return Object.assign({}, ...shapes);
}
interface Shape {
  $ref?: string;
  properties?: Record<string, unknown>;
  required?: string[];
  anyOf?: Shape[];
  oneOf?: Shape[];
}

interface Answered {
  status: number;
  code: unknown;
  body: string;
}

const isList = (name: string): boolean => /(Ids|Uuids)$/.test(name);

/** All ids are acme's own but the one of the cell. */
async function ask({ operation, where, field }: Cell, id: string): Promise<Answered> {
  const { acme } = api;
  let url = operation.route;
  for (const name of Object.keys(operation.params?.shape ?? {})) {
    const value = where === 'path' && name === field ? id : await kindOf('path', name)!.make(acme);
    url = url.replace(`:${name}`, encodeURIComponent(value));
  }
  const query = new URLSearchParams(where === 'query' ? { [field]: id } : {});
  for (const name of Object.keys(operation.query?.shape ?? {})) {
    if (name === 'kind') query.set('kind', 'all');
  }
  const payload: Record<string, unknown> = {};
  for (const name of Object.keys(propertiesOf(operation))) {
    if (isTime(operation, 'body', name)) continue;
    if (where === 'body' && name === field) payload[name] = isList(name) ? [id] : id;
    else if (name in SAMPLES) payload[name] = SAMPLES[`${operation.id}:${name}`] ?? SAMPLES[name];
    else if (name in KINDS && !OWN_WORDS.has(`body:${name}`)) {
      const own = await KINDS[name]!.make(acme);
      payload[name] = isList(name) ? [own] : own;
    }
  }
  const csvType = operation.bodyTypes?.find((type) => type.includes('csv'));
  const answer = await api.app.inject({
    method: operation.method.toUpperCase() as 'GET',
    url: query.size === 0 ? url : `${url}?${query}`,
    headers: {
      authorization: `Bearer ${acme.key}`,
      'x-request-id': 'matrix',
      ...(csvType === undefined ? {} : { 'content-type': csvType }),
    },
    ...(operation.body === null || csvType !== undefined ? {} : { payload }),
    ...(csvType === undefined ? {} : { payload: CSV }),
  });
  return {
    status: answer.statusCode,
    code: answer.headers['x-error-code'] ?? null,
    body: answer.body.replaceAll(id, '<id>').replaceAll(encodeURIComponent(id), '<id>'),
  };
}

/** A digest of all rows that name the workspace, whatever tables there are. */
async function rowsOf(tenant: Tenant): Promise<string> {
  const tables = await api.database.query<{ name: string }>(
    `SELECT c.table_name AS name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
      WHERE c.table_schema = 'public' AND c.column_name = 'workspace_id' AND t.table_type = 'BASE TABLE' ORDER BY 1`,
  );
  expect(tables.length).toBeGreaterThan(5);
  const digest = createHash('sha256');
  for (const { name } of tables) {
    const [row] = await api.database.query<{ text: string | null }>(
      `SELECT string_agg(line, E'\\n' ORDER BY line) AS text
         FROM (SELECT (to_jsonb(t) - 'last_used_at')::text AS line FROM ${name} t WHERE workspace_id = $1) AS rows`,
      [tenant.workspaceId],
    );
    digest.update(`${name} ${row?.text}\n`);
  }
  return digest.digest('hex');
}

describe('an id of another workspace', () => {
  it('is in every operation of a kind that this test knows', () => {
    const unknown = cells().filter(({ kind }) => kind === null);
    const named = unknown.map(
      ({ operation, where, field }) => `${operation.method} ${operation.route}: ${field} (${where})`,
    );
    expect(named, 'teach KINDS how to make a thing with such an id').toEqual([]);
    expect(cells().length).toBeGreaterThan(15);
  });

  const named = cells().map((cell): [string, Cell] => [
    `${cell.operation.method} ${cell.operation.route} with ${cell.field} in the ${cell.where}`,
    cell,
  ]);
  it.each(named)('%s: as one that nobody has, and nothing changes', async (_name, cell) => {
    const { kind } = cell;
    if (kind === null) return;
    const foreignId = await kind.make(api.other);
    const before = await rowsOf(api.other);
    const [foreign, unknown] = [await ask(cell, foreignId), await ask(cell, kind.unknown())];
    expect(foreign).toEqual(unknown);
    expect(await rowsOf(api.other)).toBe(before);
    if (cell.where !== 'query' && !isList(cell.field)) expect([400, 401, 404]).toContain(foreign.status);
    // The same request with one's own id gets further, so it was the id that was looked at.
    if (!kind.isEmpty) {
      const own = await ask(cell, await kind.make(api.acme));
      expect(own).not.toEqual(foreign);
      expect(own.code, own.body).not.toBe(foreign.code ?? 'none');
    }
  });
});

async function agent(tenant: Tenant): Promise<string> {
  const definition = { kind: 'tone', name: 'Spare', direction: 'any', toneHz: 440 };
  return (await importAgent(api.database, { slug: tenant.slug, definition })).id;
}

async function line(tenant: Tenant): Promise<string> {
  const wanted = { slug: tenant.slug, number: number.unknown(), carrier: 'plivo' };
  return (await addLine(api.database, SEALER, wanted)).id;
}

async function clip(tenant: Tenant): Promise<string> {
  const file = wavOf(Int16Array.from({ length: 4_000 }, (_, i) => 9_000 * Math.sin(i / 5)));
  const named = { workspaceId: tenant.workspaceId, name: `c${uuidv4()}`, text: '', file, by: BY_OPERATOR };
  return (await api.clips.add(api.database, named)).id;
}

async function secret(tenant: Tenant): Promise<string> {
  const name = `S${uuidv4().slice(0, 8)}`;
  await setSecret(api.database, SEALER, { slug: tenant.slug, name, value: 'x' });
  return name;
}

async function connection(tenant: Tenant): Promise<string> {
  const name = `c${uuidv4().slice(0, 8)}`;
  await addConnection(api.database, SEALER, { slug: tenant.slug, name, provider: 'openai_compatible' });
  return name;
}

async function widgetKey(tenant: Tenant): Promise<string> {
  return (await createWidgetKey(api.database, { slug: tenant.slug, name: 'spare', allow: [] })).publicKey;
}

/** A workspace has five live ones at most. */
async function apiKey(tenant: Tenant): Promise<string> {
  await api.database.query(`DELETE FROM api_keys WHERE name = 'spare' AND workspace_id = $1`, [tenant.workspaceId]);
  return (await createApiKey(api.database, { slug: tenant.slug, name: 'spare', scopes: ['calls:read'] })).keyId;
}

async function finishedCall(tenant: Tenant): Promise<string> {
  const callUuid = await api.insertCall(tenant, {
    status: 'completed',
    ended_reason: 'agent_hangup',
    answered_at: '2026-11-21T10:00:00Z',
    ended_at: '2026-11-21T10:00:10Z',
    transcript_status: 'ready',
  });
  await putStored(
    { database: api.database, sealer: SEALER, store: api.recordings.stores.current },
    { callUuid, plain: SOUND },
  );
  const turn = {
    turnId: 't1',
    role: 'user',
    startMs: 0,
    endMs: 5,
    text: 'hello',
    heardText: 'hello',
    interrupted: false,
  };
  await api.database.query('INSERT INTO call_turns VALUES ($1, $2, 1, $3)', [callUuid, 't1', turn]);
  await api.database.query(`INSERT INTO call_events (call_uuid, kind) VALUES ($1, 'status')`, [callUuid]);
  return callUuid;
}

async function delivery(tenant: Tenant): Promise<{ deliveryId: string; callUuid: string }> {
  const callUuid = await finishedCall(tenant);
  await api.database.query(
    `INSERT INTO webhook_endpoints (id, workspace_id, url, secret_sealed) VALUES ($1, $2, 'https://a.example/', 'x') ON CONFLICT DO NOTHING`,
    [uuidv7(), tenant.workspaceId],
  );
  await api.database.query(
    `INSERT INTO webhook_events (id, workspace_id, call_uuid, event, sequence, body) VALUES ($1, $2, $3, 'call.completed', 1, '{}')`,
    [`evt_${callUuid}`, tenant.workspaceId, callUuid],
  );
  const deliveryId = uuidv7();
  await api.database.query(
    `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, state, delivered_at)
     SELECT $1, $2, id, 'delivered', now() FROM webhook_endpoints WHERE workspace_id = $3`,
    [deliveryId, `evt_${callUuid}`, tenant.workspaceId],
  );
  return { deliveryId, callUuid };
}

async function heldCall(tenant: Tenant): Promise<string> {
  const { callUuid } = await delivery(tenant);
  await api.database.query(
    `INSERT INTO purge_receipts (id, workspace_id, call_uuid, kinds, cause, actor, removed, at)
     VALUES ($1, $2, $3, '{events}', 'erase', 'key:x', '{}', now())`,
    [uuidv7(), tenant.workspaceId, callUuid],
  );
  await placeHold(api.database, { ...holding(tenant), callUuid });
  return callUuid;
}

async function hold(tenant: Tenant): Promise<string> {
  return (await placeHold(api.database, { ...holding(tenant), callUuid: await finishedCall(tenant) })).id;
}

const holding = ({ workspaceId, keyId }: Tenant) => ({
  workspaceId,
  reason: 'case 7',
  by: { actor: `key:${keyId}` as const },
  at: new Date(),
});

async function keyedCall(tenant: Tenant): Promise<string> {
  const key = uuidv7();
  await api.insertCall(tenant, { idempotency_key: key });
  return key;
}

async function madeLead(tenant: Tenant, fields: object): Promise<{ id: string }> {
  const answer = await api.app.inject({
    method: 'POST',
    url: '/api/developer/leads',
    headers: { authorization: `Bearer ${tenant.key}` },
    payload: { enterprise: tenant.slug, phone: number.unknown(), agentId: tenant.agentId, ...fields },
  });
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json().lead;
}

async function lead(tenant: Tenant): Promise<string> {
  const { id } = await madeLead(tenant, { name: 'Lead' });
  await api.insertCall(tenant, {
    lead_id: id,
    status: 'failed',
    ended_reason: 'busy',
    ended_at: '2026-11-21T10:00:00Z',
  });
  return id;
}

async function leadImport(tenant: Tenant): Promise<string> {
  const answer = await api.app.inject({
    method: 'POST',
    url: '/api/developer/leads/import',
    headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'text/csv' },
    payload: CSV,
  });
  expect(answer.statusCode, answer.body).toBe(202);
  return answer.headers['location']!.toString().split('/').at(-1)!;
}

async function callExport(tenant: Tenant): Promise<string> {
  await api.database.query('DELETE FROM call_exports WHERE workspace_id = $1', [tenant.workspaceId]);
  const answer = await api.app.inject({
    method: 'POST',
    url: '/api/developer/call-exports',
    headers: { authorization: `Bearer ${tenant.key}` },
    payload: { format: 'csv' },
  });
  expect(answer.statusCode, answer.body).toBe(202);
  // Nothing of it is to change by itself.
  await api.exports.drain();
  return answer.json().export.id;
}

async function externalId(tenant: Tenant): Promise<string> {
  const id = uuidv4();
  await madeLead(tenant, { externalId: id });
  return id;
}

/** On a lead and on the suppression list. */
async function leadNumber(tenant: Tenant): Promise<string> {
  const phone = number.unknown();
  await madeLead(tenant, { phone });
  const answer = await api.app.inject({
    method: 'POST',
    url: '/api/developer/suppressions',
    headers: { authorization: `Bearer ${tenant.key}` },
    payload: { phone },
  });
  expect(answer.statusCode).toBe(201);
  return phone;
}
