/** A transaction whose process stands still, or whose cable was pulled: nobody waits for its rows for long. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { openDatabase, type Queryable } from '../../../src/store/database.ts';
import { isDatabaseAway } from '../../../src/store/database-away.ts';
import { eventually } from '../../support/eventually.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';

let test: OpenTestDatabase;
beforeAll(async () => {
  test = await openTestDatabase();
  await test.database.query('CREATE TABLE things AS SELECT 1 AS id');
});
afterAll(() => test.close());

/** From here on: a busy machine is late between two statements before, and would lose its session there. */
const hurry = (tx: Queryable): Promise<unknown> => tx.query('SET LOCAL idle_in_transaction_session_timeout = 200');

it('lets go of its rows, and is told that the database went away', async () => {
  const still = openPatientDatabase(test.connectionString);
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
      await hurry(tx);
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
  const still = openPatientDatabase(test.connectionString);
  const stand = () =>
    still.transaction(async (tx) => {
      await tx.query('UPDATE things SET id = 5');
      await hurry(tx);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
      await tx.query('UPDATE things SET id = 6');
    });
  const failureOf = (standing: Promise<void>): Promise<unknown> =>
    standing.then(
      () => null,
      (error: unknown) => error,
    );
  // A server that stood still as long has not ended the session yet.
  expect(await eventually('a session to be ended', () => failureOf(stand()))).toSatisfy(isDatabaseAway);
  await still.close();
});

it('may stand for less time than the lease of a node', async () => {
  const usual = openDatabase({ connectionString: test.connectionString, onIdleError: () => {} });
  const shown = await usual.query('SHOW idle_in_transaction_session_timeout');
  await usual.close();
  expect(shown).toEqual([{ idle_in_transaction_session_timeout: '5s' }]);
});
