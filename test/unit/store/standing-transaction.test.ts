/** A transaction whose process stands still, or whose cable was pulled: nobody waits for its rows for long. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../../src/store/database.ts';
import { isDatabaseAway } from '../../../src/store/database-away.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';

let test: OpenTestDatabase;
beforeAll(async () => {
  test = await openTestDatabase();
  await test.database.query('CREATE TABLE things AS SELECT 1 AS id');
});
afterAll(() => test.close());

it('lets go of its rows, and is told that the database went away', async () => {
  const still = openDatabase({ connectionString: test.connectionString, pauseLimitMs: 200, onIdleError: () => {} });
  let goOn = (): void => {};
  const going = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let hasLocked = (): void => {};
  const locked = new Promise<void>((resolve) => {
    hasLocked = resolve;
  });
  const standing = still
    .transaction(async (tx) => {
      await tx.query('UPDATE things SET id = 2');
      hasLocked();
      await going;
      await tx.query('UPDATE things SET id = 3');
    })
    .catch((error: unknown) => error);
  await locked;
  expect(await test.database.query('UPDATE things SET id = 4 RETURNING id')).toEqual([{ id: 4 }]);
  goOn();
  expect(await standing).toSatisfy(isDatabaseAway);
  expect(await still.query('SELECT id FROM things'), 'and the next session is another').toEqual([{ id: 4 }]);
  await still.close();
});

it('is told the same where its process stood still and had asked on before it heard of that', async () => {
  const still = openDatabase({ connectionString: test.connectionString, pauseLimitMs: 200, onIdleError: () => {} });
  const stood = still.transaction(async (tx) => {
    await tx.query('UPDATE things SET id = 5');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
    await tx.query('UPDATE things SET id = 6');
  });
  const failure = await stood.catch((error: unknown) => error);
  expect(failure).toSatisfy(isDatabaseAway);
  await still.close();
});

it('may stand for less time than the lease of a node', async () => {
  const usual = openDatabase({ connectionString: test.connectionString, onIdleError: () => {} });
  const shown = await usual.query('SHOW idle_in_transaction_session_timeout');
  await usual.close();
  expect(shown).toEqual([{ idle_in_transaction_session_timeout: '5s' }]);
});
