/**
 * The load tester: `npm run bench -- load`, `npx parley bench`. Runs a workload against a target (the default),
 * compares two stored results, shows a stored one. Exit codes: 0 all well, 1 something failed, 2 wrong use, 3 the tool
 * could not judge, 130 stopped by Ctrl-C.
 */
import { Command } from 'commander';
import { addCompareCommand } from './compare-command.ts';
import { addReportCommand } from './report-command.ts';
import { EXIT } from './run/exit-code.ts';
import { runCommand } from './run-command.ts';
import { addRunFlags, type RunFlags } from './run-flags.ts';

const program = new Command('parley bench')
  .description(
    'Loads a Parley, browser sessions or any voice bot on carrier media streams with calls, and tells what their far ends heard.',
  )
  .enablePositionalOptions()
  .showHelpAfterError('(--help lists what there is)');
addRunFlags(program.command('load', { isDefault: true }).description('run a workload (the default command)')).action(
  async (flags: RunFlags) => {
    process.exit(await runCommand(flags));
  },
);
addCompareCommand(program);
addReportCommand(program);
// What commander refuses is wrong use, which is 2 here and 1 there.
program.exitOverride((fault) => process.exit(fault.exitCode === 0 ? EXIT.well : EXIT.wrongUse));
for (const command of program.commands) command.copyInheritedSettings(program);
await program.parseAsync();
