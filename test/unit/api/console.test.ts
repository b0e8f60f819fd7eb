import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeOwner } from '../../../src/users/memberships.ts';
import { makeFirstUserLink } from '../../../src/users/one-time-links.ts';
import { setOperator, setPassword } from '../../../src/users/people.ts';
import { createApiKey } from '../../../src/workspaces/api-keys.ts';
import { CHEAP_HASHING } from '../../support/cheap-hashing.ts';
import { eventually } from '../../support/eventually.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';
import { askAs, signedIn } from './console-people.ts';

const PASSWORD = 'four walls and a roof';

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());

const ask = (method: string, path: string, payload?: object, cookie: string | null = null) =>
  askAs(api, cookie, method, path, payload === undefined ? {} : { payload });

/** `name=value` of what was set. */
function cookieOf(answer: { headers: Record<string, unknown> }): string {
  return String(answer.headers['set-cookie']).split(';', 1)[0]!;
}

const tokenOf = (url: string): string => url.split('#/link/')[1]!;

async function auditOf(action: string, workspaceId: string | null = api.acme.workspaceId) {
  return api.database.query<{ actor: string; target: string; after: string | null; ip: string | null }>(
    'SELECT actor, target, after, ip FROM audit_log WHERE action = $1 AND workspace_id IS NOT DISTINCT FROM $2 ORDER BY id',
    [action, workspaceId],
  );
}

/** Somebody with a password, by an invitation. */
async function invited(email: string, role = 'analyst'): Promise<{ cookie: string; userId: string }> {
  const owner = await signedIn(api, 'owner');
  const added = await owner.ask('POST', '/w/acme/users', { payload: { email, name: 'New', role } });
  expect(added.statusCode, added.body).toBe(201);
  const taken = await ask('POST', '/link/take', { token: tokenOf(added.json().link), password: PASSWORD });
  expect(taken.statusCode, taken.body).toBe(204);
  return { cookie: cookieOf(taken), userId: added.json().user.id };
}

describe('the first user', () => {
  it('comes by a link that is used once, owns what is there, and operates the installation', async () => {
    const nobody = await ask('GET', '/session');
    expect([nobody.statusCode, nobody.json().details[0].field]).toEqual([401, 'setup']);
    const link = (await makeFirstUserLink(api.database))!;
    const looked = await ask('POST', '/link', { token: link.token });
    expect(looked.json()).toMatchObject({ purpose: 'first_user', email: null, workspace: null });

    const taking = { token: link.token, password: PASSWORD, email: 'Ann@Example.com', name: 'Ann' };
    expect((await ask('POST', '/link/take', { ...taking, password: 'eleven char' })).statusCode).toBe(400);
    expect((await ask('POST', '/link/take', { ...taking, email: undefined })).json()).toMatchObject({
      code: 'invalid_request',
    });
    const [first, second] = await Promise.all([
      ask('POST', '/link/take', taking),
      ask('POST', '/link/take', { ...taking, email: 'eve@example.com' }),
    ]);
    expect([first.statusCode, second.statusCode].toSorted()).toEqual([204, 404]);
    const cookie = cookieOf(first.statusCode === 204 ? first : second);
    expect(cookie).toMatch(/^parley-local=[\w-]{43}$/);
    const session = (await ask('GET', '/session', undefined, cookie)).json();
    expect(session.user).toMatchObject({ name: 'Ann', isOperator: true, hasPassword: true, totp: false });
    expect(session.workspaces.map((one: { enterprise: string; role: string }) => [one.enterprise, one.role])).toEqual([
      ['acme', 'owner'],
      ['other', 'owner'],
    ]);
    expect(await makeFirstUserLink(api.database)).toBeNull();
    expect((await ask('POST', '/link', { token: link.token })).json()).toMatchObject({ code: 'link_not_found' });
    expect(api.logLines.join('')).not.toContain(link.token);
  });
});

