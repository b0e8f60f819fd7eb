/**
 * Whom control vouches for to the media process before it: whoever has shown a right key, and
 * nobody else, whatever the answer was.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { VOUCHED_HEADER, vouchedByKey } from '../../../media/contract/vouched.ts';
import { createOperatorKey } from '../../../src/workspaces/operator-keys.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';

let api: ApiFixture;
let operator = '';
beforeAll(async () => {
  api = await createApiFixture();
  operator = (await createOperatorKey(api.database, { name: 'test', by: { actor: 'cli:test' } })).text;
});
afterAll(() => api.close());

const NOWHERE = '/api/developer/calls/0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11';
const key = () => api.acme.key;
const ofAcme = () => vouchedByKey(api.acme.workspaceId);
const none = () => undefined;
const wrong = () => `${api.acme.key.slice(0, -1)}${api.acme.key.endsWith('a') ? 'b' : 'a'}`;

it.each([
  ['a right key', '/api/developer/calls', key, 200, ofAcme],
  ['a right key that finds nothing', NOWHERE, key, 404, ofAcme],
  ["the operator's key", '/api/developer/workspaces', () => operator, 200, () => vouchedByKey('operator')],
  ["a workspace's key where the operator's is wanted", '/api/developer/workspaces', key, 403, none],
  ['a wrong key', '/api/developer/calls', wrong, 401, none],
  ['a wrong key where none is wanted', '/livez', wrong, 200, none],
  ['a right key where none is wanted', '/api/developer/error-codes', key, 200, none],
])('%s: %s', async (_what, url, keyOf, status, vouched) => {
  const answer = await api.app.inject({ url, headers: { authorization: `Bearer ${keyOf()}` } });
  expect([answer.statusCode, answer.headers[VOUCHED_HEADER]]).toEqual([status, vouched()]);
});
