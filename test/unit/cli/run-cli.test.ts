import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { sealedPlace } from '../../../src/sealing/sealed-places.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';
import { parseApiKey } from '../../../src/workspaces/api-key-format.ts';
import { type Ran, runParley } from '../../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

const MASTER_KEY = 'ab'.repeat(32);
let test: TestDatabase;
let folder: string;

beforeAll(async () => {
  test = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'parley-cli-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await test.close();
});

async function parley(
  words: string,
  more: { environment?: Record<string, string>; input?: string } = {},
): Promise<Ran> {
  return runParley(
    words.split(' '),
    more.environment ?? { DATABASE_URL: test.connectionString, PARLEY_MASTER_KEY: MASTER_KEY },
    more.input ?? '',
  );
}

// biome-ignore lint/suspicious/noExplicitAny: a command's JSON is what is under test
async function parleyJson(words: string, more: Parameters<typeof parley>[1] = {}): Promise<any> {
  const ran = await parley(`${words} --json`, more);
  expect([ran.code, ran.err], `${words}: ${ran.out}`).toEqual([0, '']);
  return JSON.parse(ran.out);
}

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

describe('the command line, from an empty database to a workspace that can call', () => {
  it('migrates, twice without harm', async () => {
    expect(await parleyJson('migrate')).toEqual({ migrated: true, done: [], gaveWay: 0, newer: [] });
    expect((await parley('migrate')).out).toMatch(/newest schema/);
  });

  it('makes a workspace, switches its API on and sets its limits', async () => {
    expect((await parley('workspace create acme --name Acme')).out).toContain('parley workspace api enable acme');
    expect(await parleyJson('workspace api enable acme')).toMatchObject({ slug: 'acme', apiEnabled: true });
    expect(await parleyJson('workspace limits acme --concurrent 20 --cps 3 --api-rps 50 --api-burst 0')).toMatchObject({
      limits: { concurrentCalls: 20, callsPerSecond: 3, apiRequestsPerSecond: 50, apiBurst: 0 },
    });
    expect(await parleyJson('workspace list')).toHaveLength(1);
    expect((await parley('workspace list')).out).toMatch(
      /WORKSPACE +NAME +API +LIMITS\nacme +Acme +on +20 calls at once/,
    );
  });

  it('makes a key and prints it once; lists, rotates and revokes it without ever showing it again', async () => {
    const created = await parley('key create acme --name first --scopes calls:write,calls:read');
    const text = created.out.split('\n')[0]!;
    const keyId = parseApiKey(text)?.keyId;
    expect(keyId).toBeDefined();
    expect(created.out).toContain('cannot be shown again');
    const rotated = await parleyJson(`key rotate acme ${keyId} --overlap-seconds 60`);
    expect(rotated.created.scopes).toEqual(['calls:write', 'calls:read']);
    expect(await parleyJson(`key revoke acme ${keyId}`)).toMatchObject({ keyId });
    const listed = (await parley('key list acme')).out + (await parley('key list acme --json')).out;
    expect(listed).toMatch(/first +revoked/);
    for (const secret of [text.slice(17), rotated.created.text.slice(17)]) expect(listed).not.toContain(secret);
  });

  it('imports an agent, then its next version, and lists faults by path', async () => {
    const tone = { kind: 'tone', name: 'Tone', direction: 'outbound', toneHz: 440 };
    const good = file('tone.json', JSON.stringify(tone));
    const first = await parleyJson(`agent import acme ${good}`);
    expect(await parleyJson(`agent import acme ${good} --id ${first.id}`)).toMatchObject({ id: first.id, version: 2 });
    expect(await parleyJson('agent list acme')).toMatchObject([{ id: first.id, version: 2, direction: 'outbound' }]);

    const bad = await parley(`agent import acme ${file('bad.json', JSON.stringify({ ...tone, toneHz: 1 }))}`);
    expect([bad.code, bad.out]).toEqual([1, '']);
    expect(bad.err).toBe('The agent has 1 fault:\n  toneHz: must be at least 50\n');
    expect((await parley(`agent import acme ${file('no.json', '{')}`)).err).toMatch(/no\.json is not JSON/);
    expect((await parley(`agent import acme ${folder}/none.json`)).err).toMatch(/cannot be read \(ENOENT\)/);
  });

  it('adds a line with a token from a file, from standard input or from the environment, sealed in the database', async () => {
    const options = '--number +14155550100 --carrier plivo --auth-id MA0';
    const token = file('token', 'token-file\n');
    const line = await parleyJson(`line add acme ${options} --auth-token-file ${token}`);
    await parleyJson(`line credentials acme ${line.id} --auth-id MA1 --auth-token-file -`, { input: 'token-stdin\n' });
    await parleyJson('line add acme --number +14155550101 --carrier plivo', {
      environment: {
        DATABASE_URL: test.connectionString,
        PARLEY_MASTER_KEY: MASTER_KEY,
        PLIVO_AUTH_ID: 'MA2',
        PLIVO_AUTH_TOKEN: 'token-environment',
      },
    });
    const database = openPatientDatabase(test.connectionString);
    const rows = await database.query<{ id: string; workspace_id: string; credentials_sealed: Buffer }>(
      'SELECT * FROM phone_lines ORDER BY number',
    );
    await database.close();
    const opened = (row: (typeof rows)[number]): unknown =>
      JSON.parse(
        createSealer(MASTER_KEY).open(row.credentials_sealed, sealedPlace.lineCredentials(row.workspace_id, row.id)),
      );
    expect(rows.map(opened)).toEqual([
      { authId: 'MA1', authToken: 'token-stdin' },
      { authId: 'MA2', authToken: 'token-environment' },
    ]);
    expect(await parleyJson(`line limits acme ${line.id} --cps 7`)).toMatchObject({ limits: { callsPerSecond: 7 } });
    const listed = await parley('line list acme');
    expect(listed.out).toMatch(/\+14155550100 +plivo +yes +10 at once, 7\/s/);
    expect(listed.out).not.toContain('token-');
  });

  it('refuses a token on the command line, says why, and does not repeat it', async () => {
    const ran = await parley('line add acme --number +14155550100 --carrier plivo --auth-id MA0 --auth-token canary');
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/process list.*--auth-token-file/);
    expect(ran.out + ran.err).not.toContain('canary');
  });

  it('sets, shows and rotates the webhook; the secret is printed by set and rotate only', async () => {
    const set = await parley('webhook set acme --url https://receiver.example/hook');
    expect(set.out).toMatch(/^whsec_[A-Za-z0-9+/]{43}=\n/);
    const rotated = await parleyJson('webhook rotate acme');
    expect(rotated.secret).toMatch(/^whsec_/);
    const shown = (await parley('webhook show acme')).out + (await parley('webhook show acme --json')).out;
    expect(shown).toContain('https://receiver.example/hook');
    expect(shown).toContain('the old secret signs too until');
    expect(shown).not.toContain('whsec_');
  });
});

