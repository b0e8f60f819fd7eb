import type { LightMyRequestResponse } from 'fastify';
import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../../../src/workspaces/api-keys.ts';
import { putStored, toneFile } from '../../support/encrypted-recording.ts';
import { type ApiFixture, createApiFixture, SEALER, type Tenant } from './api-fixture.ts';
import { signedIn } from './console-people.ts';

const SOUND = toneFile(1);

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(async () => {
  await api.close();
});

const get = (path: string, tenant: Tenant = api.acme, headers = {}): Promise<LightMyRequestResponse> =>
  api.app.inject({ url: path, headers: { authorization: `Bearer ${tenant.key}`, ...headers } });

const turn = (number: number, role: string, text: string, heardText = text, interrupted = false): string =>
  JSON.stringify({
    turnId: `t${number}`,
    role,
    startMs: number * 1000,
    endMs: number * 1000 + 500,
    text,
    heardText,
    interrupted,
  });

async function finishedCall(): Promise<{ callUuid: string; objectKey: string }> {
  const callUuid = await api.insertCall(api.acme, {
    status: 'completed',
    ended_reason: 'agent_hangup',
    hangup_by: 'agent',
    fault: 'none',
    created_at: '2026-11-21T10:00:00Z',
    dialed_at: '2026-11-21T10:00:00Z',
    ringing_at: '2026-11-21T10:00:01Z',
    answered_at: '2026-11-21T10:00:03.5Z',
    ended_at: '2026-11-21T10:00:13.72Z',
    metadata: JSON.stringify({ plan: 'gold', 'secret.token': 'metadata-canary' }),
    transcript_status: 'ready',
    latency: JSON.stringify({ answerToFirstWordMs: 240 }),
  });
  const turns = [
    turn(1, 'agent', 'Hello there, this is Paul.', 'Hello there,', true),
    turn(2, 'user', 'yes please'),
    turn(3, 'agent', 'Never played.', ''),
  ];
  for (const [index, json] of turns.entries()) {
    await api.database.query('INSERT INTO call_turns VALUES ($1, $2, $3, $4)', [
      callUuid,
      `t${index + 1}`,
      index,
      json,
    ]);
  }
  await api.database.query(
    `INSERT INTO call_events (call_uuid, kind, data) VALUES ($1, 'status', '{"status":"dialing"}')`,
    [callUuid],
  );
  const into = { database: api.database, sealer: SEALER, store: api.recordings.stores.current };
  const { objectKey } = await putStored(into, { callUuid, plain: SOUND });
  return { callUuid, objectKey };
}

