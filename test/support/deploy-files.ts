/** What lies in `deploy/`, and which settings the code reads, for tests that hold the one to the other. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/built-entry.ts';

export const DEPLOY = join(packageRoot(), 'deploy');
export const CHART = join(DEPLOY, 'helm/parley');

export function deployFile(path: string): string {
  return readFileSync(join(DEPLOY, path), 'utf8');
}

/** All templates of the chart, one behind the other. */
export function chartTemplates(): string {
  const folder = join(CHART, 'templates');
  return readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
}

/** Names of variables in capitals that the readers of settings know. */
export function settingNames(): Set<string> {
  const folder = join(packageRoot(), 'src/config');
  const sources = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  return new Set(sources.join('\n').match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\bPORT\b|\bHOST\b/g));
}

export interface ValueLine {
  /** `metrics.rules.enabled` */
  path: string;
  /** Nothing stands below it. */
  isLeaf: boolean;
  /** A comment stands above it, or above those that it stands with. */
  isExplained: boolean;
}

/** The keys of `values.yaml`, which is written one key a line, two blanks a step. */
export function chartValues(): ValueLine[] {
  const lines = readFileSync(join(CHART, 'values.yaml'), 'utf8').split('\n');
  const found: ValueLine[] = [];
  const stack: { indent: number; key: string }[] = [];
  for (const [at, line] of lines.entries()) {
    const [, blanks, key, rest] = /^( *)([A-Za-z-]+):(.*)$/.exec(line) ?? [];
    if (blanks === undefined || key === undefined) continue;
    while (stack.length > 0 && stack.at(-1)!.indent >= blanks.length) stack.pop();
    const above = lines.slice(0, at);
    const group = above.slice(above.lastIndexOf('') + 1);
    const isExplained = group.some((one) => one.startsWith(`${blanks}#`));
    stack.push({ indent: blanks.length, key });
    found.push({ path: stack.map((one) => one.key).join('.'), isLeaf: rest?.trim() !== '', isExplained });
  }
  return found;
}
