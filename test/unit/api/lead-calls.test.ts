import type { LightMyRequestResponse } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { importAgent } from '../../../src/agents/stored-agents.ts';
import { addLine } from '../../../src/workspaces/lines.ts';
import { type ApiFixture, createApiFixture, SEALER, type Tenant } from './api-fixture.ts';

let api: ApiFixture;
let lead: Loose;
beforeAll(async () => {
  api = await createApiFixture();
  lead = await createLead({
    name: 'Asha',
    notes: 'prefers mornings',
    source: 'web',
    metadata: { plan: 'gold', tier: 1 },
  });
});
afterAll(() => api.close());
afterEach(() => {
  api.placements.length = 0;
  api.place = async () => ({ kind: 'placed', callUuid: uuidv7(), status: 'dialing' });
  api.admission = 'open';
});

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at by their paths
type Loose = any;

async function createLead(change: object, tenant: Tenant = api.acme): Promise<Loose> {
  const answer = await api.app.inject({
    method: 'POST',
    url: '/api/developer/leads',
    headers: { authorization: `Bearer ${tenant.key}` },
    payload: { enterprise: tenant.slug, phone: '+14155550123', ...change },
  });
  return answer.json().lead;
}

function call(
  id: string,
  payload?: unknown,
  options: { tenant?: Tenant; headers?: Record<string, string> } = {},
): Promise<LightMyRequestResponse> {
  return api.app.inject({
    method: 'POST',
    url: `/api/developer/leads/${id}/call`,
    headers: { authorization: `Bearer ${(options.tenant ?? api.acme).key}`, ...options.headers },
    ...(payload === undefined ? {} : { payload: payload as object }),
  });
}

function expectShort(answer: LightMyRequestResponse, status: number, message: string, code: string): void {
  expect([answer.statusCode, answer.body, answer.headers['x-error-code']]).toEqual([
    status,
    JSON.stringify({ success: false, message }),
    code,
  ]);
}

