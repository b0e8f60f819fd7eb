/**
 * Every operation with every role, made from the list of operations: a new route is in the matrix by itself. And what a
 * cookie is worth elsewhere (nothing), other workspaces (as if they were not there), and pages of other sites.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../../../src/api/openapi/operation.ts';
import { operationsWithoutServer } from '../../../src/api/openapi/without-a-server.ts';
import { type Right, ROLES, type Role, rightsOf } from '../../../src/users/roles.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';
import { askAs, type SignedInPerson, signedIn } from './console-people.ts';

const OPERATIONS = await operationsWithoutServer();
const ofWorkspace = OPERATIONS.filter(({ scope }) => scope !== null && scope !== 'operator' && scope !== 'person');
const ofOperator = OPERATIONS.filter(({ scope }) => scope === 'operator');
const ofPeople = OPERATIONS.filter(({ scope }) => scope === 'person');
const inWorkspace = ofPeople.filter(({ route }) => route.includes(':enterprise'));

/** Below `/api/console`, in `enterprise`; ids are of nobody. */
function pathOf({ route, scope }: Operation, enterprise = 'acme'): string {
  const door = scope === 'operator' ? '/operator' : `/w/${enterprise}`;
  const path = route.startsWith('/api/console')
    ? route.slice('/api/console'.length)
    : door + route.replace(/^\/api\/developer/, '').replace(/^\/api\/outbound-call/, '/outbound-call');
  return path
    .replace(':enterprise', enterprise)
    .replace(
      /:(callUuid|leadId|agentId|lineId|importId|deliveryId|holdId|clipId|userId|sessionId|exportId|viewId)/g,
      NOBODYS,
    )
    .replace(/:\w+/g, 'nobodys1');
}
const NOBODYS = '01990000-0000-7000-8000-000000000000';

const neededFor = ({ scope, right }: Operation): Right | null =>
  right ?? (scope === 'person' || scope === 'operator' || scope === null ? null : scope);

let api: ApiFixture;
const people = new Map<string, SignedInPerson>();
beforeAll(async () => {
  api = await createApiFixture();
  for (const role of ROLES) people.set(role, await signedIn(api, role));
  people.set('hearing analyst', await signedIn(api, 'analyst', { hears: true }));
  people.set('operator', await signedIn(api, null, { isOperator: true }));
  // So that no last owner is in the way, and nobody ends his own session for the others.
  await signedIn(api, 'owner');
});
afterAll(() => api.close());

const as = (name: string): SignedInPerson => people.get(name)!;
/** A stream, which has a test of its own. */
const answers = ({ id }: Operation): boolean => id !== 'watchLiveCalls';
/** A person may ask so much in a second. */
const breathe = (): void => api.clock.advanceMs(1_000);
/** None of theirs. */
const payloadOf = ({ method }: Operation): { payload?: object } =>
  method === 'get' || method === 'delete' ? {} : { payload: { nonsense: true } };

describe('a role', () => {
  const cells = [...ROLES.map((role) => [role, role, false]), ['hearing analyst', 'analyst', true]] as [
    string,
    Role,
    boolean,
  ][];
  it.each(cells)(
    '%s may what it may, of all operations of a workspace, and nothing else',
    async (name, role, hears) => {
      expect(ofWorkspace.length).toBeGreaterThan(80);
      const rights = rightsOf(role, hears);
      let refused = 0;
      for (const operation of [...ofWorkspace, ...inWorkspace]) {
        if (!answers(operation)) continue;
        breathe();
        const answer = await as(name).ask(operation.method, pathOf(operation), payloadOf(operation));
        const where = `${operation.method} ${operation.route}: ${answer.statusCode} ${answer.body.slice(0, 200)}`;
        const needed = neededFor(operation);
        const may = needed === null || rights.includes(needed);
        expect(answer.headers['x-error-code'] === 'role_insufficient', where).toBe(!may);
        if (!may) {
          refused++;
          expect(answer.statusCode, where).toBe(403);
          expect(answer.json().details[0].issue, where).toContain(needed);
        } else expect(answer.statusCode, where).not.toBe(401);
      }
      if (role === 'analyst') expect(refused).toBeGreaterThan(60);
      if (role === 'owner') expect(refused).toBe(0);
    },
  );

  it('of a workspace lets nobody do what the operator does', async () => {
    expect(ofOperator.length).toBeGreaterThan(5);
    for (const operation of ofOperator) {
      breathe();
      const answer = await as('owner').ask(operation.method, pathOf(operation), payloadOf(operation));
      expect([operation.route, answer.statusCode, answer.json().code]).toEqual([operation.route, 403, 'operator_only']);
      const allowed = await as('operator').ask(operation.method, pathOf(operation), payloadOf(operation));
      expect([operation.route, allowed.headers['x-error-code']]).not.toEqual([operation.route, 'operator_only']);
      expect([401, 403], operation.route).not.toContain(allowed.statusCode);
    }
  });

  it('is named by rights that the operations really ask for', () => {
    const asked = new Set([...ofWorkspace, ...inWorkspace].map(neededFor));
    const beyond = rightsOf('owner', true).filter((right) => !asked.has(right));
    // Of benches with keys; whole scopes whose operations ask people for something finer.
    expect(beyond.toSorted()).toEqual(['bench']);
  });
});

