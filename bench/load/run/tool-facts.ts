/** What the tool says of itself in a result. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/config/built-entry.ts';
import type { RunResult } from '../contract/run-result.ts';

export function toolFacts(): RunResult['tool'] {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string };
  return { version, commit: commitOf(packageRoot()), node: process.version };
}

/** Null in an installed package. */
function commitOf(folder: string): string | null {
  try {
    const git = ['-C', folder, 'rev-parse', '--short=12', 'HEAD'];
    return execFileSync('git', git, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}