describe('signing in', () => {
  it('sets a cookie that scripts cannot read, and says who and what', async () => {
    await invited('sam@example.com', 'supervisor');
    const answer = await ask('POST', '/session', { email: ' SAM@example.com', password: PASSWORD });
    expect(answer.statusCode).toBe(204);
    expect(answer.headers['set-cookie']).toMatch(
      /^parley-local=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/,
    );
    const session = (await ask('GET', '/session', undefined, cookieOf(answer))).json();
    expect(session.user.email).toBe('sam@example.com');
    expect(session.workspaces).toMatchObject([{ enterprise: 'acme', name: 'acme', role: 'supervisor', hears: false }]);
    expect(session.workspaces[0].scopes).toContain('calls:control');
    expect(session.workspaces[0].scopes).not.toContain('settings:read');
    const [stored] = await api.database.query<{ text: string }>(
      'SELECT string_agg(s::text, $1) AS text FROM user_sessions s',
      [' '],
    );
    expect(stored!.text).not.toContain(cookieOf(answer).split('=')[1]);
    expect((await auditOf('user.signed_in')).at(-1)).toMatchObject({
      actor: `user:${session.user.id}`,
      ip: '127.0.0.1',
    });
  });

  it('on https the cookie belongs to this host alone; in clear elsewhere nobody signs in', async () => {
    await invited('hal@example.com');
    const payload = { email: 'hal@example.com', password: PASSWORD };
    const headers = { host: 'voice.example.com' };
    const refused = await askAs(api, null, 'POST', '/session', { payload, headers });
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'insecure_address']);
    const link = await askAs(api, null, 'POST', '/link/take', { payload: { token: 'x', password: PASSWORD }, headers });
    expect(link.json().code).toBe('insecure_address');
  });

  it('behind a proxy that calls the service 127.0.0.1 the browser decides where it is', async () => {
    const fixture = await createApiFixture(undefined, { publicUrl: 'https://voice.example.com' });
    try {
      const owner = await signedIn(fixture, 'owner');
      await setPassword(fixture.database, owner.person.id, await CHEAP_HASHING.hash(PASSWORD));
      const payload = { email: owner.person.email, password: PASSWORD };
      const headers = { host: '127.0.0.1:8080', origin: 'https://voice.example.com' };
      const answer = await askAs(fixture, null, 'POST', '/session', { payload, headers });
      expect(answer.headers['set-cookie']).toMatch(/^__Host-parley=[\w-]{43}; .*HttpOnly; SameSite=Lax; Secure$/);
      const { host } = headers;
      const session = await askAs(fixture, cookieOf(answer), 'GET', '/session', { headers: { host } });
      expect([session.statusCode, session.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000']);
      const out = await askAs(fixture, cookieOf(answer), 'DELETE', '/session', { headers });
      expect([out.statusCode, cookieOf(out)]).toEqual([204, '__Host-parley=']);
    } finally {
      await fixture.close();
    }
    const clear = { host: '127.0.0.1:8080', origin: 'http://voice.example.com' };
    const payload = { email: 'x@example.com', password: PASSWORD };
    const refused = await askAs(api, null, 'POST', '/session', { payload, headers: clear });
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'insecure_address']);
  });

  it('tells an unknown person and a wrong password the same, and slows who guesses, from that address alone', async () => {
    await invited('kim@example.com');
    const guess = (email: string, address: string, password = 'wrong') =>
      api.app.inject({
        method: 'POST',
        url: '/api/console/session',
        payload: { email, password },
        headers: { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': address },
      });
    const shown = (answer: { statusCode: number; json(): object }) => [
      answer.statusCode,
      { ...answer.json(), requestId: '' },
    ];
    expect(shown(await guess('kim@example.com', '192.0.2.1'))).toEqual(
      shown(await guess('nobody@example.com', '192.0.2.2')),
    );
    for (let tries = 1; tries < 10; tries++) expect((await guess('kim@example.com', '192.0.2.1')).statusCode).toBe(401);
    const shut = await guess('kim@example.com', '192.0.2.1', PASSWORD);
    expect([shut.statusCode, shut.json().code]).toEqual([429, 'sign_in_limit']);
    expect(Number(shut.headers['retry-after'])).toBeGreaterThan(0);
    for (let tries = 0; tries < 10; tries++) await guess('nobody@example.com', '192.0.2.3');
    expect((await guess('nobody@example.com', '192.0.2.3')).statusCode).toBe(429);
    expect((await guess('kim@example.com', '192.0.2.4', PASSWORD)).statusCode).toBe(204);
    await eventually('ten rows of the audit', async () => {
      const rows = await auditOf('user.sign_in_failed');
      return rows.filter(({ ip }) => ip === '192.0.2.1').length === 10;
    });
  });

  it('guesses from everywhere make new addresses wait, and nobody is locked out', async () => {
    await invited('lee@example.com');
    const from = (address: string, password: string) =>
      api.app.inject({
        method: 'POST',
        url: '/api/console/session',
        payload: { email: 'lee@example.com', password },
        headers: { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': address },
      });
    expect((await from('198.51.100.250', PASSWORD)).statusCode).toBe(204);
    await Promise.all(Array.from({ length: 60 }, (_, index) => from(`198.51.100.${index}`, 'wrong')));
    expect((await from('198.51.100.250', PASSWORD)).statusCode).toBe(204);
    let answered = false;
    const timers = api.clock.pendingTimers;
    const elsewhere = from('198.51.100.251', PASSWORD).then((answer) => {
      answered = true;
      return answer;
    });
    while (api.clock.pendingTimers === timers) await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(false);
    api.clock.advanceMs(2_000);
    expect((await elsewhere).statusCode).toBe(204);
  });

  it('takes few codes beside a right password from strange addresses, and from a known one goes on', async () => {
    const { cookie } = await invited('few@example.com');
    const { secret } = (await ask('POST', '/me/totp', { password: PASSWORD }, cookie)).json();
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    const codeAt = (aheadMs: number) => totp.generate({ timestamp: api.clock.epochMs() + aheadMs });
    expect((await ask('POST', '/me/totp/confirm', { code: codeAt(-30_000) }, cookie)).statusCode).toBe(204);
    const from = (address: string, code: string) =>
      api.app.inject({
        method: 'POST',
        url: '/api/console/session',
        payload: { email: 'few@example.com', password: PASSWORD, code },
        headers: { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': address },
      });
    const wrong = String((Number(codeAt(0)) + 500_000) % 1_000_000).padStart(6, '0');
    for (let tries = 0; tries < 20; tries++) {
      expect((await from(`203.0.113.${tries}`, wrong)).statusCode).toBe(401);
    }
    const shut = await from('203.0.113.99', codeAt(0));
    expect([shut.statusCode, shut.json().code]).toEqual([429, 'sign_in_limit']);
    expect((await from('127.0.0.1', codeAt(0))).statusCode).toBe(204);
  });

  it('with one-time passwords takes each code once, and a link for a new password does not go round them', async () => {
    const { cookie, userId } = await invited('tot@example.com');
    // Whoever finds an open session must not keep its owner out with codes of his own.
    expect((await ask('POST', '/me/totp', {}, cookie)).json().code).toBe('wrong_password');
    const { secret, uri } = (await ask('POST', '/me/totp', { password: PASSWORD }, cookie)).json();
    expect(uri).toContain('otpauth://totp/Parley:');
    const codeAt = (aheadMs: number) =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: api.clock.epochMs() + aheadMs });
    expect((await ask('POST', '/session', { email: 'tot@example.com', password: PASSWORD })).statusCode).toBe(204);
    expect((await ask('POST', '/me/totp/confirm', { code: '000000' }, cookie)).json().code).toBe('wrong_code');
    expect((await ask('POST', '/me/totp/confirm', { code: codeAt(0) }, cookie)).statusCode).toBe(204);
    expect((await ask('POST', '/me/totp', { password: PASSWORD }, cookie)).statusCode).toBe(409);
    const signIn = (code?: string) =>
      ask('POST', '/session', {
        email: 'tot@example.com',
        password: PASSWORD,
        ...(code === undefined ? {} : { code }),
      });
    expect((await signIn()).json().code).toBe('second_factor_needed');
    expect((await signIn(codeAt(0))).json().code).toBe('wrong_credentials');
    expect((await signIn(codeAt(30_000))).statusCode).toBe(204);
    expect((await signIn(codeAt(30_000))).json().code).toBe('wrong_credentials');
    const [row] = await api.database.query<{ sealed: Buffer }>(
      'SELECT totp_sealed AS sealed FROM users WHERE id = $1',
      [userId],
    );
    expect(row!.sealed.toString('latin1')).not.toContain(secret);

    const owner = await signedIn(api, 'owner');
    const reset = await owner.ask('POST', `/w/acme/users/${userId}/reset`);
    const taken = await ask('POST', '/link/take', { token: tokenOf(reset.json().link), password: `${PASSWORD}!` });
    expect([taken.statusCode, taken.headers['set-cookie']]).toEqual([204, undefined]);
    expect((await ask('GET', '/session', undefined, cookie)).statusCode).toBe(401);

    await api.database.query('UPDATE users SET totp_last_step = NULL WHERE id = $1', [userId]);
    const again = cookieOf(
      await ask('POST', '/session', { email: 'tot@example.com', password: `${PASSWORD}!`, code: codeAt(0) }),
    );
    expect((await ask('DELETE', '/me/totp', { password: 'wrong' }, again)).json().code).toBe('wrong_password');
    expect((await ask('DELETE', '/me/totp', { password: `${PASSWORD}!` }, again)).statusCode).toBe(204);
    expect((await ask('POST', '/session', { email: 'tot@example.com', password: `${PASSWORD}!` })).statusCode).toBe(
      204,
    );
  });
});