describe('POST /api/developer/leads/{leadId}/call', () => {
  it('needs no body: agent and line are the only ones there are, name and placeholders the lead’s', async () => {
    const callUuid = uuidv7();
    api.place = async () => ({ kind: 'placed', callUuid, status: 'ringing' });
    const answer = await call(lead.id);
    expect([answer.statusCode, answer.body]).toEqual([
      200,
      JSON.stringify({ success: true, callUuid, leadId: lead.id }),
    ]);
    expect(answer.headers).toMatchObject({ 'x-call-uuid': callUuid, 'x-call-status': 'ringing' });
    expect(api.placements[0]).toMatchObject({
      to: '+14155550123',
      name: 'Asha',
      metadata: { plan: 'gold', tier: 1 },
      lead: { id: lead.id, values: { notes: 'prefers mornings', source: 'web' } },
      agent: { id: api.acme.agentId },
      line: { id: api.acme.lineId },
      guardDuplicates: true,
      lateAcceptance: 'cancel',
    });
    for (const payload of [{}, { from: null, agentId: '', name: ' ', metadata: null }]) {
      expect((await call(lead.id, payload)).statusCode).toBe(200);
    }
  });

  it('takes line, agent and name of the body, and its metadata over the lead’s', async () => {
    const other = await importAgent(api.database, {
      slug: 'acme',
      definition: { kind: 'tone', name: 'Two', direction: 'any', toneHz: 440 },
    });
    const body = { from: api.acme.lineId.toUpperCase(), agentId: other.id, name: 'Bo', metadata: { tier: 2, x: 'y' } };
    expect((await call(lead.id, body)).statusCode).toBe(200);
    expect(api.placements[0]).toMatchObject({
      name: 'Bo',
      metadata: { plan: 'gold', tier: 2, x: 'y' },
      agent: { id: other.id },
    });
    // Two agents now, and nothing says which.
    expectShort(await call(lead.id), 400, 'Missing required fields', 'missing_fields');
    const own = await createLead({ agentId: other.id });
    expect((await call(own.id)).statusCode).toBe(200);
    expect(api.placements[1]).toMatchObject({ agent: { id: other.id }, name: 'Customer', lead: { values: {} } });
    await api.database.query('INSERT INTO calling_policies (workspace_id, default_agent_id) VALUES ($1, $2)', [
      api.acme.workspaceId,
      api.acme.agentId,
    ]);
    expect((await call(lead.id)).statusCode).toBe(200);
    expect(api.placements[2]).toMatchObject({ agent: { id: api.acme.agentId } });
  });

  it('prefers the agent’s line to the workspace’s, and asks for `from` when there are several and no default', async () => {
    const second = await addLine(api.database, SEALER, {
      slug: 'acme',
      number: '+14155550109',
      carrier: 'plivo',
      credentials: { authId: 'MA0', authToken: 'x' },
    });
    expectShort(await call(lead.id), 400, 'Missing required fields', 'missing_fields');
    await api.database.query('UPDATE calling_policies SET default_line_id = $1', [second.id]);
    await call(lead.id);
    await api.database.query('UPDATE agents SET line_id = $1 WHERE id = $2', [api.acme.lineId, api.acme.agentId]);
    await call(lead.id);
    expect(api.placements.map(({ line }) => line.id)).toEqual([second.id, api.acme.lineId]);
  });

  it('refuses in one order: form, workspace, lead, line and agent', async () => {
    const body = { from: 'x', agentId: 'x', name: 5, metadata: 5, enterprise: 'other' };
    expectShort(await call(lead.id, body), 400, "Invalid 'from' phone ID format", 'invalid_from');
    expectShort(await call(lead.id, { ...body, from: null }), 400, "Invalid 'agentId' format", 'invalid_agentId');
    expectShort(await call(lead.id, { name: 5, metadata: 5 }), 400, "Invalid 'name' format", 'invalid_name');
    expectShort(await call(lead.id, { metadata: 5 }), 400, "Invalid 'metadata' format", 'invalid_metadata');
    expectShort(
      await call(uuidv7(), { enterprise: 'other' }),
      401,
      'Authentication failed (Unauthorized)',
      'unauthorized',
    );
    expectShort(await call(uuidv7()), 404, 'Lead not found', 'lead_not_found');
    expectShort(await call(lead.id, undefined, { tenant: api.other }), 404, 'Lead not found', 'lead_not_found');
    expectShort(await call('7'), 400, 'Invalid lead ID format', 'invalid_lead_id');
    expectShort(await call(lead.id, []), 400, 'Missing required fields', 'missing_fields');
    const broken = { headers: { 'content-type': 'application/json' } };
    expectShort(await call(lead.id, '{', broken), 400, 'Invalid JSON body', 'invalid_json');
    const foreign = { from: api.other.lineId };
    expectShort(await call(lead.id, foreign), 400, "Invalid 'from' phone ID format", 'invalid_from');
    expectShort(await call(lead.id, { agentId: api.other.agentId }), 404, 'Agent not found', 'agent_not_found');
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, 'v']));
    expectShort(await call(lead.id, { metadata: many }), 400, "Invalid 'metadata' format", 'invalid_metadata');
    expect(api.placements).toEqual([]);
  });

  it.each([
    ['blocked_suppressed', 403, 'Call blocked by compliance policy'],
    ['blocked_time_window', 403, 'Call blocked by compliance policy'],
    ['do_not_contact', 403, 'Call blocked by compliance policy'],
    ['lead_active_call', 409, 'Lead already has an active call'],
    ['duplicate_call', 409, 'Duplicate call in progress'],
    ['lead_not_found', 404, 'Lead not found'],
  ] as const)('passes on what placement refuses: %s', async (code, status, message) => {
    api.place = async () => ({ kind: 'blocked', code });
    expectShort(await call(lead.id), status, message, code);
  });

  it('answers 429 of a limit and 503 of a drain as the outbound call does', async () => {
    api.place = async () => ({ kind: 'limited', code: 'cps_limit', retryAfterSeconds: 1 });
    const limited = await call(lead.id);
    expectShort(limited, 429, 'Carrier rate limit exceeded', 'cps_limit');
    expect(limited.headers['retry-after']).toBe('1');
    api.admission = 'draining';
    expectShort(await call(lead.id), 503, 'Service temporarily unavailable', 'draining');
  });

  it('calls once for one Idempotency-Key, whose scope is this lead', async () => {
    const second = await createLead({ externalId: 'two' });
    const headers = { 'idempotency-key': uuidv7() };
    const first = await call(lead.id, undefined, { headers });
    const again = await call(lead.id, undefined, { headers });
    expect([again.body, again.headers['idempotent-replayed']]).toEqual([first.body, 'true']);
    const elsewhere = await call(second.id, undefined, { headers });
    expect([elsewhere.statusCode, elsewhere.json().leadId]).toEqual([200, second.id]);
    expect(api.placements.map(({ guardDuplicates, lateAcceptance }) => [guardDuplicates, lateAcceptance])).toEqual([
      [false, 'continue'],
      [false, 'continue'],
    ]);
    expectShort(
      await call(lead.id, { name: 'B' }, { headers }),
      422,
      'Idempotency-Key reused with a different body',
      'idempotency_key_reused',
    );
  });

  it('shows the call with Prefer: return=representation', async () => {
    api.place = async () => ({
      kind: 'placed',
      callUuid: await api.insertCall(api.acme, { lead_id: lead.id }),
      status: 'dialing',
    });
    const answer = await call(lead.id, undefined, { headers: { prefer: 'return=representation' } });
    expect(answer.json()).toMatchObject({
      success: true,
      leadId: lead.id,
      call: { leadId: lead.id },
      limits: { lineCps: 1 },
    });
  });

  it('says that credentials are missing when no line could be meant', async () => {
    await api.database.query('UPDATE phone_lines SET credentials_sealed = NULL WHERE workspace_id = $1', [
      api.other.workspaceId,
    ]);
    const theirs = await createLead({}, api.other);
    const answer = await call(theirs.id, undefined, { tenant: api.other });
    expect([answer.statusCode, answer.headers['x-error-code']]).toEqual([400, 'credentials_missing']);
  });
});