describe('widget keys on the command line', () => {
  it('are made, bound to origins, switched off and revoked', async () => {
    const made = await parleyJson('widget create acme --name Shop --allow example.com https://*.example.com');
    expect(made.publicKey).toMatch(/^pk_[A-Za-z0-9]{24}$/);
    expect(made.allowedOrigins).toEqual(['https://*.example.com', 'https://example.com']);
    const { publicKey } = made;
    expect((await parleyJson(`widget allow ${publicKey} http://localhost:3000`)).allowedOrigins).toHaveLength(3);
    expect((await parleyJson(`widget deny ${publicKey} example.com`)).allowedOrigins).toEqual([
      'http://localhost:3000',
      'https://*.example.com',
    ]);
    expect((await parley(`widget allow ${publicKey} http://example.com`)).err).toMatch(/plain http/);
    expect((await parleyJson(`widget disable ${publicKey}`)).enabled).toBe(false);
    expect((await parley('widget list acme')).out).toMatch(/disabled/);
    expect((await parleyJson(`widget revoke ${publicKey}`)).revokedAt).not.toBeNull();
    expect((await parley(`widget enable ${publicKey}`)).err).toMatch(/no widget key .* or it is revoked/);
    expect((await parley('widget create acme --name Empty')).out).toMatch(/No page may use it yet/);
  });

  it('have sessions whose length and events are set for the workspace', async () => {
    expect(await parleyJson('widget settings acme')).toEqual({ sessionSeconds: 900, webhooks: true });
    const changed = { sessionSeconds: 600, webhooks: false };
    expect(await parleyJson('widget settings acme --seconds 600 --webhooks off')).toEqual(changed);
    expect(await parleyJson('widget settings acme')).toEqual(changed);
    expect((await parley('widget settings acme --seconds 10')).err).toMatch(/60 to 7200 s, not 10/);
    expect((await parley('widget settings acme --webhooks maybe')).err).toMatch(/on or off/);
  });
});

