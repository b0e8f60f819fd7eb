/**
 * The free conversation of the demo, as a user sees it: recogniser, model and voice of emulated providers, real sound
 * all the way. The demo's own verdict decides (`bench/demo/restaurant/restaurant-verdict.ts`).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { builtEntry } from '../../src/config/built-entry.ts';
import { runNode } from '../support/run-node.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'parley-free-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test('a caller asks, corrects, interrupts and books, and the agent ends the call', async () => {
  const args = ['--once', '--agent', 'cascade', '--data-dir', dataDir];
  // What else runs on the machine is not what this is about.
  const environment = { ...process.env, PARLEY_ADMISSION: 'counted' };
  const { code, out } = await runNode([builtEntry('bench/demo/main.js'), ...args], environment);
  expect(out.split('\n').filter((line) => line.includes('FAILED'))).toEqual([]);
  expect(out).toContain('The conversation really happened.');
  expect(code).toBe(0);
});
