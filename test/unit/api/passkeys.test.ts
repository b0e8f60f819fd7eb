/**
 * Passkeys through the API, by an authenticator that can lie: alone, beside a password, and as the way back in where
 * another was lost.
 */
import { generateKeyPairSync } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeOwner } from '../../../src/users/memberships.ts';
import { createPerson, setPassword } from '../../../src/users/people.ts';
import { CHEAP_HASHING } from '../../support/cheap-hashing.ts';
import { type Lies, SoftAuthenticator } from '../../support/soft-authenticator.ts';
import { type ApiFixture, createApiFixture } from './api-fixture.ts';
import { askAs, signedIn } from './console-people.ts';

const PASSWORD = 'four walls and a roof';

let api: ApiFixture;
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(() => api.close());
// Tries of an address come again with time.
beforeEach(() => api.clock.advanceMs(600_000));

const ask = (method: string, path: string, payload?: object, cookie: string | null = null) =>
  askAs(api, cookie, method, path, payload === undefined ? {} : { payload });
const codeOf = (answer: { statusCode: number; json(): { code: string } }) => [answer.statusCode, answer.json().code];

let people = 0;
/** Somebody with a password, signed in. */
async function somebody() {
  const email = `pass${++people}@example.com`;
  const { id } = await createPerson(api.database, { email, name: 'Pat' });
  await setPassword(api.database, id, await CHEAP_HASHING.hash(PASSWORD));
  await makeOwner(api.database, { workspaceId: api.acme.workspaceId, userId: id, by: { actor: 'cli:test' } });
  const answer = await ask('POST', '/session', { email, password: PASSWORD });
  expect(answer.statusCode, answer.body).toBe(204);
  return { id, email, cookie: String(answer.headers['set-cookie']).split(';', 1)[0]! };
}
type Somebody = Awaited<ReturnType<typeof somebody>>;

async function askNew({ cookie }: Somebody) {
  const answer = await ask('POST', '/me/passkeys/options', { password: PASSWORD }, cookie);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
}

async function withPasskey(who: Somebody, name = 'Phone'): Promise<{ key: SoftAuthenticator; passkeyId: string }> {
  const key = new SoftAuthenticator();
  const added = await ask('POST', '/me/passkeys', { name, answer: key.make(await askNew(who)) }, who.cookie);
  expect(added.statusCode, added.body).toBe(201);
  return { key, passkeyId: added.json().passkey.id };
}

async function asked(beside?: object) {
  const answer = await ask('POST', '/session/passkey/options', beside === undefined ? {} : { beside });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
}

const signInBy = async (key: SoftAuthenticator, lies: Lies = {}) =>
  ask('POST', '/session/passkey', { answer: key.answer(await asked(), lies) });

