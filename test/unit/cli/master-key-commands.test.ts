import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { ROTATION_LOCK } from '../../../src/cli/master-key-commands.ts';
import { joinHolders, readRegister } from '../../../src/sealing/key-register.ts';
import { masterKeyOf } from '../../../src/sealing/master-keys.ts';
import { type Database, trySessionLock } from '../../../src/store/database.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { runParley } from '../../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

const [FIRST, SECOND, THIRD] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string];
const folder = mkdtempSync(join(tmpdir(), 'parley-master-key-'));
const file = join(folder, 'master.key');

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = openPatientDatabase(test.connectionString, 10);
  writeFileSync(file, `${FIRST}\n`, { mode: 0o600 });
  await parley('workspace create acme --name Acme');
  writeFileSync(join(folder, 'value'), 'secret-canary');
  await parley(`secret set acme SHOP_KEY --value-file ${join(folder, 'value')}`);
});
afterAll(async () => {
  await database.close();
  await test.close();
  rmSync(folder, { recursive: true, force: true });
});

function parley(words: string, environment: Record<string, string> = {}) {
  return runParley(words.split(' '), { DATABASE_URL: test.connectionString, PARLEY_DATA_DIR: folder, ...environment });
}

const underWhich = async (): Promise<string[]> =>
  (await readRegister(database)).map(({ keyId, state }) => {
    const name = [FIRST, SECOND, THIRD].findIndex((key) => masterKeyOf(key).id.equals(keyId));
    return `${['first', 'second', 'third'][name]} ${state}`;
  });

describe('parley master-key', () => {
  it('goes on with the key that a killed run had written into the file, and strips the file that another left', async () => {
    expect(await underWhich()).toEqual(['first sealing']);
    // Killed after the file was written and before the database heard of it.
    writeFileSync(file, `${SECOND}\n${FIRST}\n`);
    const done = await parley('--json master-key rotate --pause 0');
    expect(done.err).toContain('The new key is announced.');
    expect(JSON.parse(done.out)).toMatchObject({ rotated: true, resealed: 1, unreadable: {} });
    expect(readFileSync(file, 'utf8')).toBe(`${SECOND}\n`);
    expect(await underWhich()).toEqual(['second sealing']);
    // Killed after the database was done and before the file was.
    writeFileSync(file, `${SECOND}\n${FIRST}\n`);
    expect(JSON.parse((await parley('--json master-key rotate')).out)).toEqual({ rotated: false });
    expect(readFileSync(file, 'utf8')).toBe(`${SECOND}\n`);
    expect((await parley('audit verify')).code).toBe(0);
  });

  it('makes no key beside another run, and the file stays as that one wrote it', async () => {
    const other = await trySessionLock(test.connectionString, ROTATION_LOCK);
    try {
      const refused = await parley('master-key rotate');
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('Another run of this command')]);
      expect(readFileSync(file, 'utf8')).toBe(`${SECOND}\n`);
      expect(await underWhich()).toEqual(['second sealing']);
    } finally {
      await other!.release();
    }
    const after = await trySessionLock(test.connectionString, ROTATION_LOCK);
    expect(after).not.toBeNull();
    await after!.release();
  });

  it('tells how many values lie under the key, and that the former one is none', async () => {
    const status = await parley('master-key status');
    expect(status.out).toMatch(/workspace_secrets\.value_sealed +1 +0\n/);
    expect(status.out).toContain('Everything is sealed under this key.');
    const other = await parley('secret set acme TOOL_SIGNING_SECRET --generate', { PARLEY_MASTER_KEY: FIRST });
    expect([other.code, other.err]).toEqual([
      1,
      expect.stringMatching(/sealed under another master key.*key of the others/),
    ]);
  });

  it('with a key of the operator’s own wants both, and says how', async () => {
    const one = await parley('master-key rotate', { PARLEY_MASTER_KEY: SECOND });
    expect([one.code, one.err]).toEqual([1, expect.stringMatching(/only one key.*PARLEY_MASTER_KEY_PREVIOUS/)]);
    const done = await parley('master-key rotate', { PARLEY_MASTER_KEY: SECOND, PARLEY_MASTER_KEY_PREVIOUS: FIRST });
    expect(done.out).toContain('Take the previous key out of the settings of every node');
    const turned = { PARLEY_MASTER_KEY: THIRD, PARLEY_MASTER_KEY_PREVIOUS: FIRST };
    expect((await parley('master-key rotate', turned)).err).toContain('sealed under another master key');
    expect((await parley('master-key rotate --batch 0')).err).toContain('A batch has 1 to 1000 values');
  });

  it('adopts another key only when the former is said to be lost and nobody works with it', async () => {
    const third = { PARLEY_MASTER_KEY: THIRD };
    expect((await parley('master-key adopt', third)).err).toContain('--former-key-is-lost');
    const holder = '0199d3c0-0000-7000-8000-000000000001';
    await joinHolders(database, [masterKeyOf(SECOND)], { holder, name: 'control' });
    expect((await parley('master-key adopt --former-key-is-lost', third)).err).toContain('stop it first');
    await database.query('DELETE FROM master_key_holders');
    expect((await parley('master-key adopt --former-key-is-lost', third)).code).toBe(0);
    expect(await underWhich()).toEqual(['third sealing']);
    expect((await parley('master-key status', third)).out).toMatch(/workspace_secrets\.value_sealed +0 +1\n/);
  });

  it('its tables come to a database that has later migrations already', async () => {
    await database.query('DROP TABLE master_keys, master_key_holders');
    await database.query(`DELETE FROM migrations WHERE name = '0027_master_keys'`);
    await migrate(test.connectionString);
    expect(await readRegister(database)).toEqual([]);
  });
});
