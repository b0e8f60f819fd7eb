/** New migrations are run beside nodes of this version and of the one before: docs/operations.md, "Upgrades". */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { knownMigrations, migrationsFolder, statementsOf } from '../../../src/store/migration-files.ts';
import { migrationFaults } from '../../support/migration-faults.ts';

/** Those up to it were written for nodes that stand still meanwhile. */
const LAST_BEFORE_THE_RULE = 50;

/** By file: why it need not hold. */
const EXCUSED: Readonly<Record<string, string>> = {
  '0053_call_events_key': 'the table has its partitions from 0058 on',
};

const FAULTY: [string, RegExp][] = [
  ['CREATE INDEX calls_x ON calls (carrier)', /CONCURRENTLY/],
  ['CREATE UNIQUE INDEX calls_x ON calls (carrier)', /CONCURRENTLY/],
  ['CREATE INDEX CONCURRENTLY IF NOT EXISTS x ON calls (carrier); SELECT 1', /file of its own/],
  ['CREATE INDEX CONCURRENTLY IF NOT EXISTS x ON call_events (kind)', /partitions/],
  ["UPDATE calls SET status = 'x'", /batches/],
  ['ALTER TABLE calls ADD CONSTRAINT c CHECK (epoch > 0)', /NOT VALID/],
  ['ALTER TABLE calls ADD COLUMN other uuid REFERENCES users (id)', /NOT VALID/],
  ['ALTER TABLE call_events ADD COLUMN at timestamptz DEFAULT clock_timestamp()', /each row/],
  ['ALTER TABLE calls ALTER COLUMN epoch TYPE bigint', /each row/],
  ['ALTER TABLE calls ALTER COLUMN epoch SET NOT NULL', /under its lock/],
  ['ALTER TABLE users DROP COLUMN email', /a release later/],
  ['DROP TABLE users', /a release later/],
  ['ALTER TABLE users RENAME COLUMN email TO mail', /a release later/],
  ['ALTER TABLE users ADD COLUMN x integer NOT NULL', /a release later/],
];

const FIT: [string, string][] = [
  ['0099_x', 'CREATE INDEX CONCURRENTLY IF NOT EXISTS x ON calls (carrier)'],
  ['0099_x', 'CREATE TABLE new_ones (n integer); CREATE INDEX x ON new_ones (n); DROP TABLE new_ones'],
  ['0099_x', 'CREATE INDEX x ON users (email)'],
  ['0099_x', "ALTER TABLE calls ADD COLUMN word text NOT NULL DEFAULT ''"],
  ['0099_x', 'ALTER TABLE calls ADD CONSTRAINT c CHECK (epoch > 0) NOT VALID'],
  ['0099_contract_after_0098_email', 'ALTER TABLE users DROP COLUMN email'],
];

describe('migrations', () => {
  it.each(FAULTY)('may not do it so: %s', (sql, fault) => {
    expect(migrationFaults('0099_x', sql).join('\n')).toMatch(fault);
  });

  it.each(FIT)('may do it so: %s, %s', (name, sql) => {
    expect(migrationFaults(name, sql)).toEqual([]);
  });

  it('all keep to that', () => {
    const faults = knownMigrations()
      .filter((name) => Number.parseInt(name, 10) > LAST_BEFORE_THE_RULE && !(name in EXCUSED))
      .flatMap((name) => migrationFaults(name, statementsOf(join(migrationsFolder(), `${name}.sql`))));
    expect(faults).toEqual([]);
  });
});
