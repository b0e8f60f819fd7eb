/** What can be tried and looked into without a call: tools, telephony credentials, the audit, who uses an agent. */
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChainSigner } from '../../../src/audit/chain-signer.ts';
import { linkAudit } from '../../../src/audit/link-chain.ts';
import { recordAudit } from '../../../src/audit/record-audit.ts';
import { orderAgent, orderTool } from '../../support/order-agent.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';
import { signedIn } from './console-people.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());

const NOBODYS = '01990000-0000-7000-8000-000000000000';

const ask = (method: NonNullable<InjectOptions['method']>, url: string, payload?: object, key = api.acme.key) =>
  api.app.inject({
    method,
    url: `/api/developer${url}`,
    headers: { authorization: `Bearer ${key}` },
    ...(payload === undefined ? {} : { payload }),
  });

async function agentWithTool(): Promise<string> {
  const made = await ask('POST', '/agents', { definition: orderAgent() });
  expect(made.statusCode, made.body).toBe(201);
  return made.json().agent.id;
}

describe('tools', () => {
  it('are listed with their figures, and tried with secrets that nobody is shown', async () => {
    const agentId = await agentWithTool();
    await ask('PUT', '/secrets/SHOP_KEY', { value: 'canary-4711' });
    const callUuid = await api.insertCall(api.acme, { agent_id: agentId });
    for (const [at, ms] of [100, 200, 900].entries()) {
      await api.database.query(
        `INSERT INTO tool_calls (call_uuid, tool_call_id, workspace_id, agent_id, name, started_at, outcome, ms)
         VALUES ($1, $2, $3, $4, 'lookup_order', now() - interval '1 h', $5, $6)`,
        [callUuid, `tc_${at}`, api.acme.workspaceId, agentId, at === 2 ? 'failed' : 'ok', ms],
      );
    }
    const [listed] = (await ask('GET', '/tools')).json().data;
    expect(listed).toMatchObject({
      agentId,
      agentName: 'Order desk',
      name: 'lookup_order',
      kind: 'http',
      url: orderTool().url,
      secrets: ['SHOP_KEY'],
      uses: 3,
      failed: 1,
      p50Ms: 200,
      p95Ms: 900,
    });
    expect((await ask('GET', '/tools', undefined, api.other.key)).json().data).toEqual([]);

    api.toolAnswer = {
      kind: 'answered',
      status: 200,
      retryAfter: null,
      body: '{"order":{"day":"Friday"}}',
      responseMs: 12,
    };
    const path = `/agents/${agentId}/tools/lookup_order/test`;
    const tried = await ask('POST', path, { arguments: { order: '42' } });
    expect(tried.statusCode, tried.body).toBe(200);
    expect(tried.json()).toMatchObject({ url: orderTool().url, attempts: 1, answer: { ok: true, status: 200 } });
    expect(tried.json().variables).toMatchObject({ day: 'Friday' });
    expect(tried.body).not.toContain('canary-4711');
    expect(tried.json().headers.authorization).toContain('SHOP_KEY');
    expect(JSON.stringify(api.toolRequests.at(-1))).toContain('canary-4711');

    const sent = api.toolRequests.length;
    const bad = await ask('POST', path, { arguments: { order: 42, x: [] } });
    expect(bad.json()).toMatchObject({ attempts: 0, answer: { ok: false, code: 'bad_arguments' } });
    expect(api.toolRequests).toHaveLength(sent);
    expect((await ask('POST', `/agents/${agentId}/tools/other/test`, {})).json().code).toBe('tool_not_found');
    expect((await ask('POST', path, {}, api.other.key)).json().code).toBe('agent_not_found');
  });
});

describe('the credentials of a line', () => {
  it('are tried at its carrier, and what is wrong comes with its way out', async () => {
    const path = `/phone-numbers/${api.acme.lineId}/test`;
    api.accessCheck = { outcome: 'ok', detail: '', serverEpochMs: api.clock.epochMs() - 90_500 };
    expect((await ask('POST', path)).json()).toMatchObject({
      ok: true,
      fault: null,
      carrier: 'plivo',
      clockAheadMs: 90_000,
    });
    expect(api.accessChecks.at(-1)).toMatchObject({ authToken: 'token-canary' });
    api.accessCheck = { outcome: 'refused', detail: '401', serverEpochMs: null };
    const refused = await ask('POST', path);
    expect(refused.json()).toMatchObject({ ok: false, fault: 'refused', clockAheadMs: null });
    expect(refused.json().problem).toContain('set them again');
    expect(refused.body).not.toContain('token-canary');
    expect((await ask('POST', path, undefined, api.other.key)).json().code).toBe('line_not_found');
    const bare = await ask('POST', '/phone-numbers', { number: '+14155550177', carrier: 'plivo' });
    const empty = await ask('POST', `/phone-numbers/${bare.json().phoneNumber.id}/test`);
    expect(empty.json()).toMatchObject({ ok: false, fault: 'none_stored' });
  });
});