describe('a passkey', () => {
  it('is added with the password once more, signs in alone, and is listed with its use', async () => {
    const who = await somebody();
    expect(codeOf(await ask('POST', '/me/passkeys/options', {}, who.cookie))).toEqual([403, 'wrong_password']);
    expect(codeOf(await ask('POST', '/me/passkeys/options', { password: 'wrong' }, who.cookie))).toEqual([
      403,
      'wrong_password',
    ]);
    const options = await askNew(who);
    expect(options).toMatchObject({ rp: { id: 'localhost' }, user: { name: who.email }, attestation: 'none' });
    expect(JSON.stringify(options.user.id)).not.toContain(who.email);
    const { key } = await withPasskey(who);

    const signed = await signInBy(key);
    expect(signed.statusCode, signed.body).toBe(204);
    const cookie = String(signed.headers['set-cookie']).split(';', 1)[0]!;
    const session = (await ask('GET', '/session', undefined, cookie)).json();
    expect(session.user).toMatchObject({ id: who.id, passkeys: 1, hasPassword: true });
    const { data } = (await ask('GET', '/me/passkeys', undefined, cookie)).json();
    expect(data).toMatchObject([{ name: 'Phone', host: 'localhost', isSynced: true }]);
    expect(data[0].lastUsedAt).not.toBeNull();
    const again = (await askNew(who)).excludeCredentials;
    expect(again).toEqual([{ id: key.id.toString('base64url'), type: 'public-key', transports: ['internal'] }]);
    const [stored] = await api.database.query<{ text: string }>(
      'SELECT string_agg(c::text, $1) AS text FROM passkey_challenges c',
      [' '],
    );
    expect(stored!.text).not.toContain(options.challenge);
  });

  it('is asked for beside the password from then on, of that person alone, and a code of an app does too', async () => {
    const who = await somebody();
    const { key } = await withPasskey(who);
    const given = { email: who.email, password: PASSWORD };
    const needed = await ask('POST', '/session', given);
    expect(codeOf(needed)).toEqual([401, 'second_factor_needed']);
    expect(needed.json().details.map(({ field }: { field: string }) => field)).toEqual(['passkey']);
    const wrong = await ask('POST', '/session/passkey/options', { beside: { ...given, password: 'wrong' } });
    expect(codeOf(wrong)).toEqual([401, 'wrong_credentials']);

    const options = await asked(given);
    expect(options.allowCredentials).toMatchObject([{ id: key.id.toString('base64url') }]);
    // A key without a PIN is a second factor, and nothing more.
    const passkey = key.answer(options, { isUnverified: true });
    expect((await ask('POST', '/session', { ...given, passkey })).statusCode).toBe(204);
    expect(codeOf(await ask('POST', '/session', { ...given, passkey }))).toEqual([401, 'wrong_credentials']);
    expect(codeOf(await signInBy(key, { isUnverified: true }))).toEqual([401, 'wrong_passkey']);

    const other = await somebody();
    const { key: others } = await withPasskey(other);
    for (const stranger of [others.answer(await asked(given)), others.answer(await asked())]) {
      const answer = await ask('POST', '/session', { ...given, passkey: stranger });
      expect(codeOf(answer)).toEqual([401, 'wrong_credentials']);
    }
    api.clock.advanceMs(600_000);
    const { secret } = (await ask('POST', '/me/totp', { password: PASSWORD }, who.cookie)).json();
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    const at = (ms: number) => totp.generate({ timestamp: api.clock.epochMs() + ms });
    expect((await ask('POST', '/me/totp/confirm', { code: at(0) }, who.cookie)).statusCode).toBe(204);
    expect((await ask('POST', '/session', given)).json().details).toHaveLength(2);
    expect((await ask('POST', '/session', { ...given, code: at(30_000) })).statusCode).toBe(204);
  });

  it('does not go round by another address: what belongs to another host counts, and works there alone', async () => {
    const who = await somebody();
    const { passkeyId, key } = await withPasskey(who);
    await api.database.query(`UPDATE user_passkeys SET rp_id = 'voice.example.com' WHERE id = $1`, [passkeyId]);
    const given = { email: who.email, password: PASSWORD };
    expect(codeOf(await ask('POST', '/session', given))).toEqual([401, 'second_factor_needed']);
    expect((await asked(given)).allowCredentials).toEqual([]);
    expect(codeOf(await signInBy(key))).toEqual([401, 'wrong_passkey']);
    for (const host of ['127.0.0.1', 'voice.example.com', 'localhost.example.com']) {
      const answer = await askAs(api, null, 'POST', '/session/passkey/options', { payload: {}, headers: { host } });
      expect(['insecure_address', 'passkeys_unavailable'], host).toContain(answer.json().code);
    }
  });

  it('and a new password by a link: the link does not go round it', async () => {
    const who = await somebody();
    await withPasskey(who);
    const owner = await signedIn(api, 'owner');
    const { link } = (await owner.ask('POST', `/w/acme/users/${who.id}/reset`)).json();
    const token = String(link).split('#/link/')[1]!;
    const taken = await ask('POST', '/link/take', { token, password: `${PASSWORD}!` });
    expect([taken.statusCode, taken.headers['set-cookie']]).toEqual([204, undefined]);
  });
});

