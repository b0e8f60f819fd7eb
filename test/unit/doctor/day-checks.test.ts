/** What `parley doctor` says of the days of events and turns. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkDays } from '../../../src/doctor/day-checks.ts';
import { makeDays } from '../../../src/store/day-maker.ts';
import { DAY_MS, dayOf, idAt, partitionOf } from '../../support/call-days.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';
import { unhurried } from '../../support/unhurried-days.ts';

let test: OpenTestDatabase;
beforeAll(async () => {
  test = await openTestDatabase();
});
afterAll(() => test.close());

const told = async (): Promise<string[]> =>
  (await checkDays(test.database)).map(({ level, detail }) => `${level}: ${detail}`);

it('they are made ahead', async () => {
  expect(await told()).toEqual([`ok: 9 of call_turns, 9 of call_events, tomorrow's among them`]);
});

it('one is missing for tomorrow, until a node makes it', async () => {
  const part = partitionOf('call_events', Date.now() + DAY_MS);
  await test.database.query('SELECT drop_day($1)', [part]);
  expect(await told()).toEqual(['warn: call_events has none for tomorrow']);
  await makeDays(unhurried(test.database), Date.now());
  expect((await told()).join()).toMatch(/^ok/);
});

it('many rows lie in the rest, which makes the making of days slow', async () => {
  await test.database.query(`INSERT INTO call_turns SELECT $1, n::text, n, '{}' FROM generate_series(1, 10001) AS n`, [
    idAt(Date.now() + 40 * DAY_MS),
  ]);
  expect(await told()).toEqual(['warn: call_turns_rest has more than 10000 rows']);
  await test.database.query('DELETE FROM call_turns WHERE position = 1');
  expect((await told()).join()).toMatch(/^ok/);
});

it('the rest takes no row of a day whose making was broken off', async () => {
  const day = dayOf(Date.now() + 20 * DAY_MS);
  await test.database.query(`SELECT rest_without('call_events', $1::date, 'refuse')`, [day]);
  const [fault] = await checkDays(test.database);
  expect(fault).toMatchObject({ level: 'warn', detail: expect.stringContaining(`without_${day.replaceAll('-', '')}`) });
  await test.database.query(fault!.wayOut!.replace(/.*Or: /, ''));
  expect((await told()).join()).toMatch(/^ok/);
});
