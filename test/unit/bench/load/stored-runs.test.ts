/** The stored runs are what is made today: a result that changes its shape is noticed, and its readers with it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readResult } from '../../../../bench/load/result/read-result.ts';
import { STORED_RUNS, type StoredRun, storedPath } from '../../../support/load-runs/stored-runs.ts';

/** Other processors and versions of V8 may differ in the last digit of a logarithm. */
const rounded = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, one: unknown) => (typeof one === 'number' ? Number(one.toPrecision(6)) : one)));

describe('the stored run', () => {
  for (const name of Object.keys(STORED_RUNS) as StoredRun[]) {
    it(`${name} is what is made today`, () => {
      const made = STORED_RUNS[name]();
      if (process.env['PARLEY_STORE_RUNS'] === '1') {
        mkdirSync(dirname(storedPath(name)), { recursive: true });
        writeFileSync(storedPath(name), `${JSON.stringify(made, null, 2)}\n`);
      }
      expect(rounded(readResult(storedPath(name)))).toEqual(rounded(made));
    });
  }
});
