/**
 * Writes what a run found: JSON for machines, HTML for people. Called by the run command. A disk that is full by then
 * must not cost an hour's figures: what cannot be written where it should be is written to the system's folder for
 * temporary files.
 */
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { makeFolder } from '../../harness/make-folder.ts';
import type { RunResult } from '../contract/run-result.ts';
import { TargetFault } from '../contract/target.ts';
import { writeReport } from '../report/write-report.ts';
import type { JudgedCondition } from '../result/fail-if.ts';

/** Before a run: throws a `TargetFault` where nothing could be written afterwards. */
export function prepareOutput(folder: string): string {
  const path = resolve(folder);
  try {
    makeFolder(path);
    accessSync(path, constants.W_OK);
    return path;
  } catch (error) {
    throw new TargetFault(`--out ${folder}: cannot be written to (${(error as Error).message}); name another folder`);
  }
}

/** Where the sound of calls is kept until the worst are known. Throws a `TargetFault`. */
export function makeSoundFolder(parent = tmpdir()): string {
  try {
    return mkdtempSync(join(parent, 'parley-load-'));
  } catch (error) {
    const why = (error as Error).message;
    throw new TargetFault(
      `the sound of calls is kept in ${parent}, which cannot be written to (${why}); set TMPDIR to another folder, or say --no-sound`,
    );
  }
}

export interface Written {
  paths: string[];
  /** A sentence for each that could not be written where it should be. */
  faults: string[];
}

/** `name` without an ending; `spare`: where what `folder` does not take is written. */
export function writeResults(
  result: RunResult,
  conditions: readonly JudgedCondition[],
  { folder, name, spare = tmpdir() }: { folder: string; name: string; spare?: string },
): Written {
  const written: Written = { paths: [], faults: [] };
  const writeTo = (path: string, write: (path: string) => void): string | null => {
    try {
      write(path);
      written.paths.push(path);
      return null;
    } catch (error) {
      // Half a file is none.
      rmSync(path, { force: true });
      return (error as Error).message;
    }
  };
  const attempt = (file: string, write: (path: string) => void): void => {
    const path = join(folder, file);
    const fault = writeTo(path, write);
    if (fault === null) return;
    const why = writeTo(join(spare, file), write);
    const instead = why === null ? `it is in ${spare}` : `nor in ${spare} (${why})`;
    written.faults.push(`${path} could not be written (${fault}): ${instead}`);
  };
  attempt(`${name}.json`, (path) => writeFileSync(path, `${JSON.stringify(result, null, 1)}\n`));
  attempt(`${name}.html`, (path) => writeReport(result, path, conditions));
  return written;
}
