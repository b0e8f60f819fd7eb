/**
 * What is wrong with the shape of a file that somebody wrote, in plain words: a line a fault, with its path. Pure; of
 * scenario files and of the rules of emulated models.
 */
import { pathText } from '../../src/errors/agent-faults.ts';

export interface Issue {
  code?: string | undefined;
  path: PropertyKey[];
  message: string;
  keys?: string[];
  errors?: Issue[][];
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
};

/** `whole`: what has no path. */
export function issueLines(issue: Issue, whole: string): string[] {
  const at = (path: readonly PropertyKey[]): string => pathText(path) || whole;
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
    const lines = deepest.flatMap((inner) => issueLines({ ...inner, path: [...issue.path, ...inner.path] }, whole));
    if (lines.length > 0) return lines;
  }
  return [`${at(issue.path)}: ${problemOf(issue.message)}`];
}

function problemOf(message: string): string {
  const [, wanted, given] = /^Invalid input: expected (\w+), received (\w+)$/.exec(message) ?? [];
  if (given === 'undefined') return 'is missing';
  if (wanted !== undefined && given !== undefined)
    return `must be ${KINDS[wanted] ?? wanted}, not ${KINDS[given] ?? given}`;
  return message.replace(/ received undefined$/, '').replace(/^Invalid (input|option): (expected )?/, 'must be ');
}
