import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { type CommandKeys, openCommandKeys } from '../../../src/cli/command-keys.ts';
import { leaveHolders, readHolders } from '../../../src/sealing/key-register.ts';
import { masterKeyOf } from '../../../src/sealing/master-keys.ts';
import type { Database } from '../../../src/store/database.ts';
import { eventually } from '../../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const KEY = masterKeyOf('a'.repeat(64));

let test: TestDatabase;
let database: Database;
let clock: VirtualClock;
let holder: string;
beforeAll(async () => {
  test = await createTestDatabase();
  // One connection: what is asked is answered in order.
  database = openPatientDatabase(test.connectionString);
});
afterAll(async () => {
  await database.close();
  await test.close();
});
beforeEach(() => {
  clock = new VirtualClock();
  holder = randomUUID();
});

const open = (): Promise<CommandKeys> => openCommandKeys({ database, clock, holder, candidates: [KEY] });
const isHolder = async (): Promise<boolean> => (await readHolders(database)).some((one) => one.holder === holder);

describe('the keys of a command', () => {
  it('are held while it runs, however long that is, and no longer', async () => {
    const keys = await open();
    for (let times = 0; times < 4; times++) {
      await database.query(`UPDATE master_key_holders SET seen_at = seen_at - interval '25 seconds'`);
      clock.advanceMs(10_000);
      // The next look is planned when the database has heard of this one.
      await eventually('the command to say that it is there', () => clock.pendingTimers === 1);
      expect(await isHolder()).toBe(true);
      expect(keys.current()).toBe(KEY);
    }
    await keys.close();
    expect([await isHolder(), clock.pendingTimers]).toEqual([false, 0]);
  });

  it('seal nothing any more when it stood still for so long that no rotation waits for it', async () => {
    const keys = await open();
    await database.query(`UPDATE master_key_holders SET seen_at = seen_at - interval '31 seconds'`);
    expect(await isHolder()).toBe(false);
    clock.advanceMs(25_001);
    expect(() => keys.current()).toThrow('run it again');
    await keys.close();
  });

  it('are not held again by a command that has left', async () => {
    const keys = await open();
    await leaveHolders(database, holder);
    clock.advanceMs(10_000);
    expect(await isHolder()).toBe(false);
    await keys.close();
  });
});
