import { expect, test } from 'vitest';
import { limitsIn } from '../../../src/store/address-limits.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { openTestDatabase } from '../../support/test-database.ts';

const at = (query: string) => `postgresql://parley@db/parley${query}`;

test.each([
  [at(''), 2_000],
  [at('?connect_timeout=10'), 10_000],
  [at('?sslmode=require&connect_timeout=3&application_name=x'), 3_000],
  [at('?connect_timeout=0'), 2_000],
  [at('?connect_timeout=soon'), 2_000],
  [at('?tcp_connect_timeout=9'), 2_000],
])('%s: a new session is waited for %i ms', (address, expected) => {
  expect(limitsIn(address).connectMs).toBe(expected);
});

test.each([
  [at(''), 10_000, 12_000],
  [at('?connect_timeout=10&statement_timeout=30000'), 30_000, 32_000],
  [at('?statement_timeout=0'), 10_000, 12_000],
])('%s: a statement may take %i ms, its answer %i', (address, statementMs, answerMs) => {
  expect(limitsIn(address)).toMatchObject({ statementMs, answerMs });
});

test.each([
  ['', '10s'],
  ['statement_timeout=34567', '34567ms'],
])('the server knows how long a statement may take: %s', async (said, expected) => {
  const made = await openTestDatabase();
  const database = openDatabase({
    connectionString: made.connectionString.replace(/statement_timeout=\d+/, said),
    maxConnections: 1,
    onIdleError: () => {},
  });
  const shown = await database.query('SHOW statement_timeout');
  await database.close();
  await made.close();
  expect(shown).toEqual([{ statement_timeout: expected }]);
});
