/** Migrations run once, beside a service that is at work, and are fit for versions before and after. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrate } from '../../../src/store/migrate.ts';
import { knownMigrations } from '../../../src/store/migration-files.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';

let test: OpenTestDatabase;
let folder: string;
beforeEach(async () => {
  test = await openTestDatabase({ maxConnections: 2 });
  folder = mkdtempSync(join(tmpdir(), 'parley-migrations-'));
  await test.database.query('CREATE TABLE filled (n integer)');
  await test.database.query('INSERT INTO filled SELECT generate_series(1, 100)');
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await test.close();
});

function file(name: string, sql: string): void {
  writeFileSync(join(folder, `${name}.sql`), `${sql}\n-- Down Migration\n-- Never.\nDROP TABLE filled;\n`);
}

async function isValid(index: string): Promise<boolean | undefined> {
  const rows = await test.database.query<{ valid: boolean }>(
    'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
    [index],
  );
  return rows[0]?.valid;
}

describe('migrating', () => {
  it('runs what is missing, once, whoever else does so; an index beside running writes too', async () => {
    file('9001_column', 'ALTER TABLE filled ADD COLUMN word text;');
    file('9002_index', '-- beside\nCREATE INDEX CONCURRENTLY IF NOT EXISTS filled_n ON filled (n);');
    file('9003_table', 'CREATE TABLE another (n integer); INSERT INTO another VALUES (1);');
    const all = await Promise.all([1, 2, 3].map(() => migrate(test.connectionString, { folder })));
    expect(all.flatMap(({ done }) => done)).toEqual(['9001_column', '9002_index', '9003_table']);
    expect(await test.database.query('SELECT * FROM another')).toHaveLength(1);
    expect(await isValid('filled_n')).toBe(true);
    expect(await migrate(test.connectionString, { folder })).toMatchObject({ done: [], gaveWay: 0 });
  });

  it('runs texts with two dashes in them as they stand', async () => {
    file('9001_words', "CREATE TABLE said (word text);\nINSERT INTO said VALUES ('one -- two'), ('three'); -- 'four'");
    await migrate(test.connectionString, { folder });
    expect(await test.database.query('SELECT word FROM said ORDER BY word')).toEqual([
      { word: 'one -- two' },
      { word: 'three' },
    ]);
  });

  it('gives way to whoever uses a table, and does it later', async () => {
    file('9001_column', 'ALTER TABLE filled ADD COLUMN word text;');
    const other = new pg.Client({ connectionString: test.connectionString });
    await other.connect();
    await other.query('BEGIN; SELECT * FROM filled');
    let letGo: Promise<unknown> | undefined;
    const say = (): void => {
      letGo = other.query('COMMIT');
    };
    const { done, gaveWay } = await migrate(test.connectionString, { folder, lockLimitMs: 20, say });
    expect([done, gaveWay >= 1]).toEqual([['9001_column'], true]);
    await letGo;
    await other.end();
  });

  it('gives up with the session that is in its way; what was done stays', async () => {
    file('9001_table', 'CREATE TABLE another (n integer);');
    file('9002_column', 'ALTER TABLE filled ADD COLUMN word text;');
    const other = new pg.Client({ connectionString: test.connectionString, application_name: 'report' });
    await other.connect();
    await other.query('BEGIN; SELECT * FROM filled');
    const failed = migrate(test.connectionString, { folder, lockLimitMs: 20, giveUpAfterMs: 0 });
    await expect(failed).rejects.toThrow(/in use all the time.*\(report, idle in transaction/);
    await other.end();
    expect((await migrate(test.connectionString, { folder })).done).toEqual(['9002_column']);
  });

  it('gives up with the session that migrates all the time', async () => {
    file('9001_table', 'CREATE TABLE another (n integer);');
    const other = new pg.Client({ connectionString: test.connectionString, application_name: 'stuck' });
    await other.connect();
    const { rows } = await other.query('SELECT pg_backend_pid() AS pid, pg_advisory_lock(7241865325823964)');
    const failed = migrate(test.connectionString, { folder, giveUpAfterMs: 0 });
    await expect(failed).rejects.toThrow(`too long: session ${rows[0].pid} (stuck, idle). Look`);
    await other.end();
  });

  it('makes an index anew that was left half made', async () => {
    file('9001_unique', 'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS filled_n ON filled (n);');
    await test.database.query('INSERT INTO filled VALUES (1)');
    await expect(migrate(test.connectionString, { folder })).rejects.toThrow(/filled_n/);
    expect(await isValid('filled_n')).toBe(false);
    await test.database.query('DELETE FROM filled WHERE n = 1');
    expect((await migrate(test.connectionString, { folder })).done).toEqual(['9001_unique']);
    expect(await isValid('filled_n')).toBe(true);
  });
});

describe('a database of a later version', () => {
  const newest = Number.parseInt(knownMigrations().at(-1)!, 10);
  const later = (name: string): Promise<unknown[]> =>
    test.database.query('INSERT INTO migrations (name, run_on) VALUES ($1, now())', [name]);

  it('serves this one, which says so', async () => {
    await later('9999_more');
    await later(`9999_contract_after_${String(newest).padStart(4, '0')}_calls_column`);
    expect((await migrate(test.connectionString)).newer).toHaveLength(2);
  });

  it('does not serve one that needs what was taken away', async () => {
    await later(`9999_contract_after_${String(newest + 1).padStart(4, '0')}_calls_column`);
    await expect(migrate(test.connectionString)).rejects.toThrow(/taken away from the database.*calls_column/);
  });
});
