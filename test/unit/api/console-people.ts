/** People who are signed in at the console of an API fixture, and their requests. */
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { v4 as uuidv4 } from 'uuid';
import { makeOwner } from '../../../src/users/memberships.ts';
import { createPerson, type Person } from '../../../src/users/people.ts';
import type { Role } from '../../../src/users/roles.ts';
import { createSession } from '../../../src/users/sessions.ts';
import type { ApiFixture, Tenant } from './api-fixture.ts';

export interface SignedInPerson {
  person: Person;
  sessionId: string;
  cookie: string;
  /** Below `/api/console`, as a page of the console asks. */
  ask(method: string, path: string, options?: AskOptions): Promise<LightMyRequestResponse>;
}

export interface AskOptions {
  payload?: object | string;
  headers?: Record<string, string>;
}

/** `role` null: in no workspace. */
export async function signedIn(
  api: ApiFixture,
  role: Role | null,
  more: { tenant?: Tenant; hears?: boolean; isOperator?: boolean; name?: string } = {},
): Promise<SignedInPerson> {
  const { database } = api;
  const { tenant = api.acme, hears = false, isOperator = false, name = 'Jo' } = more;
  const person = await createPerson(database, { email: `${uuidv4()}@example.com`, name });
  const { workspaceId } = tenant;
  if (role !== null) {
    await makeOwner(database, { workspaceId, userId: person.id, by: { actor: 'cli:test' } });
    await database.query('UPDATE memberships SET role = $2, hears = $3 WHERE user_id = $1', [person.id, role, hears]);
  }
  if (isOperator) await database.query('UPDATE users SET is_operator = true WHERE id = $1', [person.id]);
  const { token, sessionId } = await createSession(database, {
    userId: person.id,
    address: '127.0.0.1',
    agent: 'test',
  });
  const cookie = `parley-local=${token}`;
  return { person, sessionId, cookie, ask: (method, path, options) => askAs(api, cookie, method, path, options) };
}

export function askAs(
  api: ApiFixture,
  cookie: string | null,
  method: string,
  path: string,
  { payload, headers = {} }: AskOptions = {},
): Promise<LightMyRequestResponse> {
  return api.app.inject({
    method: method.toUpperCase() as NonNullable<InjectOptions['method']>,
    url: `/api/console${path}`,
    headers: { 'sec-fetch-site': 'same-origin', ...(cookie === null ? {} : { cookie }), ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
}
