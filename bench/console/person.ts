/** Somebody who is signed in at the console and owns all workspaces, as a cookie and as a browser's context. */
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import { BY_OPERATOR } from '../../src/audit/audit-entry.ts';
import type { Database } from '../../src/store/database.ts';
import { makeOwner } from '../../src/users/memberships.ts';
import { makeFirstUserLink } from '../../src/users/one-time-links.ts';
import { findPerson } from '../../src/users/people.ts';

export interface ConsolePerson {
  /** `name=value` */
  cookie: string;
  ask(path: string, options?: { method?: string; body?: object }): Promise<Response>;
  /** A browser that has nothing of the console yet, and is signed in. */
  context(browser: Browser, options?: BrowserContextOptions): Promise<BrowserContext>;
}

const EMAIL = 'ann@example.com';
const PASSWORD = 'four walls and a roof';

/** The first one of the service, or the one that was made before. */
export async function signInPerson(base: string, database: Database): Promise<ConsolePerson> {
  const send = async (path: string, cookie: string, options: { method?: string; body?: object }): Promise<Response> =>
    fetch(`${base}${path}`, {
      method: options.method ?? 'GET',
      headers: {
        origin: base,
        ...(cookie === '' ? {} : { cookie }),
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    });
  const link = await makeFirstUserLink(database);
  if (link !== null) {
    const body = { token: link.token, password: PASSWORD, email: EMAIL, name: 'Ann' };
    await send('/api/console/link/take', '', { method: 'POST', body });
  }
  const person = await findPerson(database, EMAIL);
  for (const { id } of await database.query<{ id: string }>('SELECT id FROM workspaces')) {
    await database.transaction((tx) => makeOwner(tx, { workspaceId: id, userId: person!.id, by: BY_OPERATOR }));
  }
  const signedIn = await send('/api/console/session', '', {
    method: 'POST',
    body: { email: EMAIL, password: PASSWORD },
  });
  const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  if (cookie === '') throw new Error(`nobody could sign in: ${signedIn.status} ${await signedIn.text()}`);
  return {
    cookie,
    ask: (path, options = {}) => send(path, cookie, options),
    async context(browser, options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
      const [name, value] = cookie.split('=') as [string, string];
      await context.addCookies([{ name, value, url: base }]);
      return context;
    },
  };
}