describe('the call log entry', () => {
  it('of a finished call has what the contract lists, heard words only, and no secret metadata', async () => {
    const { callUuid, objectKey } = await finishedCall();
    const answer = await get(`/api/developer/calls/${callUuid.toUpperCase()}`);
    expect(answer.statusCode).toBe(200);
    expect(answer.body).not.toContain('canary');
    for (const place of [api.dataDir, objectKey]) expect(answer.body).not.toContain(place);
    expect(answer.json()).toMatchObject({
      callUuid,
      enterprise: 'acme',
      agentVersion: 1,
      channel: 'phone',
      direction: 'outbound',
      to: '+14155550123',
      from: api.acme.lineId,
      fromNumber: '+14155550100',
      metadata: { plan: 'gold' },
      status: 'completed',
      endedReason: 'agent_hangup',
      ringSeconds: 2.5,
      durationSeconds: 10.2,
      answeredAt: '2026-11-21T10:00:03.500Z',
      transcript: 'Agent: Hello there,\nCustomer: yes please',
      interruptions: { byUser: 1 },
      latency: { answerToFirstWordMs: 240 },
      webhooks: { delivered: 0, pending: 0 },
      recording: {
        status: 'ready',
        url: expect.stringContaining(
          `http://127.0.0.1:8080/api/developer/recordings/${callUuid}?variant=stereo&format=ogg&expires=`,
        ),
        urlExpiresAt: new Date(Math.ceil((api.clock.epochMs() + 86_400_000) / 1000) * 1000).toISOString(),
        format: 'ogg_opus',
        channels: 2,
        sampleRate: 8000,
        durationSeconds: 1,
      },
    });
    expect(answer.json().turns).toHaveLength(3);
  });

  it('tells a person at the console addresses that live a quarter of an hour, alone and in the list', async () => {
    const { callUuid } = await finishedCall();
    const supervisor = await signedIn(api, 'supervisor');
    const alone = await supervisor.ask('GET', `/w/acme/calls/${callUuid}`);
    const list = await supervisor.ask('GET', '/w/acme/calls');
    const listed = list.json().data.find((call: { callUuid: string }) => call.callUuid === callUuid);
    const expiresAt = new Date(Math.ceil((api.clock.epochMs() + 900_000) / 1000) * 1000).toISOString();
    for (const { recording } of [alone.json(), listed]) {
      expect([recording.urlExpiresAt, recording.parts[0].urlExpiresAt]).toEqual([expiresAt, expiresAt]);
    }
  });

  it('of a call that has just begun has every key of the contract, null or empty', async () => {
    const callUuid = await api.insertCall(api.acme);
    const body = (await get(`/api/developer/calls/${callUuid}`)).json();
    const keys =
      'callUuid enterprise agentId agentVersion leadId campaignId channel direction to from fromNumber name metadata status endedReason hangupBy fault sipCode answeredBy answeredByConfidence createdAt dialedAt ringingAt answeredAt endedAt ringSeconds durationSeconds recording transcriptStatus transcript turns analysisStatus summary intent intentConfidence sentiment successful data latency quality interruptions tools cost warnings recovery compliance webhooks';
    for (const key of keys.split(' ')) expect(body, key).toHaveProperty(key);
    expect(body).toMatchObject({
      status: 'dialing',
      transcript: null,
      turns: [],
      data: {},
      recording: { status: 'none', url: null },
    });
  });

  it('shows each warning with its code, key and count, and of a failed call the fault, whose it was and whether to try again', async () => {
    const callUuid = await api.insertCall(api.acme, {
      status: 'failed',
      ended_reason: 'carrier_timeout',
      fault: 'carrier',
      ended_at: new Date(),
      warnings: JSON.stringify(['stt_slow', { code: 'placeholder_unresolved', key: 'plan', count: 3 }]),
    });
    expect((await get(`/api/developer/calls/${callUuid}`)).json()).toMatchObject({
      error: {
        code: 'carrier_timeout',
        message: 'The carrier neither rang nor answered in time.',
        provider: 'plivo',
        retryable: true,
      },
      warnings: [
        { code: 'stt_slow', key: null, count: 1 },
        { code: 'placeholder_unresolved', key: 'plan', count: 3 },
      ],
    });
    const other = (await get(`/api/developer/calls/${await api.insertCall(api.acme)}`)).json();
    expect([other.error, other.warnings]).toEqual([null, []]);
  });

  it('counts delivered and pending webhooks', async () => {
    const callUuid = await api.insertCall(api.acme);
    const endpoint = uuidv7();
    await api.database.query(
      `INSERT INTO webhook_endpoints (id, workspace_id, url, secret_sealed) VALUES ($1, $2, 'https://a.example', 'x')`,
      [endpoint, api.acme.workspaceId],
    );
    for (const [sequence, state] of ['delivered', 'pending', 'pending'].entries()) {
      const event = `evt_${callUuid}_${sequence}`;
      await api.database.query(
        `INSERT INTO webhook_events (id, workspace_id, call_uuid, event, sequence, body) VALUES ($1, $2, $3, 'recording.ready', $4, '{}')`,
        [event, api.acme.workspaceId, callUuid, sequence + 1],
      );
      await api.database.query(
        'INSERT INTO webhook_deliveries (id, event_id, endpoint_id, state) VALUES ($1, $2, $3, $4)',
        [uuidv7(), event, endpoint, state],
      );
    }
    const body = (await get(`/api/developer/calls/${callUuid}`)).json();
    expect(body.webhooks).toEqual({ delivered: 1, pending: 2 });
  });
});

