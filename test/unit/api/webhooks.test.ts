import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { recordCallEvent } from '../../../bench/harness/record-call-event.ts';
import { readCall } from '../../../src/calls/call-row.ts';
import type { ErrorCode } from '../../../src/errors/error-codes.ts';
import { disableEndpoint, setEndpoint } from '../../../src/webhooks/endpoint.ts';
import type { CallEventName } from '../../../src/webhooks/events.ts';
import { createApiKey } from '../../../src/workspaces/api-keys.ts';
import { type ApiFixture, createApiFixture, SEALER, type Tenant } from './api-fixture.ts';

const PATH = '/api/developer/webhooks';
const ENDED = { status: 'completed', ended_reason: 'user_hangup', ended_at: new Date() };
let api: ApiFixture;

beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());
beforeEach(async () => {
  for (const table of ['webhook_deliveries', 'webhook_events', 'webhook_endpoints']) {
    await api.database.query(`DELETE FROM ${table}`);
  }
  for (const tenant of [api.acme, api.other]) {
    await setEndpoint(api.database, SEALER, tenant.workspaceId, 'https://example.com/hooks');
  }
  api.dispatched.length = 0;
});

async function record(
  tenant: Tenant,
  event: CallEventName = 'call.completed',
): Promise<{ callUuid: string; deliveryId: string }> {
  const callUuid = await api.insertCall(tenant, ENDED);
  const call = (await readCall(api.database, tenant.workspaceId, callUuid))!;
  const ids = await api.database.transaction((tx) => recordCallEvent(tx, call, event, {}, api.clock));
  return { callUuid, deliveryId: ids[0]! };
}

const ask = (
  method: 'GET' | 'POST',
  path: string,
  payload?: object,
  key = api.acme.key,
): Promise<LightMyRequestResponse> =>
  api.app.inject({
    method,
    url: `${PATH}${path}`,
    headers: { authorization: `Bearer ${key}` },
    ...(payload === undefined ? {} : { payload }),
  });

const setState = (deliveryId: string, state: string, attempts = 1): Promise<unknown[]> =>
  api.database.query('UPDATE webhook_deliveries SET state = $2, attempts = $3, dead_at = now() WHERE id = $1', [
    deliveryId,
    state,
    attempts,
  ]);

function expectRefusal(answer: LightMyRequestResponse, status: number, code: ErrorCode): void {
  expect([answer.statusCode, answer.headers['x-error-code']]).toEqual([status, code]);
}

