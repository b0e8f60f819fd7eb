/**
 * Entry of the built command line; `bin/parley.mjs` runs it. Joins `runCli` to the real process, and does nothing else.
 */
import { text } from 'node:stream/consumers';
import { runCli } from './run-cli.ts';

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  write: (line) => void process.stdout.write(line),
  writeError: (line) => void process.stderr.write(line),
  readInput: () => text(process.stdin),
});
