/**
 * Signing in by an OpenID provider, whole: this service's routes and guarded client, a provider on this machine that
 * speaks the protocol, and a browser's part played by hand. The provider, the browser and others may lie.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OpenIdSettings } from '../../../src/config/openid-settings.ts';
import { setPassword } from '../../../src/users/people.ts';
import { CHEAP_HASHING } from '../../support/cheap-hashing.ts';
import {
  CLIENT,
  type EmulatedPerson,
  type OpenIdEmulator,
  providerAt,
  startOpenIdEmulator,
  type TokenLies,
} from '../../support/openid-emulator.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';
import { askAs, type SignedInPerson, signedIn } from './console-people.ts';

const ROLES: OpenIdSettings['roles'] = [
  { value: 'voice-leads', enterprise: 'acme', role: 'admin' },
  { value: 'voice', enterprise: 'acme', role: 'supervisor' },
  { value: 'voice', enterprise: 'nowhere', role: 'owner' },
  { value: 'bosses', enterprise: 'other', role: 'owner' },
];

let provider: OpenIdEmulator;
let api: ApiFixture;
beforeAll(async () => {
  provider = await startOpenIdEmulator();
  api = await createApiFixture(undefined, { openId: providerAt(provider, { roles: ROLES }) });
});
afterAll(async () => {
  await api?.close();
  await provider?.close();
});
beforeEach(() => {
  api.clock.advanceMs(600_000);
  provider.person = null;
  provider.lies = {};
  provider.isSilentInToken = false;
});

let count = 0;
function known(more: Partial<EmulatedPerson> = {}): EmulatedPerson {
  count++;
  return { sub: `sub-${count}`, email: `oid${count}@example.com`, email_verified: true, name: 'Olive', ...more };
}

const cookiesOf = (answer: { headers: Record<string, unknown> }): Record<string, string> =>
  Object.fromEntries(
    [answer.headers['set-cookie'] ?? []]
      .flat()
      .map((line) => String(line).split(';', 1)[0]!.split('=') as [string, string]),
  );
const asCookie = (cookies: Record<string, string>): string =>
  Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');

/** The way to the provider: where to, and what the browser keeps. */
async function begun(who: SignedInPerson | null = null) {
  const answer =
    who === null ? await askAs(api, null, 'POST', '/openid') : await who.ask('POST', '/me/identities', { payload: {} });
  expect(answer.statusCode, answer.body).toBe(200);
  return { url: answer.json().url as string, cookie: asCookie(cookiesOf(answer)) };
}

/** And back. */
async function returned(address: string, cookie: string) {
  const { pathname, search } = new URL(address);
  return api.app.inject({ url: pathname + search, headers: { cookie, 'sec-fetch-site': 'cross-site' } });
}

async function comeBy(person: EmulatedPerson | null, lies: TokenLies = {}) {
  provider.person = person;
  provider.lies = lies;
  const { url, cookie } = await begun();
  const answer = await returned(await provider.visit(url), cookie);
  expect(answer.statusCode, answer.body).toBe(302);
  const session = cookiesOf(answer)['parley-local'];
  return { to: String(answer.headers['location']), session: session === undefined ? null : `parley-local=${session}` };
}

async function userOf(session: string | null) {
  return (await askAs(api, session, 'GET', '/session')).json();
}

/** Invited by e-mail, and not come yet. */
async function invited(email: string, role = 'supervisor') {
  const owner = await signedIn(api, 'owner');
  const added = await owner.ask('POST', '/w/acme/users', { payload: { email, name: 'Invited', role } });
  expect(added.statusCode, added.body).toBe(201);
  return added.json() as { user: { id: string }; link: string };
}