describe('another workspace', () => {
  it('is as one that is not there, for every operation, also to an operator', async () => {
    for (const operation of [...ofWorkspace, ...inWorkspace]) {
      breathe();
      for (const who of [as('owner'), as('operator')]) {
        const ask = async (enterprise: string) => {
          const answer = await who.ask(operation.method, pathOf(operation, enterprise), payloadOf(operation));
          return [answer.statusCode, { ...answer.json(), requestId: '' }];
        };
        const foreign = await ask('other');
        expect(foreign, operation.route).toEqual(await ask('nobody-here'));
        expect(foreign, operation.route).toMatchObject([404, { code: 'workspace_not_found' }]);
      }
    }
  });
});

describe('a cookie', () => {
  it('is nothing to every path that takes a key, those of the specification first', async () => {
    const { cookie } = as('owner');
    const operator = as('operator').cookie;
    const keyed = [...ofWorkspace, ...ofOperator];
    expect(keyed.filter(({ specified }) => specified).length).toBeGreaterThan(2);
    for (const operation of keyed) {
      for (const sent of [cookie, operator, `${cookie}; ${operator.replace('parley-local', '__Host-parley')}`]) {
        const answer = await api.app.inject({
          method: operation.method.toUpperCase() as 'GET',
          url: operation.route.replace(/:\w+/g, NOBODYS),
          headers: { cookie: sent, 'sec-fetch-site': 'same-origin' },
          ...payloadOf(operation),
        });
        expect([operation.route, answer.statusCode], answer.body).toEqual([operation.route, 401]);
      }
    }
  });

  it('is needed at every path below /api/console that is not for anybody; a key is no session', async () => {
    for (const operation of [...ofWorkspace, ...ofOperator, ...ofPeople]) {
      for (const headers of [{}, { authorization: `Bearer ${api.acme.key}` }, { cookie: 'parley-local=x' }]) {
        const answer = await askAs(api, null, operation.method, pathOf(operation), {
          headers,
          ...payloadOf(operation),
        });
        expect([operation.route, answer.statusCode, answer.json().code]).toEqual([
          operation.route,
          401,
          'session_needed',
        ]);
      }
    }
  });
});

describe('a request of another site', () => {
  const changing = [...ofWorkspace, ...ofOperator, ...OPERATIONS.filter(({ tag }) => tag === 'Console')].filter(
    ({ method }) => method !== 'get',
  );

  it.each([
    ['same-site', { 'sec-fetch-site': 'same-site' }],
    ['cross-site', { 'sec-fetch-site': 'cross-site', origin: 'http://localhost' }],
    ['none', { 'sec-fetch-site': 'none' }],
    ['another origin', { 'sec-fetch-site': '', origin: 'http://evil.example' }],
    ['another port', { 'sec-fetch-site': '', origin: 'http://localhost:81' }],
    ['an opaque origin', { 'sec-fetch-site': '', origin: 'null' }],
    ['nothing said', { 'sec-fetch-site': '' }],
  ])('%s: changes nothing, whatever the operation', async (_name, given) => {
    expect(changing.length).toBeGreaterThan(50);
    const headers = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
    for (const operation of changing) {
      const answer = await api.app.inject({
        method: operation.method.toUpperCase() as 'POST',
        url: `/api/console${pathOf(operation)}`,
        headers: { cookie: as('owner').cookie, ...headers },
        ...payloadOf(operation),
      });
      expect([operation.route, answer.statusCode, answer.json().code]).toEqual([
        operation.route,
        403,
        'cross_site_request',
      ]);
    }
  });

  it('of this host without Sec-Fetch-Site is taken, and reading is left to the cookie', async () => {
    const { cookie } = as('owner');
    const url = '/api/console/me';
    const answer = await api.app.inject({
      method: 'PATCH',
      url,
      payload: { name: 'Ann' },
      headers: { cookie, origin: 'http://localhost:80', host: 'localhost:80' },
    });
    // `URL.host` leaves a usual port out, as browsers do in both headers.
    expect(answer.statusCode).toBe(403);
    const alike = await api.app.inject({
      method: 'PATCH',
      url,
      payload: { name: 'Ann' },
      headers: { cookie, origin: 'http://localhost', host: 'localhost' },
    });
    expect(alike.statusCode, alike.body).toBe(204);
    const read = await api.app.inject({
      url: '/api/console/session',
      headers: { cookie, 'sec-fetch-site': 'cross-site' },
    });
    expect(read.statusCode).toBe(200);
  });
});
