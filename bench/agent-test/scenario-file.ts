/**
 * Reads scenario files: JSON, and what `scenario-faults.ts` says of it. What is wrong with what they name is found by
 * `subject.ts`. Called by `test-command.ts`.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DEEPEST_JSON, isTooDeep } from '../../media/contract/json-depth.ts';
import { jsonFault } from '../../src/errors/json-fault.ts';
import { OperatorError } from '../../src/errors/operator-error.ts';
import { judgeFile } from './scenario-faults.ts';
import type { ScenarioFile } from './scenario-schema.ts';

/** Wrong use, in a sentence for whoever wrote it. */
export class WrongUse extends Error {}

/** For whoever uses it, and no fault of this program. */
export function isTeaching(error: unknown): error is WrongUse | OperatorError {
  return error instanceof WrongUse || error instanceof OperatorError;
}

export interface ReadFile {
  /** As it was named. */
  path: string;
  /** What it names lies beside it. */
  folder: string;
  /** As it stands there. */
  json: Readonly<Record<string, unknown>>;
  /** Where there are faults: what could be read of it. */
  content: Partial<ScenarioFile>;
  /** Each with its path and the way out. */
  faults: readonly string[];
}

/** Throws `WrongUse` where it cannot be read at all. */
export function readScenarioFile(path: string): ReadFile {
  const json = readJson(path);
  const version = (json as { schema?: unknown } | null)?.schema;
  if (version !== 1) {
    throw new WrongUse(
      `${path}: schema: ${version === undefined ? 'is missing' : `is ${JSON.stringify(version)}`}; this version of Parley reads 1: write "schema": 1 (docs/testing-agents.md)`,
    );
  }
  const object = json as Record<string, unknown>;
  return { path, folder: dirname(resolve(path)), json: object, ...judgeFile(object) };
}

/** Files of which a change is worth another run. */
export function filesOf({ path, folder, content: { agent, model } }: ReadFile): string[] {
  const emulated = model !== undefined && 'emulated' in model ? model.emulated : null;
  const named = [agent, emulated].filter((one) => typeof one === 'string');
  return [resolve(path), ...named.map((one) => resolve(folder, one))];
}

/** Throws `WrongUse`. */
export function readJson(path: string): unknown {
  let read: string;
  try {
    // Some editors write a mark of byte order before the text.
    read = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    throw new WrongUse(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}): is its name right?`);
  }
  let json: unknown;
  try {
    json = JSON.parse(read);
  } catch (error) {
    throw new WrongUse(`${path} is not JSON: ${jsonFault(read, error)}`);
  }
  if (!isTooDeep(json)) return json;
  throw new WrongUse(
    `${path} is nested deeper than ${DEEPEST_JSON} levels, which no file here needs to be: make it flatter`,
  );
}

export function faultsOf(path: string, faults: readonly string[]): WrongUse {
  return new WrongUse(
    `${path} has ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'} (docs/testing-agents.md says what can stand there):\n${faults.map((line) => `  ${line}`).join('\n')}`,
  );
}
