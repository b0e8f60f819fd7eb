/**
 * The dial policy over HTTP: what the operator sets, what a key of the workspace tries against it, and what it is told.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDialClearance } from '../../../src/placement/dial-clearance.ts';
import type { NewCall, Placement } from '../../../src/placement/ports.ts';
import { createOperatorKey } from '../../../src/workspaces/operator-keys.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';

let api: ApiFixture;
let operatorKey: string;
beforeAll(async () => {
  api = await createApiFixture();
  operatorKey = (await createOperatorKey(api.database, { name: 'console', by: { actor: 'cli:test' } })).text;
  const clearance = createDialClearance({ database: api.database, clock: api.clock, masterKeys: 'ab'.repeat(32) });
  api.compliance = clearance.check;
  api.place = (call: NewCall): Promise<Placement> =>
    api.database.transaction(async (tx) => {
      const verdict = await clearance.judge(tx, call);
      if (!verdict.ok) return { kind: 'blocked', code: verdict.code };
      return { kind: 'placed', callUuid: '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11', status: 'dialing' };
    });
});
afterAll(() => api.close());

const ask = (
  method: 'GET' | 'POST' | 'PATCH' | 'PUT',
  path: string,
  payload?: object,
  key = api.acme.key,
  headers: Record<string, string> = {},
) =>
  api.app.inject({
    method,
    url: `/api/developer${path}`,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
const operate = (change: object, slug = 'acme') => ask('PATCH', `/workspaces/${slug}/dial-policy`, change, operatorKey);
const codeOf = async (to: string, from = api.acme.lineId): Promise<unknown> => {
  const answer = await api.call({ to, from });
  return answer.statusCode === 200 ? 200 : answer.headers['x-error-code'];
};

const IRIDIUM = '+881612345678';
const LATVIA = '+37129123456';
const LATVIA_900 = '+37190012345';
const NEW = {
  countries: [],
  blockedCountries: [],
  kinds: [],
  maxCallSeconds: null,
  callsPerDay: null,
  minutesPerDay: null,
  keyCallsPerDay: null,
  keyMinutesPerDay: null,
  lineCountries: ['US'],
  ownCountries: ['US'],
  today: null,
};

describe('the dial policy', () => {
  it('of a new workspace is that of its lines; the operator widens it, and the workspace sees it', async () => {
    expect((await ask('GET', '/dial-policy')).json()).toEqual(NEW);
    expect((await ask('GET', '/workspaces/acme/dial-policy', undefined, operatorKey)).json()).toEqual(NEW);
    const changed = await operate({ countries: ['lv', 'GB', 'LV'], kinds: ['satellite', 'premium'], callsPerDay: 500 });
    expect(changed.statusCode).toBe(200);
    const wider = { countries: ['GB', 'LV'], kinds: ['premium', 'satellite'], callsPerDay: 500 };
    expect(changed.json()).toMatchObject({ success: true, dialPolicy: wider });
    expect((await ask('GET', '/dial-policy')).json()).toMatchObject({
      ...wider,
      today: { calls: 0, usedSeconds: 0, reservedSeconds: 0, keys: [] },
    });
    expect([await codeOf(IRIDIUM), await codeOf(LATVIA), await codeOf(LATVIA_900)]).toEqual([200, 200, 200]);
    expect((await ask('GET', '/dial-policy', undefined, api.other.key)).json()).toEqual(NEW);
    const [row] = await api.database.query<{ actor: string; before: string; after: string }>(
      `SELECT actor, before, after FROM audit_log WHERE action = 'workspace.dial_policy_changed' AND workspace_id = $1`,
      [api.acme.workspaceId],
    );
    expect(row?.actor).toMatch(/^operator:/);
    expect([JSON.parse(row!.before).kinds, JSON.parse(row!.after).kinds]).toEqual([[], ['premium', 'satellite']]);
    const { lineCountries: _lines, ownCountries: _own, today: _today, ...closed } = NEW;
    expect((await operate(closed)).json().dialPolicy).toEqual(NEW);
  });

  it.each([
    [{ countries: ['XX'] }, /'XX' is no country/],
    [{ kinds: ['cheap'] }, /kinds/],
    [{ callsPerDay: -1 }, /callsPerDay/],
    [{ maxCallSeconds: 29 }, /maxCallSeconds/],
    [{ callsADay: 5 }, /callsADay/],
  ])('refuses %j and says why', async (change, why) => {
    const answer = await operate(change);
    expect(answer.statusCode).toBe(400);
    expect(JSON.stringify(answer.json().details)).toMatch(why);
    expect((await ask('GET', '/dial-policy')).json()).toEqual(NEW);
    expect((await operate({}, 'nobody')).json().code).toBe('workspace_not_found');
  });
});

describe('a key of the workspace with every scope', () => {
  it('is refused what the operator has not allowed, with the contract’s answer, also while nothing is dialled', async () => {
    const answer = await api.call({ to: IRIDIUM });
    expect([answer.statusCode, answer.json()]).toEqual([
      403,
      { success: false, message: 'Call blocked by compliance policy' },
    ]);
    expect(answer.headers['x-error-code']).toBe('blocked_destination');
    const again = { headers: { 'idempotency-key': 'iridium' } };
    await api.call({ to: IRIDIUM }, again);
    expect((await api.call({ to: IRIDIUM }, again)).headers['idempotent-replayed']).toBe('true');
    api.admission = 'draining';
    expect([await codeOf(IRIDIUM), await codeOf('+14155550123')]).toEqual(['blocked_destination', 'draining']);
    api.admission = 'open';
    const { lead } = (
      await ask('POST', '/leads', { enterprise: 'acme', phone: LATVIA_900, agentId: api.acme.agentId })
    ).json();
    const called = await ask('POST', `/leads/${lead.id}/call`, { from: api.acme.lineId });
    expect([called.statusCode, called.headers['x-error-code']]).toEqual([403, 'blocked_destination']);
  });

  it('lifts nothing of it: not by settings, limits, lines, keys nor the operator’s route', async () => {
    const tried = [
      await ask('PATCH', '/workspaces/acme/dial-policy', { countries: null, kinds: ['satellite'] }),
      await ask('PATCH', '/dial-policy', { countries: null }),
      await ask('PATCH', '/calling-settings', { allowedCountries: ['LV', 'US'] }),
      await ask('PATCH', '/limit-settings', { callsPerDay: 1_000_000 }),
      await ask('POST', '/phone-numbers', {
        number: '+37167123456',
        carrier: 'plivo',
        credentials: { authId: 'MA1', authToken: 't' },
      }),
      await ask('POST', '/keys', { name: 'another', scopes: ['calls:write'] }),
    ];
    expect(tried.map(({ statusCode }) => statusCode)).toEqual([403, 405, 200, 400, 201, 201]);
    // A line that the workspace added opens its country to itself alone.
    expect((await ask('GET', '/dial-policy')).json()).toEqual({ ...NEW, ownCountries: ['LV', 'US'] });
    const { id: latvianLine } = tried[4]!.json().phoneNumber;
    expect([await codeOf(LATVIA), await codeOf(LATVIA_900, latvianLine)]).toEqual([
      'blocked_destination',
      'blocked_destination',
    ]);
    // From a line of its own in Latvia, with credentials of its own, it calls Latvia.
    expect(await codeOf(LATVIA, latvianLine)).toBe(200);
    const another = tried[5]!.json().secret;
    const answer = await api.call({ to: LATVIA }, { headers: { authorization: `Bearer ${another}` } });
    expect(answer.headers['x-error-code']).toBe('blocked_destination');
    await ask('PATCH', '/calling-settings', { allowedCountries: null });
  });

  it('takes its share of the day along when it makes a key or rotates one; a key of the operator has one of its own', async () => {
    const countedAs = async (keyId: string): Promise<string | null> => {
      const [row] = await api.database.query<{ counted_as: string | null }>(
        'SELECT counted_as FROM api_keys WHERE key_id = $1',
        [keyId],
      );
      return row!.counted_as;
    };
    const child = (await ask('POST', '/keys', { name: 'child', scopes: ['settings:write', 'calls:write'] })).json();
    const grandchild = (
      await ask('POST', '/keys', { name: 'grandchild', scopes: ['calls:write'] }, child.secret)
    ).json();
    const rotated = (await ask('POST', `/keys/${grandchild.key.keyId}/rotate`, {})).json();
    for (const { key } of [child, grandchild, rotated]) expect(await countedAs(key.keyId)).toBe(api.acme.keyId);
    const own = await ask('POST', '/workspaces/other/keys', { name: 'own', scopes: ['calls:write'] }, operatorKey);
    expect(await countedAs(own.json().key.keyId)).toBeNull();
    expect(await countedAs(api.acme.keyId)).toBeNull();
    await api.call({}, { headers: { authorization: `Bearer ${child.secret}` } });
    expect(api.placements.at(-1)?.keyId).toBe(child.key.keyId);
  });
});

it('a ceiling of the day is told with the contract’s 429, its policy and the seconds to its end', async () => {
  const place = api.place;
  const ceiling = { name: 'calls_per_day', value: 20 };
  api.place = async () => ({ kind: 'limited', code: 'daily_limit', retryAfterSeconds: 43_210, ceiling });
  const answer = await api.call({}, { headers: { 'idempotency-key': 'of-today' } });
  expect([answer.statusCode, answer.json()]).toEqual([429, { success: false, message: 'Carrier rate limit exceeded' }]);
  expect(answer.headers).toMatchObject({
    'x-error-code': 'daily_limit',
    'retry-after': '43210',
    'ratelimit-policy': '"calls_per_day";q=20;w=86400',
    ratelimit: '"calls_per_day";r=0;t=43210',
  });
  api.place = place;
  // Tomorrow the same key may dial.
  expect((await api.call({}, { headers: { 'idempotency-key': 'of-today' } })).statusCode).toBe(200);
});
