import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/built-entry.ts';

/** JSON beside the sources; the compiler does not copy it to `dist/`. `path` is below `bench/`. */
export function readBenchJson<Value>(path: string): Value {
  return JSON.parse(readFileSync(join(packageRoot(), 'bench', path), 'utf8')) as Value;
}
