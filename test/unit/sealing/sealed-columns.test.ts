import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SIGNED_COLUMNS } from '../../../src/key-rotation/resign.ts';
import { SEALED_COLUMNS } from '../../../src/sealing/sealed-columns.ts';
import { sealedPlace } from '../../../src/sealing/sealed-places.ts';
import type { Database } from '../../../src/store/database.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';

let test: OpenTestDatabase;
let database: Database;
beforeAll(async () => {
  test = await openTestDatabase();
  database = test.database;
});
afterAll(() => test.close());

/** Bytes that no master key has made, each with what it is instead; those that are called so are digests. */
const DIGEST = /_sha256$/;
const NOT_UNDER_THE_KEY: Readonly<Record<string, string>> = {
  'audit_log.hash': 'chain',
  'audit_log.prev_hash': 'chain',
  'audit_chains.hash': 'chain',
  'audit_seals.hash': 'chain',
  'call_export_parts.content': 'a file that is made, of what lies unsealed in other tables',
  'lead_imports.content': 'a file that was sent',
  'master_keys.key_id': 'the register itself',
  'master_keys.salt': 'the register itself',
  'master_keys.check_value': 'the register itself',
  'master_key_holders.knows': 'key ids',
  'master_key_holders.seals_with': 'key ids',
  'widget_looks.picture': 'shown to everybody',
};

it('every column of bytes, and every one that is called sealed, is known to rotation or has made no use of the key', async () => {
  const columns = await database.query<{ name: string; type: string }>(
    `SELECT table_name || '.' || column_name AS name, udt_name AS type FROM information_schema.columns
     WHERE table_schema = 'public' AND (udt_name IN ('bytea', '_bytea') OR column_name ~ 'sealed|encrypted|cipher')
       AND (table_name, column_name) NOT IN (('call_recordings', 'sealed_bytes'), ('clips', 'sealed_bytes'))`,
  );
  const known = [...SEALED_COLUMNS, ...SIGNED_COLUMNS].map(({ table, column }) => `${table}.${column}`);
  const stranger = columns
    .map(({ name }) => name)
    .filter((name) => !known.includes(name) && !(name in NOT_UNDER_THE_KEY) && !DIGEST.test(name));
  expect(stranger, 'add it to src/sealing/sealed-columns.ts, or say here what it is').toEqual([]);
  const page = readFileSync(new URL('../../../docs/decisions/sealing.md', import.meta.url), 'utf8');
  expect(known.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  // And the lists name nothing that is not there.
  const there = new Set(columns.map(({ name }) => name));
  const gone = [...known, ...Object.keys(NOT_UNDER_THE_KEY)].filter(
    (name) => !there.has(name) && name !== 'idempotency_keys.response_body',
  );
  expect(gone).toEqual([]);
});

it('every place that can be sealed for is one that rotation finds: a new kind of sealed value has its column', () => {
  const at = { workspaceId: 'w', callUuid: 'c', epoch: 1, methodPath: 'p', key: 'k' };
  const places = Object.values(sealedPlace).map((placeOf) =>
    (placeOf as (...parts: unknown[]) => { table: string })(at, 'x'),
  );
  const found = SEALED_COLUMNS.map((column) => column.placeOf({ key: ['1', '2', '3'], workspaceId: 'w' }).table);
  expect([...new Set(places.map(({ table }) => table))].toSorted()).toEqual([...new Set(found)].toSorted());
});

it('the keys by which rotation goes through a table are its primary keys', async () => {
  for (const { table, key } of [...SEALED_COLUMNS, ...SIGNED_COLUMNS]) {
    const columns = await database.query<{ name: string; type: string }>(
      `SELECT a.attname AS name, format_type(a.atttypid, NULL) AS type FROM pg_index i
       JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (number, place) ON true
       JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
       WHERE i.indrelid = $1::regclass AND i.indisprimary ORDER BY k.place`,
      [table],
    );
    expect(Object.entries(key), table).toEqual(columns.map(({ name, type }) => [name, type]));
  }
});
