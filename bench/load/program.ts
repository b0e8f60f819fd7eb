/** The commands of the load tester with their options. Made by `main.ts`, which runs it. */
import { Command } from 'commander';
import { addCompareCommand } from './compare-command.ts';
import { addReportCommand } from './report-command.ts';
import { addRunFlags, type RunFlags } from './run-flags.ts';
import { addSignalCommand } from './signal-command.ts';

/** `run`: the default command. */
export function loadTester(run: (flags: RunFlags) => Promise<void>): Command {
  const program = new Command('parley bench')
    .description(
      'Loads a Parley, browser sessions or any voice bot on carrier media streams with calls, and tells what their far ends heard.',
    )
    .enablePositionalOptions()
    .showHelpAfterError('(--help lists what there is)');
  const load = addRunFlags(
    program.command('load', { isDefault: true }).description('run a workload (the default command)'),
  );
  load.action(run);
  addCompareCommand(program);
  addReportCommand(program);
  addSignalCommand(program);
  // Whoever asks for help without a command wants to run one.
  program.addHelpText('after', () => `\n${load.helpInformation()}`);
  return program;
}
