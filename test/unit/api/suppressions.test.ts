import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiFixture, createApiFixture, type Tenant } from './api-fixture.ts';

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());

function ask(
  method: 'GET' | 'POST' | 'DELETE',
  query = '',
  payload?: object,
  tenant: Tenant = api.acme,
): Promise<LightMyRequestResponse> {
  return api.app.inject({
    method,
    url: `/api/developer/suppressions${query}`,
    headers: { authorization: `Bearer ${tenant.key}` },
    ...(payload === undefined ? {} : { payload }),
  });
}

describe('/api/developer/suppressions', () => {
  it('adds numbers once, lists them newest first in pages, and raises the version by each change', async () => {
    expect((await ask('GET')).json()).toEqual({ data: [], nextCursor: null, version: 0 });
    const first = await ask('POST', '', { phone: '+1 415 555-0123', reason: 'asked by mail' });
    expect([first.statusCode, first.json()]).toEqual([201, { success: true, added: 1, known: 0 }]);
    const more = await ask('POST', '', { phones: ['+14155550123', '+14155550124', '+1 4155550124', '+14155550125'] });
    expect([more.statusCode, more.json()]).toEqual([201, { success: true, added: 2, known: 1 }]);
    const same = await ask('POST', '', { mobile: '+14155550123', reason: 'other' });
    expect([same.statusCode, same.json()]).toEqual([200, { success: true, added: 0, known: 1 }]);
    const page = (await ask('GET', '?limit=2')).json();
    expect(page.data.map(({ phone }: { phone: string }) => phone)).toEqual(['+14155550125', '+14155550124']);
    expect(page.version).toBe(2);
    const rest = (await ask('GET', `?limit=2&cursor=${page.nextCursor}`)).json();
    expect(rest).toMatchObject({
      data: [{ phone: '+14155550123', reason: 'asked by mail', source: 'api', callUuid: null }],
      nextCursor: null,
    });
    expect((await ask('GET', '?phone=%2B14155550124')).json().data).toHaveLength(1);
  });

  it('removes a number, by its workspace alone', async () => {
    await ask('POST', '', { phone: '+14155550199' });
    const query = '?phone=%2B1%20415%20555%200199';
    const foreign = await ask('DELETE', query, undefined, api.other);
    expect([foreign.statusCode, foreign.json().code]).toEqual([404, 'suppression_not_found']);
    expect((await ask('DELETE', query)).json()).toEqual({ success: true, phone: '+14155550199' });
    expect((await ask('DELETE', query)).statusCode).toBe(404);
    expect((await ask('GET', '', undefined, api.other)).json()).toEqual({ data: [], nextCursor: null, version: 0 });
  });

  it.each<[string, object, string]>([
    ['no number', {}, 'missing_fields'],
    ['a bad number', { phone: '0123' }, 'invalid_phone'],
    ['one bad number of three', { phones: ['+14155550123', 'x', '+14155550124'] }, 'invalid_phone'],
    ['no numbers', { phones: [] }, 'invalid_request'],
    ['1,001 numbers', { phones: Array(1_001).fill('+14155550123') }, 'invalid_request'],
    ['a number for a reason', { phone: '+14155550123', reason: 7 }, 'invalid_request'],
    ['a long reason', { phone: '+14155550123', reason: 'x'.repeat(201) }, 'invalid_request'],
  ])('refuses %s, and stores nothing', async (_what, body, code) => {
    const before = (await ask('GET')).json().version;
    const answer = await ask('POST', '', body);
    expect([answer.statusCode, answer.json().code]).toEqual([400, code]);
    expect((await ask('GET')).json().version).toBe(before);
  });
});