describe('somebody whom the provider knows', () => {
  it('and who was invited comes in as that person, and the link of the invitation ends', async () => {
    const person = known();
    const { user, link } = await invited(person.email!.toUpperCase());
    const { to, session } = await comeBy(person);
    expect(to).toBe('/console/#/');
    const seen = await userOf(session);
    expect(seen.user).toMatchObject({ id: user.id, hasPassword: false });
    expect(seen.workspaces).toMatchObject([{ enterprise: 'acme', role: 'supervisor' }]);
    expect(seen.signOutUrl).toContain(`${provider.issuer}/logout?client_id=parley&post_logout_redirect_uri=`);
    const token = link.split('#/link/')[1]!;
    expect((await askAs(api, null, 'POST', '/link', { payload: { token } })).statusCode).toBe(404);
    // The next time too, whatever the address has become.
    const again = await comeBy({ ...person, email: 'renamed@example.com' });
    expect((await userOf(again.session)).user.id).toBe(user.id);
    const listed = (await askAs(api, again.session, 'GET', '/me/identities')).json().data;
    expect(listed).toMatchObject([{ issuer: provider.issuer, email: 'renamed@example.com' }]);
    const owner = await signedIn(api, 'owner');
    const people = (await owner.ask('GET', '/w/acme/users')).json().data;
    expect(people.find(({ id }: { id: string }) => id === user.id)).toMatchObject({ isActive: true });
  });

  it('gets the roles of the claim, the highest of several; they change and go with it, and what people gave stays', async () => {
    const person = known({ groups: ['voice', 'voice-leads', 'else'] });
    const first = await comeBy(person);
    const { user, workspaces } = await userOf(first.session);
    expect(workspaces).toMatchObject([{ enterprise: 'acme', role: 'admin' }]);
    const second = await comeBy({ ...person, groups: ['voice'] });
    expect((await userOf(second.session)).workspaces).toMatchObject([{ role: 'supervisor' }]);
    const third = await comeBy({ ...person, groups: [] });
    expect((await userOf(third.session)).workspaces).toEqual([]);
    // Nobody has signed him out: his rights are gone all the same.
    const old = await askAs(api, first.session, 'GET', '/w/acme/calls');
    expect(old.statusCode).toBe(404);

    const owner = await signedIn(api, 'owner');
    await owner.ask('POST', '/w/acme/users', { payload: { email: user.email, name: 'X', role: 'analyst' } });
    const fourth = await comeBy({ ...person, groups: ['voice-leads'] });
    expect((await userOf(fourth.session)).workspaces).toMatchObject([{ role: 'analyst' }]);
    const rows = await api.database.query<{ action: string; actor: string }>(
      `SELECT action, actor FROM audit_log WHERE target = $1 AND actor = 'system:openid' AND workspace_id = $2 ORDER BY id`,
      [`user:${user.id}`, api.acme.workspaceId],
    );
    expect(rows.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['user.added', 'user.role_changed', 'user.removed']),
    );
  });

  it('and what a person changed by hand is no more the provider’s; the last owner stays', async () => {
    const person = known({ groups: ['voice'] });
    const { session } = await comeBy(person);
    const { user } = await userOf(session);
    const owner = await signedIn(api, 'owner');
    const changed = await owner.ask('PATCH', `/w/acme/users/${user.id}`, { payload: { role: 'analyst' } });
    expect(changed.statusCode).toBe(200);
    const again = await comeBy({ ...person, groups: ['voice-leads'] });
    expect((await userOf(again.session)).workspaces).toMatchObject([{ enterprise: 'acme', role: 'analyst' }]);

    const boss = known({ groups: ['bosses'] });
    expect((await userOf((await comeBy(boss)).session)).workspaces).toMatchObject([
      { enterprise: 'other', role: 'owner' },
    ]);
    const kept = await comeBy({ ...boss, groups: [] });
    expect((await userOf(kept.session)).workspaces).toMatchObject([{ enterprise: 'other', role: 'owner' }]);
  });

  it('but not here, and has no role, does not come in', async () => {
    const { to, session } = await comeBy(known());
    expect([to, session]).toEqual(['/console/#/refused/openid_not_invited', null]);
  });

  it('is asked what the token does not say', async () => {
    provider.isSilentInToken = true;
    const person = known({ groups: ['voice'] });
    const { session } = await comeBy(person);
    expect((await userOf(session)).user).toMatchObject({ email: person.email, name: 'Olive' });
    expect(provider.asked).toContain('/me');
  });

  it('takes nobody’s account by an equal address; linked by its owner it signs in, and is removed', async () => {
    const owner = await signedIn(api, 'owner');
    await setPassword(api.database, owner.person.id, await CHEAP_HASHING.hash('four walls and a roof'));
    const thief = known({ email: owner.person.email });
    const taken = await comeBy(thief);
    expect([taken.to, taken.session]).toEqual(['/console/#/refused/openid_not_linked', null]);

    const mine = known();
    provider.person = mine;
    expect((await owner.ask('POST', '/me/identities', { payload: {} })).statusCode).toBe(403);
    const way = await owner.ask('POST', '/me/identities', { payload: { password: 'four walls and a roof' } });
    const cookie = `${owner.cookie}; ${asCookie(cookiesOf(way))}`;
    const back = await returned(await provider.visit(way.json().url), cookie);
    expect(back.headers['location']).toBe('/console/#/');
    expect((await userOf((await comeBy(mine)).session)).user.id).toBe(owner.person.id);
    // Not a second person's too.
    const other = await signedIn(api, 'admin');
    await api.database.query('UPDATE users SET password_hash = $2 WHERE id = $1', [other.person.id, null]);
    await api.database.query('UPDATE user_sessions SET created_at = $2 WHERE id = $1', [
      other.sessionId,
      new Date(api.clock.epochMs()),
    ]);
    const second = await begun(other);
    const refused = await returned(await provider.visit(second.url), `${other.cookie}; ${second.cookie}`);
    expect(refused.headers['location']).toBe('/console/#/refused/openid_taken');

    const [identity] = (await owner.ask('GET', '/me/identities')).json().data;
    const at = `/me/identities/${identity.id}`;
    expect((await other.ask('DELETE', at, { payload: {} })).json().code).toBe('identity_not_found');
    const removed = await owner.ask('DELETE', at, { payload: { password: 'four walls and a roof' } });
    expect(removed.statusCode).toBe(204);
    expect((await comeBy(mine)).to).toBe('/console/#/refused/openid_not_invited');
  });

  it('and whose only way in it is, keeps it', async () => {
    const { session } = await comeBy(known({ groups: ['voice'] }));
    await api.database.query('UPDATE user_sessions SET created_at = $1', [new Date(api.clock.epochMs())]);
    const [identity] = (await askAs(api, session, 'GET', '/me/identities')).json().data;
    const answer = await askAs(api, session, 'DELETE', `/me/identities/${identity.id}`, { payload: {} });
    expect(answer.json().code).toBe('setting_refused');
  });
});

