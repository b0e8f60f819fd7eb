#!/usr/bin/env node
/**
 * The operator's command line: runs the built `src/cli/main.ts`, and says how to build it when it is not there.
 * `parley bench …` is the load tester (`bench/load/main.ts`).
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const isBench = process.argv[2] === 'bench';
if (isBench) process.argv.splice(2, 1);
const program = new URL(isBench ? '../dist/bench/load/main.js' : '../dist/src/cli/main.js', import.meta.url);
if (existsSync(fileURLToPath(program))) {
  await import(program.href);
} else {
  console.error('Parley has not been built yet. In its folder, run: npm run build');
  process.exitCode = 1;
}