describe('a session', () => {
  it('that the browser had before ends with a sign-in', async () => {
    const { cookie } = await invited('again@example.com');
    const payload = { email: 'again@example.com', password: PASSWORD };
    const anew = cookieOf(await askAs(api, cookie, 'POST', '/session', { payload }));
    expect((await ask('GET', '/session', undefined, cookie)).statusCode).toBe(401);
    expect((await ask('GET', '/session', undefined, anew)).statusCode).toBe(200);
  });

  it('ends by signing out, 12 h after its last request, 7 days after the sign-in, and with another password', async () => {
    const endings: ((userId: string, cookie: string) => Promise<unknown>)[] = [
      (_userId, cookie) => ask('DELETE', '/session', undefined, cookie),
      (userId) =>
        api.database.query(
          `UPDATE user_sessions SET seen_at = now() - interval '12 hours 1 second' WHERE user_id = $1`,
          [userId],
        ),
      (userId) => api.database.query(`UPDATE user_sessions SET expires_at = now() WHERE user_id = $1`, [userId]),
      async (_userId, _cookie) => {
        const other = cookieOf(await ask('POST', '/session', { email: 'end3@example.com', password: PASSWORD }));
        expect(
          (await ask('POST', '/me/password', { current: 'wrong', password: `${PASSWORD}2` }, other)).json().code,
        ).toBe('wrong_password');
        expect(
          (await ask('POST', '/me/password', { current: PASSWORD, password: `${PASSWORD}2` }, other)).statusCode,
        ).toBe(204);
        expect((await ask('GET', '/session', undefined, other)).statusCode).toBe(200);
      },
    ];
    for (const [index, end] of endings.entries()) {
      const { cookie, userId } = await invited(`end${index}@example.com`);
      expect((await ask('GET', '/session', undefined, cookie)).statusCode).toBe(200);
      await end(userId, cookie);
      expect((await ask('GET', '/session', undefined, cookie)).statusCode, String(index)).toBe(401);
    }
  });

  it('is listed, and ended from another one; nobody ends those of others', async () => {
    const { cookie } = await invited('two@example.com');
    const other = cookieOf(await ask('POST', '/session', { email: 'two@example.com', password: PASSWORD }));
    const { data } = (await ask('GET', '/me/sessions', undefined, other)).json();
    expect(data.map((one: { isThis: boolean }) => one.isThis)).toEqual([true, false]);
    const stranger = await signedIn(api, 'owner');
    expect((await stranger.ask('DELETE', `/me/sessions/${data[1].id}`)).json().code).toBe('session_not_found');
    expect((await ask('DELETE', `/me/sessions/${data[1].id}`, undefined, other)).statusCode).toBe(204);
    expect((await ask('GET', '/session', undefined, cookie)).statusCode).toBe(401);
    expect((await ask('GET', '/session', undefined, other)).statusCode).toBe(200);
  });
});