describe('GET /api/developer/webhooks/deliveries', () => {
  it('answers 5 deliveries newest first in pages of 2, each once, and never those of another workspace', async () => {
    const made: string[] = [];
    for (let index = 0; index < 5; index++) made.push((await record(api.acme)).deliveryId);
    await record(api.other);
    const seen: string[] = [];
    let cursor: string | null = '';
    type Page = { data: { id: string }[]; nextCursor: string | null };
    while (cursor !== null) {
      const page: Page = (await ask('GET', `/deliveries?limit=2${cursor && `&cursor=${cursor}`}`)).json();
      seen.push(...page.data.map((one) => one.id));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(made.toReversed());
  });

  it('filters by call, event and each of the four states', async () => {
    const [pending, failed, delivered, dead] = [
      await record(api.acme),
      await record(api.acme, 'recording.ready'),
      await record(api.acme),
      await record(api.acme),
    ];
    await setState(failed.deliveryId, 'pending', 3);
    await setState(delivered.deliveryId, 'delivered');
    await setState(dead.deliveryId, 'dead', 12);
    const idsOf = async (query: string): Promise<string[]> =>
      (await ask('GET', `/deliveries?${query}`)).json().data.map((one: { id: string }) => one.id);
    expect(await idsOf('state=pending')).toEqual([pending.deliveryId]);
    expect(await idsOf('state=failed')).toEqual([failed.deliveryId]);
    expect(await idsOf('state=delivered')).toEqual([delivered.deliveryId]);
    expect(await idsOf('state=dead')).toEqual([dead.deliveryId]);
    expect(await idsOf('event=recording.ready')).toEqual([failed.deliveryId]);
    expect(await idsOf(`callUuid=${pending.callUuid.toUpperCase()}`)).toEqual([pending.deliveryId]);
    expect(await idsOf(`callUuid=${pending.callUuid}&state=dead`)).toEqual([]);
  });

  it('refuses a cursor that was changed, belongs to other filters or to another workspace', async () => {
    for (let index = 0; index < 2; index++) {
      await record(api.acme);
      await record(api.other);
    }
    const { nextCursor } = (await ask('GET', '/deliveries?limit=1')).json();
    const changed = `${nextCursor.slice(0, 5)}${nextCursor[5] === 'A' ? 'B' : 'A'}${nextCursor.slice(6)}`;
    expectRefusal(await ask('GET', `/deliveries?cursor=${changed}`), 400, 'invalid_cursor');
    expectRefusal(await ask('GET', `/deliveries?state=dead&cursor=${nextCursor}`), 400, 'invalid_cursor');
    const foreign = await ask('GET', `/deliveries?cursor=${nextCursor}`, undefined, api.other.key);
    expectRefusal(foreign, 400, 'invalid_cursor');
  });

  it.each(['state=lost', 'event=call.exploded', 'limit=0', 'limit=201', 'limit=x'])('refuses ?%s', async (query) => {
    expectRefusal(await ask('GET', `/deliveries?${query}`), 400, 'invalid_request');
  });

  it('needs calls:read to look and webhooks:write to send', async () => {
    const make = async (scope: string): Promise<string> =>
      (await createApiKey(api.database, { slug: 'acme', name: scope, scopes: [scope] })).text;
    const [reader, writer] = [await make('calls:read'), await make('webhooks:write')];
    expectRefusal(await ask('GET', '/deliveries', undefined, writer), 403, 'insufficient_scope');
    expectRefusal(await ask('GET', '', undefined, writer), 403, 'insufficient_scope');
    for (const path of ['/test', '/replay', '/enable', `/deliveries/${api.acme.agentId}/redeliver`]) {
      expectRefusal(await ask('POST', path, undefined, reader), 403, 'insufficient_scope');
    }
    expect((await ask('POST', '/test', undefined, writer)).statusCode).toBe(202);
  });
});

describe('sending again', () => {
  it('redelivers one: due now, a whole schedule before it, its attempts still counted, and dispatched', async () => {
    const { deliveryId } = await record(api.acme);
    await setState(deliveryId, 'dead', 12);
    const answer = await ask('POST', `/deliveries/${deliveryId}/redeliver`);
    expect(answer.statusCode).toBe(202);
    expect(answer.json().delivery).toMatchObject({ id: deliveryId, state: 'pending', attempts: 12 });
    expect(api.dispatched).toEqual([deliveryId]);
    const rows = await api.database.query(
      'SELECT attempts, earlier_attempts AS earlier, dead_at AS dead FROM webhook_deliveries WHERE id = $1',
      [deliveryId],
    );
    expect(rows).toEqual([{ attempts: 0, earlier: 12, dead: null }]);
  });

  it("knows nothing of another workspace's delivery", async () => {
    const { deliveryId } = await record(api.other);
    await setState(deliveryId, 'dead', 12);
    expectRefusal(await ask('GET', `/deliveries/${deliveryId}`), 404, 'delivery_not_found');
    expectRefusal(await ask('POST', `/deliveries/${deliveryId}/redeliver`), 404, 'delivery_not_found');
    const [row] = await api.database.query<{ state: string }>('SELECT state FROM webhook_deliveries');
    expect(row?.state).toBe('dead');
    expectRefusal(await ask('GET', '/deliveries/nonsense'), 400, 'invalid_request');
  });

  it('replays by time, event, call and state, and only what the filter names', async () => {
    const early = await record(api.acme);
    api.clock.advanceMs(60_000);
    const from = new Date(api.clock.epochMs()).toISOString();
    const [dead, recording, delivered] = [
      await record(api.acme),
      await record(api.acme, 'recording.ready'),
      await record(api.acme),
    ];
    const foreign = await record(api.other);
    for (const one of [early, recording, delivered, foreign]) await setState(one.deliveryId, 'delivered');
    await setState(dead.deliveryId, 'dead', 12);
    const replay = async (body: object): Promise<string[]> => {
      api.dispatched.length = 0;
      const answer = await ask('POST', '/replay', body);
      expect(answer.json()).toEqual({ success: true, count: api.dispatched.length, nextFrom: null });
      return [...api.dispatched];
    };
    expect(await replay({ from, states: ['dead'] })).toEqual([dead.deliveryId]);
    expect(await replay({ from, events: ['recording.ready'] })).toEqual([recording.deliveryId]);
    expect(await replay({ callUuids: [early.callUuid, foreign.callUuid] })).toEqual([early.deliveryId]);
    expect((await replay({ from })).length).toBe(3);
    expect(await replay({ from: '2020-01-01T00:00:00+02:00', to: from })).toEqual([early.deliveryId]);
  });

  it('replays events from before the workspace had a URL', async () => {
    await api.database.query('DELETE FROM webhook_endpoints WHERE workspace_id = $1', [api.acme.workspaceId]);
    const { callUuid, deliveryId } = await record(api.acme);
    expect(deliveryId).toBeUndefined();
    await setEndpoint(api.database, SEALER, api.acme.workspaceId, 'https://example.com/late');
    expect((await ask('POST', '/replay', { callUuids: [callUuid] })).json().count).toBe(1);
    const { data } = (await ask('GET', `/deliveries?callUuid=${callUuid}`)).json();
    expect(data).toMatchObject([{ event: 'call.completed', state: 'pending', attempts: 0 }]);
  });

  it.each([
    [{}],
    [{ to: '2026-11-21T00:00:00Z' }],
    [{ from: 'yesterday' }],
    [{ from: '2026-11-21' }],
    [{ callUuids: ['x'] }],
    [{ callUuids: [] }],
    [{ from: '2026-11-21T00:00:00Z', events: ['call.exploded'] }],
    [{ from: '2026-11-21T00:00:00Z', everything: true }],
  ])('refuses to replay %j', async (body) => {
    expectRefusal(await ask('POST', '/replay', body), 400, 'invalid_request');
    expect(api.dispatched).toEqual([]);
  });

  it('sends a test that is subscribed by nobody, and shows it', async () => {
    const answer = await ask('POST', '/test');
    expect(answer.statusCode).toBe(202);
    const { delivery } = answer.json();
    expect(delivery).toMatchObject({ event: 'webhook.test', callUuid: null, state: 'pending', attemptLog: [] });
    expect(api.dispatched).toEqual([delivery.id]);
    const [event] = await api.database.query<{ body: string }>('SELECT body FROM webhook_events');
    expect(JSON.parse(event!.body)).toMatchObject({ event: 'webhook.test', callUuid: null, enterprise: 'acme' });
  });
});

describe('a URL that is off, or not there', () => {
  it('refuses to send, says so, and is switched on with what waited due', async () => {
    const { deliveryId } = await record(api.acme);
    await setState(deliveryId, 'pending', 3);
    await disableEndpoint(api.database, api.acme.workspaceId);
    expect((await ask('GET', '')).json()).toMatchObject({
      enabled: false,
      disabledReason: 'operator',
      waiting: 1,
      notice: expect.stringContaining('switching it on sends what waits'),
    });
    for (const [path, body] of [
      ['/test', undefined],
      [`/deliveries/${deliveryId}/redeliver`, undefined],
      ['/replay', { from: '2026-01-01T00:00:00Z' }],
    ] as const) {
      expectRefusal(await ask('POST', path, body), 409, 'webhook_disabled');
    }
    expect((await ask('POST', '/enable')).json()).toMatchObject({ enabled: true, notice: null });
    expect((await ask('GET', `/deliveries/${deliveryId}`)).json()).toMatchObject({ state: 'pending', attempts: 3 });
    expect((await ask('POST', '/enable')).statusCode).toBe(200);
  });

  it('is 404 webhook_not_set everywhere when there is none', async () => {
    await api.database.query('DELETE FROM webhook_endpoints');
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/enable'],
      ['POST', '/test'],
    ] as const) {
      expectRefusal(await ask(method, path), 404, 'webhook_not_set');
    }
    expect((await ask('GET', '/deliveries')).json()).toEqual({ data: [], nextCursor: null });
  });

  it('says that an event is too old when its body is gone', async () => {
    const { deliveryId } = await record(api.acme);
    await api.database.query(`UPDATE webhook_events SET body = ''`);
    expectRefusal(await ask('POST', `/deliveries/${deliveryId}/redeliver`), 409, 'webhook_too_old');
    expect((await ask('POST', '/replay', { from: '2026-01-01T00:00:00Z' })).json().count).toBe(0);
  });
});