describe('an address that the provider does not vouch for', () => {
  it.each<[string, Partial<EmulatedPerson>]>([
    ['not verified', { email_verified: false }],
    ['nothing said of it', { email_verified: undefined }],
    ['none', { email: undefined }],
    ['of another domain', { email: 'eve@evil.example' }],
    ['of a domain that ends alike', { email: 'eve@notexample.com' }],
    ['with the domain in its name', { email: 'eve@example.com@evil.example' }],
  ])('%s: is nobody’s', async (_name, more) => {
    const person = known({ groups: ['voice-leads'], ...more });
    if (person.email?.endsWith('@example.com')) await invited(person.email);
    const { to, session } = await comeBy(JSON.parse(JSON.stringify(person)) as EmulatedPerson);
    expect([to, session]).toEqual(['/console/#/refused/openid_email_refused', null]);
  });
});

describe('what comes back', () => {
  const REFUSED = '/console/#/refused/openid_refused';
  const person = (): EmulatedPerson => known({ groups: ['voice'] });

  const now = Math.floor(Date.now() / 1000);
  it.each<[string, TokenLies]>([
    ['for another service', { claims: { aud: 'somebody-else' } }],
    ['for several, of which another asked', { claims: { aud: [CLIENT.id, 'else'], azp: 'else' } }],
    ['of another provider', { claims: { iss: 'https://evil.example' } }],
    ['that is over', { claims: { iat: now - 7_200, exp: now - 3_600 } }],
    ['of another question', { claims: { nonce: 'of another' } }],
    ['of no question', { claims: { nonce: undefined } }],
    ['of nobody', { claims: { sub: undefined } }],
    ['that nobody signed', { signed: 'none' }],
    ['that is signed with the public key as a secret', { signed: 'public' }],
    ['that another key signed', { signed: 'stranger' }],
  ])('with a token %s: signs nobody in', async (_name, lies) => {
    const { to, session } = await comeBy(person(), lies);
    expect([to, session]).toEqual([REFUSED, null]);
  });

  it('because the person said no: signs nobody in', async () => {
    expect(await comeBy(null)).toEqual({ to: REFUSED, session: null });
  });

  it('twice, in another browser, with another state, or from nowhere: signs in once, there', async () => {
    provider.person = person();
    const { url, cookie } = await begun();
    const back = await provider.visit(url);
    const another = await begun();
    for (const stolen of [another.cookie, '', 'parley-local-openid=x', `parley-local-openid=${'A'.repeat(43)}`]) {
      const answer = await returned(back, stolen);
      expect([answer.headers['location'], cookiesOf(answer)['parley-local']]).toEqual([REFUSED, undefined]);
    }
    const changed = new URL(back);
    changed.searchParams.set('state', 'x');
    expect((await returned(changed.href, cookie)).headers['location']).toBe(REFUSED);
    const both = await Promise.all([returned(back, cookie), returned(back, cookie)]);
    expect(both.map(({ headers }) => headers['location']).toSorted()).toEqual(['/console/#/', REFUSED]);
    expect((await returned(back, cookie)).headers['location']).toBe(REFUSED);
  });

  it('with a code that was meant for another question, or of another provider: signs nobody in', async () => {
    provider.person = person();
    const [mine, theirs] = [await begun(), await begun()];
    const back = new URL(await provider.visit(mine.url));
    back.searchParams.set('code', new URL(await provider.visit(theirs.url)).searchParams.get('code')!);
    expect((await returned(back.href, mine.cookie)).headers['location']).toBe(REFUSED);
    const third = await begun();
    const mixed = new URL(await provider.visit(third.url));
    mixed.searchParams.set('iss', 'https://evil.example');
    expect((await returned(mixed.href, third.cookie)).headers['location']).toBe(REFUSED);
  });

  it('too late: signs nobody in', async () => {
    provider.person = person();
    const { url, cookie } = await begun();
    const back = await provider.visit(url);
    await api.database.query(`UPDATE openid_sign_ins SET expires_at = now() - interval '1 second'`);
    expect((await returned(back, cookie)).headers['location']).toBe(REFUSED);
  });

  it('to add an account, in another session than asked: adds none', async () => {
    provider.person = person();
    const [asking, other] = [await signedIn(api, 'owner'), await signedIn(api, 'owner')];
    await api.database.query('UPDATE user_sessions SET created_at = $1', [new Date(api.clock.epochMs())]);
    for (const cookie of [other.cookie, '']) {
      const way = await begun(asking);
      const back = await returned(await provider.visit(way.url), `${cookie}; ${way.cookie}`);
      expect([back.headers['location'], cookiesOf(back)['parley-local']]).toEqual([REFUSED, undefined]);
    }
    expect((await other.ask('GET', '/me/identities')).json().data).toEqual([]);
    expect((await asking.ask('GET', '/me/identities')).json().data).toEqual([]);
  });
});

