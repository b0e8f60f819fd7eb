/**
 * `signal known-signal.wav`: writes the known signal for whoever load-tests a bot of their own with `--expect-signal`.
 * Exit codes: 0 written, 2 it could not be.
 */
import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { knownSignalWav, SIGNAL_MS } from './far-end/known-signal.ts';

export function addSignalCommand(program: Command): void {
  program
    .command('signal')
    .description('Write the known signal that a bot plays for --expect-signal: mu-law, mono, 8 kHz.')
    .argument('<file.wav>', 'where it is written')
    .action((path: string) => {
      process.exitCode = writeSignal(path);
    });
}

function writeSignal(path: string): number {
  try {
    writeFileSync(path, knownSignalWav());
  } catch (error) {
    process.stderr.write(`${path} cannot be written: ${(error as Error).message}\n`);
    return 2;
  }
  process.stdout.write(`written: ${path} (${SIGNAL_MS / 1000} s; play it over and over without a pause)\n`);
  return 0;
}
