import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../src/store/database.ts';
import { createWorkspace, listWorkspaces, setWorkspaceLimits } from '../../../src/workspaces/workspaces.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';

let test: OpenTestDatabase;
let database: Database;
beforeAll(async () => {
  test = await openTestDatabase();
  database = test.database;
});
afterAll(() => test.close());

it('the share of the phone is carried over where somebody had set it, 0 too, and is half where nobody had', async () => {
  for (const slug of ['never-set', 'set', 'set-to-none']) await createWorkspace(database, { slug, name: slug });
  // As a former version left them.
  await setWorkspaceLimits(database, { slug: 'set-to-none', limits: { reservedPhoneCalls: 4 } });
  await setWorkspaceLimits(database, { slug: 'set-to-none', limits: { reservedPhoneCalls: 0 } });
  await database.query('UPDATE workspaces SET phone_calls_kept = NULL');
  await database.query(`UPDATE workspaces SET reserved_phone_calls = 2 WHERE slug = 'set'`);
  const file = new URL('../../../src/store/migrations/0026_phone_share.sql', import.meta.url);
  await database.query(/^UPDATE[^;]+;/m.exec(readFileSync(file, 'utf8'))![0]);
  const kept = (await listWorkspaces(database)).map(({ slug, limits }) => [slug, limits.reservedPhoneCalls]);
  expect(kept).toEqual([
    ['never-set', 5],
    ['set', 2],
    ['set-to-none', 0],
  ]);
});
