/**
 * The tables engine × check of `docs/decisions/engine-conformance.md` beside the suites that a test file collected:
 * what the page says was asked of an engine, and what is asked of it.
 */
import { readFileSync } from 'node:fs';
import type { RunnerTestFile } from 'vitest';

const PAGE = 'docs/decisions/engine-conformance.md';
const SUITE = /^(?:The voice )?(\S+?)(?: in .+)?(?:, emulated)? as a (CallEar|LanguageModel|TextToSpeech)$/;

/** `CallEar deepgram` and its checks, in their order; an engine in two forms has two lists. */
export function asked(file: Readonly<RunnerTestFile>): [engine: string, checks: string[]][] {
  return file.tasks.flatMap((suite): [string, string[]][] => {
    const [, engine, port] = SUITE.exec(suite.name) ?? [];
    if (suite.type !== 'suite' || engine === undefined) return [];
    return [[`${port} ${engine}`, suite.tasks.map(({ name }) => name)]];
  });
}

/** The same as the page has it; `over`: what must stand in a check's cell. */
export function told(over: RegExp): Map<string, string[]> {
  const tables = readFileSync(PAGE, 'utf8').matchAll(/^\| `(\w+)` \|(.+)\|\n\|[-|]+\|\n((?:\|.+\n)+)/gm);
  const all = new Map<string, string[]>();
  for (const [, port, head, body] of tables) {
    const rows = body!.trim().split('\n').map(cellsOf);
    for (const [index, engine] of cellsOf(`|${head}|`).entries()) {
      const checks = rows.filter((row) => over.test(row[index + 1] ?? '')).map(([check]) => check!);
      if (checks.length > 0) all.set(`${port} ${engine.replaceAll('`', '')}`, checks);
    }
  }
  return all;
}

const cellsOf = (row: string): string[] =>
  row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
