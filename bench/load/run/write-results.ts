/** Writes what a run found: JSON for machines, HTML for people. Called by the run command; a full disk is told. */
import { accessSync, constants, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RunResult } from '../contract/run-result.ts';
import { TargetFault } from '../contract/target.ts';
import { writeReport } from '../report/write-report.ts';
import type { JudgedCondition } from '../result/fail-if.ts';

/** Before a run: throws a `TargetFault` where nothing could be written afterwards. */
export function prepareOutput(folder: string): string {
  const path = resolve(folder);
  try {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.W_OK);
    return path;
  } catch (error) {
    throw new TargetFault(`--out ${folder}: cannot be written to (${(error as Error).message}); name another folder`);
  }
}

export interface Written {
  paths: string[];
  /** A sentence for each that could not be written. */
  faults: string[];
}

/** `name` without an ending. Half a file is none: it is removed. */
export function writeResults(
  result: RunResult,
  conditions: readonly JudgedCondition[],
  folder: string,
  name: string,
): Written {
  const written: Written = { paths: [], faults: [] };
  const attempt = (ending: string, write: (path: string) => void): void => {
    const path = join(folder, `${name}.${ending}`);
    try {
      write(path);
      written.paths.push(path);
    } catch (error) {
      rmSync(path, { force: true });
      written.faults.push(`${path} could not be written: ${(error as Error).message}`);
    }
  };
  attempt('json', (path) => writeFileSync(path, `${JSON.stringify(result, null, 1)}\n`));
  attempt('html', (path) => writeReport(result, path, conditions));
  return written;
}
