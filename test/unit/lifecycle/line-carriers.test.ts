import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Carrier } from '../../../src/carriers/carrier.ts';
import { createLineCarriers } from '../../../src/lifecycle/line-carriers.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';
import type { Database } from '../../../src/store/database.ts';
import { addLine, purgePastCredentials, removeLine, setLineCredentials } from '../../../src/workspaces/lines.ts';
import { createWorkspace } from '../../../src/workspaces/workspaces.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

let test: OpenTestDatabase;
let database: Database;
const sealer = createSealer('ab'.repeat(32));
beforeAll(async () => {
  test = await openTestDatabase();
  database = test.database;
  await createWorkspace(database, { slug: 'acme', name: 'Acme' });
});
afterAll(() => test.close());

it('a live call is ended with the credentials that it was placed with, though its line got others, and was removed', async () => {
  const slug = 'acme';
  const first = { authId: 'MA1', authToken: 'first' };
  const line = await addLine(database, sealer, { slug, number: '+14155550100', carrier: 'plivo', credentials: first });
  const clock = new VirtualClock();
  const carriers = createLineCarriers({
    database,
    clock,
    open: sealer.open,
    registry: {
      carrierFor: (_name: string, credentials: Record<string, string>) => credentials as unknown as Carrier,
    } as never,
  });
  const tokenOf = async (lineCredentialsVersion: number | null) => {
    const call = { lineId: line.id, carrier: 'plivo', lineCredentialsVersion };
    return ((await carriers.of(call)) as unknown as typeof first).authToken;
  };
  expect(await tokenOf(1)).toBe('first');
  await setLineCredentials(database, sealer, { slug, lineId: line.id, credentials: { ...first, authToken: 'second' } });
  expect([await tokenOf(1), await tokenOf(2), await tokenOf(null)]).toEqual(['first', 'second', 'second']);
  // Whoever places a call has read them.
  carriers.placedWith({ authToken: 'third' } as unknown as Carrier, { lineId: line.id, version: 3 });
  expect(await tokenOf(3)).toBe('third');
  clock.advanceMs(60_000);
  expect(await tokenOf(3)).toBe('second');
  await removeLine(database, { slug, lineId: line.id });
  expect([await tokenOf(1), await tokenOf(2)]).toEqual(['first', 'second']);

  await purgePastCredentials(database);
  expect(await tokenOf(1)).toBe('first');
  await database.query(`UPDATE past_line_credentials SET replaced_at = now() - interval '25 hours'`);
  await purgePastCredentials(database);
  clock.advanceMs(60_000);
  await expect(tokenOf(1)).rejects.toThrow(/has no credentials/);
});
