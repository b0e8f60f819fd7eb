/**
 * Reads scenario files: JSON, its shape (`scenario-schema.ts`) and what no shape can tell. All faults of a file at
 * once, each with its path and the way out. Called by `test-command.ts`.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathText } from '../../src/errors/agent-faults.ts';
import { type ScenarioFile, scenarioFileSchema } from './scenario-schema.ts';

/** Wrong use, in a sentence for whoever wrote it. */
export class WrongUse extends Error {}

export interface ReadFile {
  /** As it was named. */
  path: string;
  /** What it names lies beside it. */
  folder: string;
  content: ScenarioFile;
}

/** Throws `WrongUse`. */
export function readScenarioFile(path: string): ReadFile {
  const json = readJson(path);
  const version = (json as { schema?: unknown } | null)?.schema;
  if (version !== 1) {
    throw new WrongUse(
      `${path}: schema: ${version === undefined ? 'is missing' : `is ${JSON.stringify(version)}`}; this version of Parley reads 1: write "schema": 1 (docs/testing-agents.md)`,
    );
  }
  const parsed = scenarioFileSchema.safeParse(json, { reportInput: false });
  if (!parsed.success) throw faultsOf(path, parsed.error.issues.flatMap(issueLines));
  const faults = meaningFaults(parsed.data);
  if (faults.length > 0) throw faultsOf(path, faults);
  return { path, folder: dirname(resolve(path)), content: parsed.data };
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
    read = readFileSync(path, 'utf8');
  } catch (error) {
    throw new WrongUse(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}): is its name right?`);
  }
  try {
    return JSON.parse(read);
  } catch (error) {
    throw new WrongUse(`${path} is not JSON: ${(error as Error).message}`);
  }
}

function faultsOf(path: string, lines: readonly string[]): WrongUse {
  return new WrongUse(
    `${path} has ${lines.length} ${lines.length === 1 ? 'fault' : 'faults'} (docs/testing-agents.md says what can stand there):\n${lines.map((line) => `  ${line}`).join('\n')}`,
  );
}

interface Issue {
  code?: string | undefined;
  path: PropertyKey[];
  message: string;
  keys?: string[];
  errors?: Issue[][];
}

function issueLines(issue: Issue): string[] {
  const at = (path: readonly PropertyKey[]): string => pathText(path) || 'the file';
  if (issue.code === 'unrecognized_keys') {
    return (issue.keys ?? []).map(
      (key) => `${at([...issue.path, key])}: is no field here; take it out, or correct its spelling`,
    );
  }
  // Of a choice: what the way that came furthest says.
  if (issue.code === 'invalid_union') {
    const ways = (issue.errors ?? []).filter((way) => way.length > 0);
    const best = ways.find((way) => way.every(({ code }) => code !== 'invalid_type' && code !== 'invalid_value'));
    const deepest = best ?? ways.find((way) => way.some(({ path }) => path.length > 0)) ?? [];
    const lines = deepest.flatMap((inner) => issueLines({ ...inner, path: [...issue.path, ...inner.path] }));
    if (lines.length > 0) return lines;
  }
  const problem = / received undefined$/.test(issue.message)
    ? 'is missing'
    : issue.message.replace(/^Invalid input: /, '');
  return [`${at(issue.path)}: ${problem}`];
}

function meaningFaults({ scenarios, judge }: ScenarioFile): string[] {
  const faults: string[] = [];
  const names = new Map<string, number>();
  for (const [index, scenario] of scenarios.entries()) {
    const at = `scenarios[${index}]`;
    const before = names.get(scenario.name);
    if (before !== undefined) {
      faults.push(
        `${at}.name: is the name of scenarios[${before}] too; reports tell them apart by it: give it another`,
      );
    }
    names.set(scenario.name, index);
    const { opening, turns, expect } = scenario;
    const ends = turns.findIndex(({ hangsUp }) => hangsUp === true);
    if (ends >= 0 && ends < turns.length - 1)
      faults.push(`${at}.turns[${ends + 1}]: comes after the caller has hung up; take it out`);
    const expected = [opening, ...turns.map((turn) => turn.expect), expect];
    const isEmpty = expected.every((one) => one === undefined || Object.keys(one).length === 0);
    if (isEmpty) faults.push(`${at}: expects nothing, so it can not fail; add "expect" to a turn or to the scenario`);
    if (judge === undefined && expected.some((one) => one?.judge !== undefined))
      faults.push(`${at}: "judge" wants a judging model: add "judge": { "connection": …, "model": … } to the file`);
  }
  return faults;
}
