#!/usr/bin/env node
/** The operator's command line: runs the built `src/cli/main.ts`, and says how to build it when it is not there. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const program = new URL('../dist/src/cli/main.js', import.meta.url);
if (existsSync(fileURLToPath(program))) {
  await import(program.href);
} else {
  console.error('Parley has not been built yet. In its folder, run: npm run build');
  process.exitCode = 1;
}
