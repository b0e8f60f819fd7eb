#!/usr/bin/env node
/**
 * The operator's command line: runs the built `src/cli/main.ts`, and says how to build it when it is not there.
 * `parley bench …` is the load tester (`bench/load/main.ts`), `parley agent test …` the runner of scenarios
 * (`bench/agent-test/main.ts`).
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [, , first, second] = process.argv;
const { entry, words } =
  first === 'bench'
    ? { entry: 'bench/load', words: 1 }
    : first === 'agent' && second === 'test'
      ? { entry: 'bench/agent-test', words: 2 }
      : { entry: 'src/cli', words: 0 };
process.argv.splice(2, words);
const program = new URL(`../dist/${entry}/main.js`, import.meta.url);
if (existsSync(fileURLToPath(program))) {
  await import(program.href);
} else {
  console.error('Parley has not been built yet. In its folder, run: npm run build');
  process.exitCode = 1;
}