describe('an answer that is not what was asked', () => {
  const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const cases: [string, Lies][] = [
    ['a page of another origin', { origin: 'http://localhost:81' }],
    ['a page of another site', { origin: 'https://evil.example' }],
    ['another host', { host: 'evil.example' }],
    ['a challenge that nobody made', { challenge: 'A'.repeat(43) }],
    ['a challenge that is none', { challenge: '' }],
    ['the making of a passkey', { type: 'webauthn.create' }],
    ['nobody has shown a finger', { isUnverified: true }],
    ["somebody else's key", { key: foreign }],
    ["somebody else's handle", { userHandle: 'AAAAAAAAAAAAAAAAAAAAAA' }],
    ['a passkey that is not known', { id: 'A'.repeat(43) }],
    ['a count that stands still', { signCount: 5 }],
    ['a count that goes back', { signCount: 4 }],
    ['a count of nothing, after it counted', { signCount: 0 }],
  ];
  let key: SoftAuthenticator;
  let who: Somebody;
  beforeAll(async () => {
    who = await somebody();
    ({ key } = await withPasskey(who));
  });
  beforeEach(async () => {
    api.clock.advanceMs(600_000);
    await api.database.query('UPDATE user_passkeys SET sign_count = 5 WHERE user_id = $1', [who.id]);
    key.signCount = 5;
  });

  it.each(cases)('%s: signs nobody in', async (_name, lies) => {
    const answer = await signInBy(key, lies);
    expect(codeOf(answer)).toEqual([401, 'wrong_passkey']);
    expect(answer.headers['set-cookie']).toBeUndefined();
    // And the passkey goes on.
    key.signCount = 5;
    expect((await signInBy(key)).statusCode).toBe(204);
  });

  it('once more: what was answered is open no more, whatever became of it', async () => {
    const options = await asked();
    const wrong = key.answer(options, { origin: 'https://evil.example' });
    expect(codeOf(await ask('POST', '/session/passkey', { answer: wrong }))).toEqual([401, 'wrong_passkey']);
    const right = key.answer(options);
    expect(codeOf(await ask('POST', '/session/passkey', { answer: right }))).toEqual([401, 'wrong_passkey']);
    const twice = key.answer(await asked());
    const both = await Promise.all([1, 2].map(() => ask('POST', '/session/passkey', { answer: twice })));
    expect(both.map(({ statusCode }) => statusCode).toSorted()).toEqual([204, 401]);
  });

  it('too late', async () => {
    const options = await asked();
    await api.database.query(`UPDATE passkey_challenges SET expires_at = now() - interval '1 second'`);
    const answer = await ask('POST', '/session/passkey', { answer: key.answer(options) });
    expect(codeOf(answer)).toEqual([401, 'wrong_passkey']);
  });

  it('to something else: what is asked for one use answers no other', async () => {
    const given = { email: who.email, password: PASSWORD };
    const beside = key.answer(await asked(given));
    expect(codeOf(await ask('POST', '/session/passkey', { answer: beside }))).toEqual([401, 'wrong_passkey']);
    const alone = key.answer(await asked());
    expect(codeOf(await ask('POST', '/session', { ...given, passkey: alone }))).toEqual([401, 'wrong_credentials']);
    const fresh = new SoftAuthenticator();
    const made = fresh.make({ ...(await asked()), user: { id: 'AA' } });
    const adding = await ask('POST', '/me/passkeys', { name: 'X', answer: made }, who.cookie);
    expect(codeOf(adding)).toEqual([400, 'invalid_request']);
  });

  it.each<[string, Lies]>([
    ['a page of another site', { origin: 'https://evil.example' }],
    ['another host', { host: 'evil.example' }],
    ['a sign-in', { type: 'webauthn.get' }],
    ['another challenge', { challenge: 'A'.repeat(43) }],
  ])('for a new one, of %s: adds none', async (_name, lies) => {
    const made = new SoftAuthenticator().make(await askNew(who), lies);
    const answer = await ask('POST', '/me/passkeys', { name: 'X', answer: made }, who.cookie);
    expect(codeOf(answer)).toEqual([400, 'invalid_request']);
  });

  it("for a new one, of somebody else's question, or of a passkey that is there: adds none", async () => {
    const other = await somebody();
    const made = new SoftAuthenticator().make(await askNew(other));
    const answer = await ask('POST', '/me/passkeys', { name: 'X', answer: made }, who.cookie);
    expect(codeOf(answer)).toEqual([400, 'invalid_request']);
    const again = await ask('POST', '/me/passkeys', { name: 'X', answer: key.make(await askNew(other)) }, other.cookie);
    expect(codeOf(again)).toEqual([409, 'already_exists']);
  });

  it('bodies that are no answers are 400', async () => {
    const good = key.answer(await asked());
    for (const answer of [
      {},
      { ...good, id: 'ä' },
      { ...good, response: { ...good.response, clientDataJSON: 'x'.repeat(5_000) } },
      { ...good, response: { ...good.response, signature: 7 } },
    ]) {
      expect(codeOf(await ask('POST', '/session/passkey', { answer }))).toEqual([400, 'invalid_request']);
    }
    for (const clientDataJSON of ['e30', 'bm90IGpzb24', 'bnVsbA']) {
      const answer = { ...good, response: { ...good.response, clientDataJSON } };
      expect(codeOf(await ask('POST', '/session/passkey', { answer }))).toEqual([401, 'wrong_passkey']);
    }
  });

  it('is in the audit of the person, and guesses are bounded by address', async () => {
    await signInBy(key, { key: foreign });
    const rows = await api.database.query<{ after: string }>(
      `SELECT after FROM audit_log WHERE action = 'user.sign_in_failed' AND target = $1 AND after LIKE '%wrong_passkey%'`,
      [`user:${who.id}`],
    );
    expect(rows.length).toBeGreaterThan(0);
    const options = key.answer(await asked(), { key: foreign });
    let last = 0;
    for (let tries = 0; tries < 25; tries++) {
      last = (await ask('POST', '/session/passkey', { answer: options })).statusCode;
    }
    expect(last).toBe(429);
    // Somebody with a password at another address is not kept out.
    const elsewhere = await api.app.inject({
      method: 'POST',
      url: '/api/console/session/passkey/options',
      payload: {},
      headers: { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': '192.0.2.77' },
    });
    expect(elsewhere.statusCode).toBe(200);
  });
});

describe('passkeys of a person', () => {
  it('are named and removed by that person, with the password once more', async () => {
    const who = await somebody();
    const { passkeyId, key } = await withPasskey(who);
    const at = `/me/passkeys/${passkeyId}`;
    const other = await somebody();
    expect(codeOf(await ask('PATCH', at, { name: 'Mine' }, other.cookie))).toEqual([404, 'passkey_not_found']);
    expect(codeOf(await ask('DELETE', at, { password: PASSWORD }, other.cookie))).toEqual([404, 'passkey_not_found']);
    const renamed = await ask('PATCH', at, { name: ' Blue key ' }, who.cookie);
    expect(renamed.json().passkey.name).toBe('Blue key');
    expect(codeOf(await ask('DELETE', at, {}, who.cookie))).toEqual([403, 'wrong_password']);
    expect((await ask('DELETE', at, { password: PASSWORD }, who.cookie)).statusCode).toBe(204);
    expect(codeOf(await signInBy(key))).toEqual([401, 'wrong_passkey']);
    expect((await ask('POST', '/session', { email: who.email, password: PASSWORD })).statusCode).toBe(204);
    const actions = await api.database.query<{ action: string }>(
      `SELECT action FROM audit_log WHERE target = $1 AND action LIKE 'user.passkey%' ORDER BY id`,
      [`user:${who.id}`],
    );
    expect(actions.map(({ action }) => action)).toEqual([
      'user.passkey_added',
      'user.passkey_renamed',
      'user.passkey_removed',
    ]);
  });

  it('are at most twenty', async () => {
    const who = await somebody();
    const { passkeyId } = await withPasskey(who);
    await api.database.query(
      `INSERT INTO user_passkeys SELECT gen_random_uuid(), user_id, 'c' || n, public_key, 0, rp_id, transports, false, 'X'
       FROM user_passkeys, generate_series(1, 19) n WHERE id = $1`,
      [passkeyId],
    );
    const answer = new SoftAuthenticator().make(await askNew(who));
    expect(codeOf(await ask('POST', '/me/passkeys', { name: 'X', answer }, who.cookie))).toEqual([
      409,
      'setting_refused',
    ]);
  });

  it('are two at least of who gives the password up; the last one stays; a fresh sign-in stands for the password', async () => {
    const who = await somebody();
    const { key, passkeyId } = await withPasskey(who);
    const forget = () => ask('DELETE', '/me/password', { password: PASSWORD }, who.cookie);
    expect(codeOf(await forget())).toEqual([409, 'setting_refused']);
    const second = await withPasskey(who, 'Second');
    expect((await forget()).statusCode).toBe(204);
    expect(codeOf(await ask('POST', '/session', { email: who.email, password: PASSWORD }))).toEqual([
      401,
      'wrong_credentials',
    ]);
    const owner = await signedIn(api, 'owner');
    const listed = (await owner.ask('GET', '/w/acme/users'))
      .json()
      .data.find(({ id }: { id: string }) => id === who.id);
    expect(listed).toMatchObject({ isActive: true, passkeys: 2 });

    const signed = await signInBy(key);
    const cookie = String(signed.headers['set-cookie']).split(';', 1)[0]!;
    await api.database.query(`UPDATE user_sessions SET created_at = $2 WHERE user_id = $1`, [
      who.id,
      new Date(api.clock.epochMs() - 601_000),
    ]);
    const remove = (id: string) => ask('DELETE', `/me/passkeys/${id}`, {}, cookie);
    expect(codeOf(await remove(passkeyId))).toEqual([403, 'sign_in_again']);
    await api.database.query(`UPDATE user_sessions SET created_at = $2 WHERE user_id = $1`, [
      who.id,
      new Date(api.clock.epochMs() - 599_000),
    ]);
    expect((await remove(second.passkeyId)).statusCode).toBe(204);
    expect(codeOf(await remove(passkeyId))).toEqual([409, 'setting_refused']);
    expect((await ask('POST', '/me/password', { password: `${PASSWORD}!` }, cookie)).statusCode).toBe(204);
    const again = await ask('DELETE', `/me/passkeys/${passkeyId}`, { password: `${PASSWORD}!` }, cookie);
    expect(again.statusCode).toBe(204);
    expect((await ask('POST', '/session', { email: who.email, password: `${PASSWORD}!` })).statusCode).toBe(204);
  });

  it('are gone with the person', async () => {
    const who = await somebody();
    const { key } = await withPasskey(who);
    const owner = await signedIn(api, 'owner');
    expect((await owner.ask('DELETE', `/w/acme/users/${who.id}`)).statusCode).toBe(204);
    expect(codeOf(await signInBy(key))).toEqual([401, 'wrong_passkey']);
    const left = await api.database.query('SELECT 1 AS one FROM user_passkeys WHERE user_id = $1', [who.id]);
    expect(left).toEqual([]);
  });
});