describe('every route of a call', () => {
  const paths = ['', '/events', '/recording'];

  it("does not show one workspace's call to another, nor hang it up", async () => {
    const { callUuid } = await finishedCall();
    for (const path of paths) {
      const answer = await get(`/api/developer/calls/${callUuid}${path}`, api.other);
      expect([answer.statusCode, answer.json().code], path).toEqual([404, 'call_not_found']);
    }
    const hangup = await api.app.inject({
      method: 'POST',
      url: `/api/developer/calls/${callUuid}/hangup`,
      headers: { authorization: `Bearer ${api.other.key}` },
    });
    expect([hangup.statusCode, hangup.json().code]).toEqual([404, 'call_not_found']);
    expect(api.hungUp).toEqual([]);
  });

  it('wants a key with its scope, and says in the envelope which', async () => {
    const { callUuid } = await finishedCall();
    const reader = await createApiKey(api.database, { slug: 'acme', name: 'agents', scopes: ['agents:read'] });
    for (const path of paths) {
      const url = `/api/developer/calls/${callUuid}${path}`;
      expect((await api.app.inject({ url })).json()).toMatchObject({ success: false, code: 'unauthorized' });
      const answer = await get(url, { ...api.acme, key: reader.text }, { 'x-request-id': 'r-7' });
      expect([answer.statusCode, answer.json()]).toEqual([
        403,
        {
          success: false,
          message: 'The API key lacks the scope calls:read',
          code: 'insufficient_scope',
          requestId: 'r-7',
          details: [{ field: 'Authorization', issue: 'The key needs calls:read.' }],
        },
      ]);
    }
  });

  it('answers 400 to an id that is no UUID and 404 to one that nobody has', async () => {
    for (const path of paths) {
      const malformed = await get(`/api/developer/calls/call-1${path}`);
      expect([malformed.statusCode, malformed.json()]).toMatchObject([
        400,
        { code: 'invalid_call_id', details: [{ field: 'callUuid', issue: "'callUuid' must be a UUID." }] },
      ]);
      expect((await get(`/api/developer/calls/${uuidv4()}${path}`)).statusCode).toBe(404);
    }
  });
});

describe('hanging up', () => {
  it('asks the carrier and answers 202 with the status; with or without an empty JSON body', async () => {
    const callUuid = await api.insertCall(api.acme, { status: 'ringing' });
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const answer = await api.app.inject({
        method: 'POST',
        url: `/api/developer/calls/${callUuid}/hangup`,
        headers: { authorization: `Bearer ${api.acme.key}`, ...headers },
      });
      expect([answer.statusCode, answer.json()]).toEqual([202, { success: true, callUuid, status: 'ringing' }]);
    }
    expect(api.hungUp).toEqual([callUuid, callUuid]);
  });
});

describe('the directory', () => {
  it("lists a workspace's own agents and lines, without credentials", async () => {
    const agents = (await get('/api/developer/agents')).json();
    expect(agents.data.map((agent: { id: string }) => agent.id)).toEqual([api.acme.agentId]);
    const numbers = await get('/api/developer/phone-numbers', api.other);
    expect(numbers.json().data).toMatchObject([{ id: api.other.lineId, number: '+14155550101', carrier: 'plivo' }]);
    expect(numbers.body).not.toContain('canary');
  });

  it('publishes every error code once, with its status and message', async () => {
    const { data } = (await get('/api/developer/error-codes')).json();
    const codes = data.map((entry: { code: string }) => entry.code);
    expect(new Set(codes).size).toBe(codes.length);
    expect(data).toContainEqual(
      expect.objectContaining({ code: 'missing_fields', status: 400, message: 'Missing required fields' }),
    );
    expect(data).toContainEqual(expect.objectContaining({ code: 'carrier_auth', status: 502 }));
    expect(data).toContainEqual(expect.objectContaining({ code: 'carrier_throttled', status: 429 }));
  });
});
