import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ACTIVE, ACTIVE_STATUSES } from '../../../src/calls/active-statuses.ts';

const src = fileURLToPath(new URL('../../../src/', import.meta.url));

it('are those of the partial indexes on calls, letter for letter', () => {
  const indexes = ['0001_first_call', '0005_leads'].flatMap((name) => {
    const sql = readFileSync(`${src}store/migrations/${name}.sql`, 'utf8');
    return [...sql.matchAll(/CREATE (?:UNIQUE )?INDEX[^;]*?\bstatus IN (\([^)]*\));/g)].map(([, states]) => states);
  });
  expect(indexes.length).toBeGreaterThanOrEqual(3);
  expect(new Set(indexes)).toEqual(new Set([ACTIVE]));
});

it('are written out in no statement of their own', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(100);
  const list = new RegExp(ACTIVE_STATUSES.map((status) => `['"]${status}['"]`).join(',\\s*'));
  expect(files.filter((path) => list.test(readFileSync(`${src}${path}`, 'utf8')))).toEqual([]);
});