describe('the audit', () => {
  it('says who tried what: requests left the house', async () => {
    const rows = await api.database.query<{ action: string }>(
      `SELECT DISTINCT action FROM audit_log WHERE action LIKE '%.tested' AND workspace_id = $1 ORDER BY action`,
      [api.acme.workspaceId],
    );
    expect(rows.map(({ action }) => action)).toEqual(['line.tested', 'tool.tested']);
  });

  it('is verified whole: what somebody changed in the database is named', async () => {
    const signer = createChainSigner('ab'.repeat(32));
    await linkAudit(api.database, signer, api.acme.workspaceId);
    const whole = (await ask('GET', '/audit/verification')).json();
    expect(whole).toMatchObject({ ok: true, faults: [], moreFaults: false, end: { position: whole.rows } });
    expect(whole.seals).toBeGreaterThan(0);
    await api.database.transaction(async (tx) => {
      await tx.query('SET LOCAL session_replication_role = replica');
      await tx.query(`UPDATE audit_log SET after = '{}' WHERE chain = $1 AND position = 3`, [api.acme.workspaceId]);
    });
    expect((await ask('GET', '/audit/verification')).json()).toMatchObject({
      ok: false,
      faults: [{ position: 3, kind: 'changed' }],
    });
  });
});

describe('an agent', () => {
  it('says who uses it', async () => {
    const { acme, database } = api;
    const { calls: before } = (await ask('GET', `/agents/${acme.agentId}/uses`)).json();
    await api.insertCall(acme, { status: 'in_progress', created_at: new Date(api.clock.epochMs()) });
    await ask('POST', '/leads', { enterprise: 'acme', phone: '+14155550123', agentId: acme.agentId });
    await database.query(
      `INSERT INTO calling_policies (workspace_id, default_agent_id) VALUES ($1, $2)
       ON CONFLICT (workspace_id) DO UPDATE SET default_agent_id = $2`,
      [acme.workspaceId, acme.agentId],
    );
    const uses = await ask('GET', `/agents/${acme.agentId}/uses`);
    expect(uses.json()).toMatchObject({ liveCalls: 1, calls: before + 1, leads: 1, isDefault: true, websites: [] });
    expect(uses.json().lastCallAt).not.toBeNull();
    expect((await ask('GET', `/agents/${NOBODYS}/uses`)).json().code).toBe('agent_not_found');
  });
});

describe('a call', () => {
  it('says which request made it, to auditors with the address', async () => {
    const { acme, database } = api;
    const callUuid = await api.insertCall(acme, {
      request_id: 'req-7',
      idempotency_key: 'key-7',
      idempotency_path: 'POST /api/outbound-call',
      metadata: JSON.stringify({ plan: 'gold', 'secret.pin': '1' }),
    });
    await recordAudit(database, {
      workspaceId: acme.workspaceId,
      by: { actor: `key:${acme.keyId}`, ip: '192.0.2.9', requestId: 'req-7' },
      action: 'call.placed',
      target: `call:${callUuid}`,
    });
    expect((await ask('GET', `/calls/${callUuid}/request`)).json()).toMatchObject({
      requestId: 'req-7',
      operation: 'POST /api/outbound-call',
      idempotencyKey: 'key-7',
      actor: `key:${acme.keyId}`,
      actorName: 'test',
      ip: '192.0.2.9',
      body: { to: '+14155550123', agentId: acme.agentId, enterprise: 'acme', metadata: { plan: 'gold' } },
    });
    const analyst = await signedIn(api, 'analyst');
    const seen = await analyst.ask('GET', `/w/acme/calls/${callUuid}/request`);
    expect(seen.json()).toMatchObject({ ip: null, actorName: 'test' });
    expect(seen.body).not.toContain('+14155550123');
    expect((await ask('GET', `/calls/${NOBODYS}/request`)).json().code).toBe('call_not_found');
    expect((await ask('GET', `/calls/${callUuid}/request`, undefined, api.other.key)).json().code).toBe(
      'call_not_found',
    );
  });
});

describe('the operator', () => {
  it('sees what the service runs as, and examines it, once for all who ask; nobody else does', async () => {
    const operator = await signedIn(api, null, { isOperator: true });
    const state = await operator.ask('GET', '/operator/service');
    expect(state.json()).toMatchObject({
      admission: 'open',
      media: [{ mediaId: 'media-0', calls: 12 }],
      liveCalls: 12,
    });
    api.examined = [{ name: 'disk', level: 'warn', detail: '4 GiB free', wayOut: 'Make room.' }];
    const found = await operator.ask('POST', '/operator/service/examination');
    expect(found.json()).toMatchObject({ ok: true, checks: [{ name: 'disk', level: 'warn', wayOut: 'Make room.' }] });
    const owner = await signedIn(api, 'owner');
    expect((await owner.ask('GET', '/operator/service')).json().code).toBe('operator_only');
    expect((await ask('GET', '/service')).json().code).toBe('operator_only');
  });
});