describe('people of a workspace', () => {
  it('are added, changed and removed by owners and admins; the last owner stays, and admins touch no owner', async () => {
    const tenant = api.other;
    // The first user is an owner of it too.
    await api.database.query('DELETE FROM memberships WHERE workspace_id = $1', [tenant.workspaceId]);
    const owner = await signedIn(api, 'owner', { tenant });
    const admin = await signedIn(api, 'admin', { tenant });
    const users = '/w/other/users';
    const add = (who: typeof owner, role: string) =>
      who.ask('POST', users, { payload: { email: `${role}-by-${who.person.id}@example.com`, name: 'X', role } });
    expect((await add(admin, 'owner')).json().code).toBe('setting_refused');
    const { user, link } = (await add(admin, 'analyst')).json();
    expect(link).toMatch(/\/console\/#\/link\/[\w-]{43}$/);
    expect((await owner.ask('GET', users)).json().data).toHaveLength(3);
    expect((await admin.ask('PATCH', `${users}/${owner.person.id}`, { payload: { role: 'analyst' } })).statusCode).toBe(
      409,
    );
    expect((await admin.ask('DELETE', `${users}/${owner.person.id}`)).statusCode).toBe(409);
    expect((await admin.ask('POST', `${users}/${owner.person.id}/reset`)).json().code).toBe('setting_refused');
    expect((await admin.ask('PATCH', `${users}/${admin.person.id}`, { payload: { role: 'owner' } })).statusCode).toBe(
      409,
    );
    for (const [method, payload] of [
      ['PATCH', { role: 'admin' }],
      ['DELETE', undefined],
    ] as const) {
      const answer = await owner.ask(method, `${users}/${owner.person.id}`, payload === undefined ? {} : { payload });
      expect([answer.statusCode, answer.json().code]).toEqual([409, 'last_owner']);
    }
    expect((await owner.ask('PATCH', `${users}/${user.id}`, { payload: { role: 'owner' } })).json().user.role).toBe(
      'owner',
    );
    expect((await owner.ask('DELETE', `${users}/${owner.person.id}`)).statusCode).toBe(204);
    expect((await owner.ask('GET', users)).statusCode).toBe(401);
    expect((await auditOf('user.added', tenant.workspaceId)).length).toBeGreaterThan(0);
    // Of acme, so nobody here.
    const stranger = await signedIn(api, 'analyst');
    expect(
      (await admin.ask('PATCH', `${users}/${stranger.person.id}`, { payload: { role: 'admin' } })).json().code,
    ).toBe('user_not_found');
  });

  it('who is known already comes in as before, without a link, where the asking person rules; links are made for nobody who is more elsewhere', async () => {
    const owner = await signedIn(api, 'owner');
    const elsewhere = await signedIn(api, 'admin', { tenant: api.other });
    await setPassword(api.database, elsewhere.person.id, await CHEAP_HASHING.hash(PASSWORD));
    const add = (who: typeof owner, email: string) =>
      who.ask('POST', '/w/acme/users', { payload: { email, name: 'Other', role: 'analyst' } });
    const refused = await add(owner, elsewhere.person.email);
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'setting_refused']);
    expect(refused.body).not.toContain(elsewhere.person.id);

    await makeOwner(api.database, {
      ...{ workspaceId: api.other.workspaceId, userId: owner.person.id, by: { actor: 'cli:test' } },
    });
    const added = await add(owner, elsewhere.person.email);
    expect([added.statusCode, added.json().link, added.json().user.name]).toEqual([201, null, 'Jo']);
    const operator = await signedIn(api, 'owner', { isOperator: true });
    const another = await signedIn(api, 'owner', { tenant: api.other });
    expect((await add(operator, another.person.email)).statusCode).toBe(201);
    expect((await operator.ask('POST', `/w/acme/users/${another.person.id}/reset`)).json().code).toBe(
      'setting_refused',
    );
    const one = await signedIn(api, 'analyst', { isOperator: true });
    expect((await owner.ask('POST', `/w/acme/users/${one.person.id}/reset`)).json().code).toBe('setting_refused');
    expect((await add(owner, another.person.email.toUpperCase())).json().code).toBe('already_exists');
  });

  it('an invitation that another workspace has made opens no more than that, whoever kept it', async () => {
    const payload = { email: 'wanted@example.com', name: 'W', role: 'admin' };
    const stranger = await signedIn(api, 'admin', { tenant: api.other });
    const kept = tokenOf((await stranger.ask('POST', '/w/other/users', { payload })).json().link);
    const operator = await signedIn(api, 'owner', { isOperator: true });
    const added = (await operator.ask('POST', '/w/acme/users', { payload })).json();
    expect((await ask('POST', '/link/take', { token: kept, password: PASSWORD })).statusCode).toBe(404);
    expect((await ask('POST', '/link/take', { token: tokenOf(added.link), password: PASSWORD })).statusCode).toBe(204);
  });

  it('a link that was kept ends when its person becomes an owner or an operator, and with a new password', async () => {
    const owner = await signedIn(api, 'owner');
    const rises: [string, (userId: string, cookie: string) => Promise<unknown>][] = [
      ['owner', (id) => owner.ask('PATCH', `/w/acme/users/${id}`, { payload: { role: 'owner' } })],
      [
        'operator',
        () =>
          setOperator(api.database, { email: 'operator@kept.example', isOperator: true, by: { actor: 'cli:test' } }),
      ],
      [
        'password',
        (_id, cookie) => ask('POST', '/me/password', { current: PASSWORD, password: `${PASSWORD}!` }, cookie),
      ],
    ];
    for (const [name, rise] of rises) {
      const { cookie, userId } = await invited(`${name}@kept.example`);
      const reset = (await owner.ask('POST', `/w/acme/users/${userId}/reset`)).json();
      await rise(userId, cookie);
      const taken = await ask('POST', '/link/take', { token: tokenOf(reset.link), password: PASSWORD });
      expect(taken.statusCode, name).toBe(404);
    }
  });

  it('a link that somebody made ends with the rights of whoever made it', async () => {
    const owner = await signedIn(api, 'owner');
    const falls: [string, (id: string) => Promise<{ statusCode: number }>][] = [
      ['demoted', (id) => owner.ask('PATCH', `/w/acme/users/${id}`, { payload: { role: 'supervisor' } })],
      ['removed', (id) => owner.ask('DELETE', `/w/acme/users/${id}`)],
    ];
    for (const [name, fall] of falls) {
      const admin = await signedIn(api, 'admin');
      const { userId } = await invited(`${name}@maker.example`, 'admin');
      const reset = (await admin.ask('POST', `/w/acme/users/${userId}/reset`)).json();
      const payload = { email: `${name}-2@maker.example`, name: 'N', role: 'analyst' };
      const added = (await admin.ask('POST', '/w/acme/users', { payload })).json();
      expect((await ask('POST', '/link', { token: tokenOf(reset.link) })).statusCode).toBe(200);
      expect((await fall(admin.person.id)).statusCode).toBeLessThan(300);
      for (const { link } of [reset, added]) {
        const taken = await ask('POST', '/link/take', { token: tokenOf(link), password: PASSWORD });
        expect(taken.statusCode, name).toBe(404);
      }
    }
  });

  it('who takes a link is in the audit of the workspace', async () => {
    const { userId } = await invited('taker@example.com');
    const rows = await auditOf('user.link_taken');
    expect(rows.at(-1)).toMatchObject({ actor: `user:${userId}`, after: '{"purpose":"invitation"}' });
  });

  it('taking a link ends the session that the browser had, whoever it was', async () => {
    const owner = await signedIn(api, 'owner');
    const { cookie } = await invited('before@example.com');
    const added = await owner.ask('POST', '/w/acme/users', {
      payload: { email: 'after@example.com', name: 'A', role: 'analyst' },
    });
    const taking = { token: tokenOf(added.json().link), password: PASSWORD };
    expect((await ask('POST', '/link/take', taking, cookie)).statusCode).toBe(204);
    expect((await ask('GET', '/session', undefined, cookie)).statusCode).toBe(401);
  });

  it('a link lives a day, a newer one ends it, and nothing shows its token', async () => {
    const owner = await signedIn(api, 'owner');
    const added = (
      await owner.ask('POST', '/w/acme/users', { payload: { email: 'link@example.com', name: 'L', role: 'analyst' } })
    ).json();
    const first = tokenOf(added.link);
    const second = tokenOf((await owner.ask('POST', `/w/acme/users/${added.user.id}/reset`)).json().link);
    expect((await ask('POST', '/link', { token: first })).statusCode).toBe(404);
    const looked = (await ask('POST', '/link', { token: second })).json();
    expect(looked).toMatchObject({
      purpose: 'invitation',
      email: 'link@example.com',
      workspace: { enterprise: 'acme' },
    });
    const [row] = await api.database.query<{ text: string }>(
      'SELECT string_agg(l::text, $1) AS text FROM user_links l',
      [' '],
    );
    expect(row!.text).not.toContain(second);
    await api.database.query('UPDATE user_links SET expires_at = now()');
    expect((await ask('POST', '/link/take', { token: second, password: PASSWORD })).statusCode).toBe(404);
  });
});

