/**
 * Reads the JSON of a run. What is no such file, is of another version, was cut off or was changed by hand is told
 * apart, with the way out; a run that was stopped is a result too, and says so itself (`complete`). Used by `compare`
 * and by `report`.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type RunResult, runResultSchema } from '../contract/run-result.ts';

/** Wrong use, exit code 2: the sentence names the file and what is wrong with it. */
export class ResultFault extends Error {
  override readonly name = 'ResultFault';
}

const VERSION = 1;
const MOST_ISSUES = 5;

export function readResult(path: string): RunResult {
  return parseResult(textOf(path), path);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ResultFault(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** `name` is what faults call it. Throws a `ResultFault`. */
export function parseResult(text: string, name: string): RunResult {
  const value = jsonOf(text, name);
  const { format, version } = value as { format?: unknown; version?: unknown };
  if (format !== 'parley-load') {
    throw new ResultFault(`${name} is no result of a load test: it has no "format": "parley-load".`);
  }
  if (version !== VERSION) throw new ResultFault(versionFault(name, version));
  const parsed = runResultSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues
    .slice(0, MOST_ISSUES)
    .map((issue) => `  ${z.core.toDotPath(issue.path)}: ${issue.message}`);
  throw new ResultFault(
    `${name} is no result that this version reads. It was changed, or written by a later version with fields that this one does not know:\n${issues.join('\n')}`,
  );
}

function jsonOf(text: string, name: string): object {
  if (text.trim() === '') throw new ResultFault(`${name} is empty: the run that should have written it did not end.`);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    const isCutOff = !text.trimEnd().endsWith('}');
    const why = isCutOff
      ? 'it is cut off: the disk was full, or the run died while it was written'
      : (error as Error).message;
    throw new ResultFault(`${name} is no JSON; ${why}.`);
  }
  throw new ResultFault(`${name} is no result of a load test.`);
}

function versionFault(name: string, version: unknown): string {
  if (typeof version !== 'number') return `${name} does not say which version of the format it is ("version").`;
  return version > VERSION
    ? `${name} is of version ${version} of the format; this tool reads version ${VERSION}. Use the tool that wrote it, or a newer one.`
    : `${name} is of version ${version} of the format, which this tool reads no longer; it reads version ${VERSION}. Run the test again.`;
}
