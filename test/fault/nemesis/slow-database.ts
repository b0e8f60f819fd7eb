/**
 * A PostgreSQL that takes its time for each statement: brought into control from outside by a module that is loaded
 * before Parley (`slow-database-preload.mjs`). Used by the nemesis; control must have been started with `env`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../../src/config/built-entry.ts';

export interface SlowDatabase {
  /** Of control. */
  readonly env: Record<string, string>;
  /** It is slow for so long. */
  during(ms: number): Promise<void>;
}

/** Plain JavaScript, which the build does not copy: from `dist/` too it is taken from where it lies. */
const PRELOAD = pathToFileURL(join(packageRoot(), 'test', 'fault', 'nemesis', 'slow-database-preload.mjs'));

/** `lateMs`: each statement. */
export function slowDatabase(lateMs: number): SlowDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'slow-database-'));
  const slowWhile = join(folder, 'slow');
  return {
    env: {
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import ${PRELOAD.href}`,
      SLOW_DATABASE_WHILE: slowWhile,
      SLOW_DATABASE_MS: String(lateMs),
    },
    async during(ms) {
      writeFileSync(slowWhile, '');
      await wait(ms);
      rmSync(folder, { recursive: true });
    },
  };
}