describe('the command line, used wrongly', () => {
  it('ends with 1 and a sentence, or with JSON when asked', async () => {
    const plain = await parley('workspace api enable nobody');
    expect([plain.code, plain.err]).toEqual([1, "There is no workspace 'nobody'; there are: acme.\n"]);
    const json = await parley('workspace api enable nobody --json');
    expect([json.code, JSON.parse(json.out).error.code]).toEqual([1, 'not_found']);
  });

  it('shows help after an unknown word and after a missing option', async () => {
    expect((await parley('workspace creat acme')).err).toMatch(/unknown command 'creat'/);
    expect((await parley('workspace create acme')).err).toMatch(/required option '--name <name>' not specified/);
    expect((await parley('workspace limits acme --cps many')).err).toBe("'many' is no whole number.\n");
    const help = await parley('--help');
    expect([help.code, help.out.includes('webhook')]).toEqual([0, true]);
  });

  it('names the ways to a database when there is none, and finds that of a running service', async () => {
    const environment = { PARLEY_DATA_DIR: folder };
    const lost = await parley('workspace list', { environment });
    expect(lost.err).toMatch(/No service is running on .*npm start.*DATABASE_URL/);
    const runtime = join(folder, 'runtime.json');
    writeFileSync(runtime, JSON.stringify({ databaseUrl: test.connectionString, masterKeyFile: join(folder, 'key') }));
    file('key', `${MASTER_KEY}\n`);
    expect(await parleyJson('workspace list', { environment })).toHaveLength(1);
    expect((await parley('webhook rotate acme', { environment })).code).toBe(0);
    rmSync(runtime);
  });

  it('refuses to store a secret without a master key, and says that a database is out of reach', async () => {
    const noKey = { DATABASE_URL: test.connectionString, PARLEY_DATA_DIR: join(folder, 'none') };
    expect((await parley('webhook rotate acme', { environment: noKey })).err).toMatch(/set PARLEY_MASTER_KEY/);
    const nowhere = { DATABASE_URL: 'postgresql://parley@127.0.0.1:1/parley' };
    expect((await parley('workspace list', { environment: nowhere })).err).toMatch(
      /cannot be reached \(ECONNREFUSED\)/,
    );
  });
});

describe('parley audit and parley limits', () => {
  it('list who changed what, verify it, and name the row that was tampered with', async () => {
    const environment = {
      DATABASE_URL: test.connectionString,
      PARLEY_MASTER_KEY: MASTER_KEY,
      SUDO_USER: 'anna',
      USER: 'root',
    };
    await parley('workspace create audited --name Audited', { environment });
    await parley('workspace limits audited --concurrent 3 --reserved-phone 1', { environment });
    await parley('workspace limits audited', { environment });
    const rows = await parleyJson('audit list audited');
    expect(rows.map((row: { action: string; actor: string }) => `${row.actor} ${row.action}`)).toEqual([
      'cli:anna workspace.limits_changed',
      'cli:anna workspace.created',
    ]);
    expect(rows[0]).toMatchObject({ before: { concurrentCalls: 10 }, after: { concurrentCalls: 3 }, position: 2 });
    const verified = await parley('audit verify audited');
    expect(verified).toMatchObject({ code: 0 });
    const end = /end (2:[0-9a-f]{64})/.exec(verified.out)?.[1] ?? '';
    expect((await parley(`audit verify audited --expect ${end}`)).code).toBe(0);
    expect((await parley(`audit verify audited --expect 2:${'0'.repeat(64)}`)).out).toContain('row 2 is another');
    expect((await parley('audit verify')).out).toContain('Every row is as it was written.');
    expect((await parley('limits audited')).out).toMatch(/calls +0 of 3 +5\/s/);

    const database = openPatientDatabase(test.connectionString);
    await database.transaction(async (tx) => {
      await tx.query('SET LOCAL session_replication_role = replica');
      await tx.query(`UPDATE audit_log SET actor = 'cli:bob' WHERE target LIKE 'workspace:%' AND position = 1
        AND workspace_id = (SELECT id FROM workspaces WHERE slug = 'audited')`);
    });
    await database.close();
    const broken = await parley('audit verify audited');
    expect(broken.code).toBe(1);
    expect(broken.out).toMatch(/row 1 \([0-9a-f-]{36}\) was changed/);
  });
});