describe('an operator', () => {
  it('who makes a workspace is its owner, and joins others', async () => {
    const operator = await signedIn(api, null, { isOperator: true });
    const made = await operator.ask('POST', '/operator/workspaces', { payload: { slug: 'fresh', name: 'Fresh' } });
    expect(made.statusCode, made.body).toBe(201);
    expect((await operator.ask('GET', '/w/fresh/users')).json().data).toMatchObject([{ role: 'owner' }]);
    expect((await operator.ask('GET', '/w/acme/users')).statusCode).toBe(404);
    expect((await operator.ask('POST', '/operator/workspaces/acme/join')).statusCode).toBe(204);
    expect((await operator.ask('GET', '/w/acme/users')).statusCode).toBe(200);
    expect((await operator.ask('POST', '/operator/workspaces/nowhere/join')).statusCode).toBe(404);
    const nobody = await signedIn(api, 'owner');
    expect((await nobody.ask('POST', '/operator/workspaces/other/join')).json().code).toBe('operator_only');
  });
});

describe('the second door', () => {
  it('answers what the first one does, to who may', async () => {
    const supervisor = await signedIn(api, 'supervisor');
    const callUuid = await api.insertCall(api.acme);
    for (const path of ['/calls', `/calls/${callUuid}`, '/leads', '/agents', '/limits', '/phone-numbers']) {
      const byKey = await api.app.inject({
        url: `/api/developer${path}`,
        headers: { authorization: `Bearer ${api.acme.key}` },
      });
      expect((await supervisor.ask('GET', `/w/acme${path}`)).json(), path).toEqual(byKey.json());
    }
    const placed = await supervisor.ask('POST', '/w/acme/outbound-call', {
      payload: { to: '+14155550123', agentId: api.acme.agentId, enterprise: 'acme', from: api.acme.lineId },
    });
    expect(placed.statusCode, placed.body).toBe(200);
    expect(api.placements.at(-1)).toMatchObject({ by: { actor: `user:${supervisor.person.id}` } });
    expect(api.placements.at(-1)).not.toHaveProperty('keyId');
  });

  it('errors are whole, also those of the operations of the specification', async () => {
    const supervisor = await signedIn(api, 'supervisor');
    const answer = await supervisor.ask('POST', '/w/acme/outbound-call', { payload: {} });
    expect(answer.json()).toMatchObject({ success: false, code: 'missing_fields', details: [] });
  });

  it('tells the name of who did something, in the audit that keys read too', async () => {
    const admin = await signedIn(api, 'admin', { name: 'Änne Müller' });
    const made = await admin.ask('POST', '/w/acme/keys', { payload: { name: 'by a person', scopes: ['calls:read'] } });
    expect(made.statusCode, made.body).toBe(201);
    const url = `/api/developer/audit?actor=user:${admin.person.id}`;
    const { data } = (await api.app.inject({ url, headers: { authorization: `Bearer ${api.acme.key}` } })).json();
    expect(data).toMatchObject([{ action: 'key.created', actorName: 'Änne Müller' }]);
    await createApiKey(api.database, { slug: 'acme', name: 'by the command line', scopes: ['calls:read'] });
    const [newest] = (await admin.ask('GET', '/w/acme/audit')).json().data;
    expect(newest).toMatchObject({ actor: 'cli:operator', actorName: null });
  });

  it('leads to paths of its own', async () => {
    const admin = await signedIn(api, 'admin');
    const answer = await admin.ask('POST', '/w/acme/leads/import', {
      payload: 'phone\n+14155550125\n',
      headers: { 'content-type': 'text/csv' },
    });
    expect(answer.statusCode, answer.body).toBe(202);
    expect(answer.headers['location']).toMatch(/^\/api\/console\/w\/acme\/leads\/import\//);
    expect((await admin.ask('GET', String(answer.headers['location']).slice('/api/console'.length))).statusCode).toBe(
      200,
    );
  });
});

describe('an analyst', () => {
  it('sees no number in any answer, wherever it stands, and looks for none', async () => {
    const analyst = await signedIn(api, 'analyst');
    const callUuid = await api.insertCall(api.acme, {
      name: 'Call +49 30 1234567',
      metadata: { phone: '4155550199', order: 'A-1234567', note: 'I call (415) 555-0177.' },
      status: 'completed',
      ended_reason: 'user_hangup',
      ended_at: new Date().toISOString(),
    });
    for (const path of ['/calls', `/calls/${callUuid}`]) {
      const { body } = await analyst.ask('GET', `/w/acme${path}`);
      for (const number of ['4155550123', '4155550199', '4155550100', '30 1234567', '555-0177']) {
        expect(body, path).not.toContain(number);
      }
      expect(body).toContain('+1••••••0123');
      expect(body).toContain('A-1234567');
      expect(body).toContain(callUuid);
    }
    for (const filter of ['to=%2B14155550123', 'q=0123', 'from=14155550100', 'metadata.phone=4155550199']) {
      const answer = await analyst.ask('GET', `/w/acme/calls?${filter}`);
      expect([answer.statusCode, answer.json().code, answer.json().details[0].field]).toEqual([
        403,
        'masked_filter',
        filter.split('=')[0],
      ]);
    }
    expect((await analyst.ask('GET', '/w/acme/calls?q=refund')).statusCode).toBe(200);
    for (const filter of [`agentId=${api.acme.agentId}`, `from=${api.acme.lineId}`]) {
      expect((await analyst.ask('GET', `/w/acme/calls?${filter}`)).statusCode).toBe(200);
    }
  });

  it('gets no sound and no address of one, unless he may hear', async () => {
    const callUuid = await api.insertCall(api.acme, { recording_status: 'ready' });
    const address = 'http://127.0.0.1:8080/api/developer/recordings/x?signature=y';
    await api.database.query(`INSERT INTO call_events (call_uuid, kind, data) VALUES ($1, 'recording', $2)`, [
      callUuid,
      JSON.stringify({ url: address }),
    ]);
    for (const hears of [false, true]) {
      const analyst = await signedIn(api, 'analyst', { hears });
      const sound = await analyst.ask('GET', `/w/acme/calls/${callUuid}/recording`);
      expect(sound.statusCode).toBe(hears ? 302 : 403);
      if (hears) expect(sound.headers['location']).toMatch(/^\/api\/developer\/recordings\//);
      const { body } = await analyst.ask('GET', `/w/acme/calls/${callUuid}/events`);
      expect(body.includes('signature=')).toBe(hears);
    }
  });
});

describe('an open stream of events', () => {
  /** Reads until the server ends it. */
  async function streamOf(cookie: string, callUuid: string): Promise<{ text: Promise<string>; first: Promise<void> }> {
    const address = api.app.server.address();
    const base =
      typeof address === 'object' && address !== null
        ? `http://localhost:${address.port}`
        : await api.app.listen({ host: '127.0.0.1', port: 0 });
    const response = await fetch(
      `${base.replace('127.0.0.1', 'localhost')}/api/console/w/acme/calls/${callUuid}/events`,
      {
        headers: { cookie, accept: 'text/event-stream' },
      },
    );
    expect(response.status).toBe(200);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let begun = (): void => {};
    const first = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const text = (async () => {
      let all = '';
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return all;
        all += value;
        begun();
      }
    })();
    return { text, first };
  }

  const changes: [string, (userId: string, sessionId: string) => Promise<unknown>][] = [
    [
      'the session is revoked',
      (_userId, sessionId) =>
        api.database.query('UPDATE user_sessions SET revoked_at = now() WHERE id = $1', [sessionId]),
    ],
    ['the role is changed', (userId) => changeRole(userId, { role: 'admin' })],
    ['the person is removed', (userId) => changeRole(userId, null)],
  ];
  async function changeRole(userId: string, payload: object | null): Promise<void> {
    const owner = await signedIn(api, 'owner');
    const answer = await owner.ask(
      payload === null ? 'DELETE' : 'PATCH',
      `/w/acme/users/${userId}`,
      payload === null ? {} : { payload },
    );
    expect(answer.statusCode).toBeLessThan(300);
  }

  it.each(changes)('ends at the next look, a second later at the latest, when %s', async (_name, change) => {
    const { cookie, person, sessionId } = await signedIn(api, 'analyst');
    const callUuid = await api.insertCall(api.acme);
    await api.database.query(
      `INSERT INTO call_events (call_uuid, kind, data) VALUES ($1, 'status', '{"to":"+14155550123"}')`,
      [callUuid],
    );
    const { text, first } = await streamOf(cookie, callUuid);
    await first;
    await change(person.id, sessionId);
    api.clock.advanceMs(1_000);
    const all = await text;
    expect(all).toContain('+1••••••0123');
    expect(all).not.toContain('event: end');
  });
});
