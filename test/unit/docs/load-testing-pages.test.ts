/** The pages about load tests and the command line name the same options and commands. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { loadTester } from '../../../bench/load/program.ts';
import { packageRoot } from '../../../src/config/built-entry.ts';

const pageOf = (name: string): string => readFileSync(join(packageRoot(), 'docs', `${name}.md`), 'utf8');
const [ABOUT, BOTS, REPORT] = ['load-testing', 'load-testing-bots', 'load-report'].map(pageOf) as [
  string,
  string,
  string,
];
const program = loadTester(async () => {});
const optionsOf = (command: Command): string[] => command.options.flatMap(({ long }) => long ?? []);
const run = program.commands.find((command) => command.name() === 'load')!;

/** Words that begin with two dashes, but those of other programs than the load tester. */
function namedIn(page: string): Set<string> {
  const own = page.replace(/`npx parley (?!bench)[^`]*`|^.*npm run bench -- (?!load).*$/gm, '');
  return new Set([...own.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([option]) => option));
}

describe('the pages about load tests', () => {
  it('name no option that there is not', () => {
    const known = new Set([...program.commands.flatMap(optionsOf), '--help']);
    const named = [ABOUT, BOTS, REPORT].flatMap((page) => [...namedIn(page)]);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((option) => !known.has(option))).toEqual([]);
  });

  it('name each option of a run', () => {
    const named = new Set([ABOUT, BOTS, REPORT].flatMap((page) => [...namedIn(page)]));
    expect(optionsOf(run).filter((option) => !named.has(option))).toEqual([]);
  });

  it('name each command, and no other', () => {
    const named = [ABOUT, BOTS, REPORT].join('\n').matchAll(/npx parley bench ([a-z]+)/g);
    expect([...new Set([...named].map(([, name]) => name))].sort()).toEqual(
      program.commands.map((command) => command.name()).sort(),
    );
  });

  it('name each scenario that is ready', () => {
    const { description } = run.options.find(({ long }) => long === '--scenario')!;
    const names = description.replace(/^.*: /, '').split(', ');
    expect(names.length).toBe(6);
    expect(names.filter((name) => !ABOUT.includes(`\`${name}\``))).toEqual([]);
  });
});

it('help shows the options of a run without naming its command', () => {
  expect(program.helpInformation()).toContain('load');
  let shown = '';
  program.configureOutput({ writeOut: (text) => (shown += text) }).outputHelp();
  for (const option of optionsOf(run)) expect(shown).toContain(option);
  expect(new Command().helpInformation()).not.toContain('--answer-url');
});
