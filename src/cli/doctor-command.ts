/**
 * `parley doctor`: what stands in the way of calls, line by line, each with its way out. Exit
 * code 1 when something fails.
 */
import type { Command } from 'commander';
import pc from 'picocolors';
import { builtEntry } from '../config/built-entry.ts';
import type { CheckResult } from '../doctor/check.ts';
import { examine } from '../doctor/doctor.ts';
import { type CommandIo, ExitCode, wholeNumber } from './command-io.ts';

export function addDoctorCommand(program: Command, io: CommandIo): void {
  program
    .command('doctor')
    .description(
      'check settings, ports, database, public URL, carrier credentials, native parts, clocks, disk and key; say how many calls at once',
    )
    .option('--patience <seconds>', 'how long each check may take: more on a machine that is full', wholeNumber, 15)
    .action(async ({ patience }: { patience: number }) => {
      const results = await examine({
        environment: io.terminal.environment,
        selfCheckEntry: () => builtEntry('media/self-check.js'),
        engineSpeedEntry: () => builtEntry('media/engine-speed.js'),
        limitMs: patience * 1_000,
      });
      const failed = results.filter(({ level }) => level === 'fail').length;
      const warned = results.filter(({ level }) => level === 'warn').length;
      const summary = `${results.length - failed - warned} ok, ${warned} to look at, ${failed} failed`;
      io.print({ ok: failed === 0, checks: results }, [...results.flatMap(linesOf), '', summary]);
      if (failed > 0) throw new ExitCode(1);
    });
}

const MARKS = { ok: pc.green('ok  '), warn: pc.yellow('warn'), fail: pc.red('FAIL') } as const;

function linesOf({ name, level, detail, wayOut }: CheckResult): string[] {
  const line = `${MARKS[level]}  ${name}: ${detail}`;
  return wayOut === null ? [line] : [line, `      ${wayOut}`];
}
