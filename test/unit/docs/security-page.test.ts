import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../../', import.meta.url);
const page = readFileSync(new URL('docs/security.md', root), 'utf8');

/** The rows of the tables that say what holds, without their heads. */
const claims = page
  .split(/^## /m)
  .filter((section) => section.includes('| held by |'))
  .flatMap((section) => section.split('\n').filter((line) => line.startsWith('| ')))
  .filter((line) => !line.startsWith('| what holds'));

test('docs/security.md names, for each thing that it claims, tests that exist', () => {
  expect(claims.length).toBeGreaterThan(30);
  const without = claims.filter((claim) => !/\| `test\/[^`]+\.test\.ts`[^|]*\|$/.test(claim));
  expect(without).toEqual([]);
  const named = new Set(page.match(/(?<=`)test\/[^`\s]+(?=`)/g));
  expect([...named].filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});

test('docs/security.md names parts of the source that exist', () => {
  const named = new Set(page.match(/(?<=`)(?:src|media)\/[^`\s]+(?=`)/g));
  expect(named.size).toBeGreaterThan(15);
  expect([...named].filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});