describe('the way to the provider', () => {
  it('asks with PKCE, state and nonce, none of which is stored, and keeps its secret in a cookie of this host', async () => {
    const answer = await askAs(api, null, 'POST', '/openid');
    expect(String(answer.headers['set-cookie'])).toMatch(
      /^parley-local-openid=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
    const asked = new URL(answer.json().url).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      ...{ response_type: 'code', client_id: CLIENT.id, code_challenge_method: 'S256', scope: 'openid email' },
      redirect_uri: 'http://localhost/console/openid/callback',
    });
    const secret = cookiesOf(answer)['parley-local-openid']!;
    const [stored] = await api.database.query<{ text: string }>(
      `SELECT string_agg(s::text, ' ') AS text FROM openid_sign_ins s`,
    );
    for (const part of [secret, asked.get('state')!, asked.get('nonce')!]) {
      expect(part).toMatch(/^[\w-]{43}$/);
      expect(stored!.text).not.toContain(part);
      expect(stored!.text).not.toContain(Buffer.from(part).toString('hex'));
    }
    expect(api.logLines.join('')).not.toContain(secret);
  });

  it('is told beside the other ways, and only where there is one', async () => {
    expect((await askAs(api, null, 'GET', '/sign-in')).json()).toEqual({ openId: { name: 'Example' } });
    const cross = await askAs(api, null, 'POST', '/openid', { headers: { 'sec-fetch-site': 'cross-site' } });
    expect(cross.json().code).toBe('cross_site_request');
  });

  it('is refused while the provider does not answer, or leads into a private network', async () => {
    const one = providerAt(provider, { allowCidrs: [] });
    const round = { state: 's', nonce: 'n', codeVerifier: 'v'.repeat(43) };
    const failed = await one.authorizationUrl(round, 'http://localhost/x').catch((error: Error) => error);
    expect(String(failed)).toContain('OIDC_ALLOW_CIDRS');
  });
});
