/**
 * `writeReport(result, path)`: the result of a run as one HTML file for people. Called when a run is over, and by
 * `report` for a stored one. The plots are drawn by uPlot, whose script and style sheet are read from its package and
 * lie in the file as they are.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../../src/config/built-entry.ts';
import type { RunResult } from '../contract/run-result.ts';
import type { JudgedCondition } from '../result/fail-if.ts';
import { pageOf } from './page.ts';

/**
 * `conditions`: what `--fail-if` found. Throws what the disk says where it cannot write; then there is no half of a
 * file.
 */
export function writeReport(result: RunResult, path: string, conditions: readonly JudgedCondition[] = []): void {
  const page = pageOf(result, conditions, {
    styles: [packaged('uPlot.min.css'), ours('report.css')],
    scripts: [packaged('uPlot.iife.min.js'), ours('plots.mjs')],
  });
  const part = `${path}.part`;
  try {
    writeFileSync(part, page);
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

function packaged(file: string): string {
  const folder = dirname(createRequire(import.meta.url).resolve('uplot'));
  return readFileSync(join(folder, file), 'utf8');
}

/** Not built: what browsers read lies in the package as it is. */
function ours(file: string): string {
  return readFileSync(join(packageRoot(), 'bench', 'load', 'report', 'page', file), 'utf8');
}
