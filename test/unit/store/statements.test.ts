/** Which statements get a name, and that real connections take them. */
import { expect, test } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { DAY_TABLES } from '../../../src/store/day-tables.ts';
import { createStatements, isPlannedEachTime, PLAN_EACH_TIME } from '../../../src/store/statements.ts';
import { createTestDatabase } from '../../support/test-database.ts';

test('a text is named from its third time on, always alike, and other texts otherwise', () => {
  const statements = createStatements();
  const names = (sql: string): (string | undefined)[] => [1, 2, 3, 4].map(() => statements.of(sql, []).name);
  const [first, second, third, fourth] = names('SELECT 1');
  expect([first, second]).toEqual([undefined, undefined]);
  expect(third).toBeDefined();
  expect(fourth).toBe(third);
  expect(names('SELECT 2')[3]).not.toBe(third);
});

test('a statement that must be planned each time has no name', () => {
  const statements = createStatements();
  const sql = `${PLAN_EACH_TIME} SELECT 1`;
  for (let time = 0; time < 5; time++) expect(statements.of(sql, [])).toEqual({ text: sql, values: [] });
});

test.each(DAY_TABLES)('what names %s is planned for its calls, wherever in the text it stands', (table) => {
  const texts = [
    `SELECT 1 FROM ${table} WHERE call_uuid = $1`,
    `SELECT 1 FROM calls c\n JOIN ${table} e ON e.call_uuid = c.call_uuid`,
    `SELECT 1 FROM calls, ${table} AS e`,
    `DELETE FROM ${table} WHERE call_uuid = $1`,
    `UPDATE ${table} SET call_uuid = $1`,
    `SELECT (SELECT to_jsonb(found) FROM (SELECT 1 FROM ${table}) AS found) AS r0`,
    `WITH told AS (INSERT INTO ${table} (call_uuid) VALUES ($1)) SELECT 1 FROM ${table}`,
    // Not as everybody writes it: rather planned once too often.
    `insert into  ${table} (call_uuid) VALUES ($1)`,
  ];
  const statements = createStatements();
  for (const sql of texts) {
    expect(isPlannedEachTime(sql)).toBe(true);
    for (let time = 0; time < 5; time++) expect(statements.of(sql, []).name).toBeUndefined();
  }
});

test.each(DAY_TABLES)('what writes rows into %s, or names one of its partitions, keeps its plan', (table) => {
  const texts = [
    `INSERT INTO ${table} (call_uuid) VALUES ($1) RETURNING id`,
    `WITH told AS (INSERT INTO ${table} (call_uuid) SELECT call_uuid FROM calls ON CONFLICT DO NOTHING) SELECT 1`,
    `SELECT 1 FROM ${table}_rest`,
    `SELECT 1 FROM ${table}_20261127`,
  ];
  for (const sql of texts) expect(isPlannedEachTime(sql)).toBe(false);
});

test('at most 300 names, however many texts come', () => {
  const statements = createStatements();
  const named = new Set<string>();
  for (let text = 0; text < 1_000; text++) {
    for (let time = 0; time < 4; time++) {
      const { name } = statements.of(`SELECT ${text}`, []);
      if (name !== undefined) named.add(name);
    }
  }
  expect(named.size).toBe(300);
});

test('PostgreSQL prepares it once on each connection, in and outside a transaction', async () => {
  const { connectionString, close } = await createTestDatabase();
  const database = openPatientDatabase(connectionString);
  try {
    for (let time = 1; time <= 6; time++) {
      const sql = 'SELECT $1::int * 2 AS doubled';
      const rows = await (time % 2 === 0
        ? database.query<{ doubled: number }>(sql, [time])
        : database.transaction((tx) => tx.query<{ doubled: number }>(sql, [time])));
      expect(rows).toEqual([{ doubled: time * 2 }]);
    }
    const prepared = await database.query<{ statement: string }>('SELECT statement FROM pg_prepared_statements');
    expect(prepared.map(({ statement }) => statement)).toEqual(['SELECT $1::int * 2 AS doubled']);
  } finally {
    await database.close();
    await close();
  }
});
