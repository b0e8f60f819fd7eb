/**
 * The operator's command line, whole, as a function: arguments and a terminal in, exit code out. Faults of the operator
 * are one sentence on standard error; anything else also shows its cause, for a report.
 */
import { Command, CommanderError } from 'commander';
import { OperatorError } from '../errors/operator-error.ts';
import { addCommands } from './command-groups.ts';
import { createCommandIo, ExitCode, type Terminal } from './command-io.ts';
import { databaseFault } from './database-fault.ts';

/** `parameters` without node and script. Resolves 0, or 1 after a fault. */
export async function runCli(parameters: readonly string[], terminal: Terminal): Promise<number> {
  const program = new Command('parley')
    .description(
      "Parley's operator commands. They use DATABASE_URL and PARLEY_MASTER_KEY, or find the service that runs on PARLEY_DATA_DIR (./data).",
    )
    .option('--json', 'print values as JSON')
    .exitOverride()
    .configureOutput({ writeOut: terminal.write, writeErr: terminal.writeError })
    .addHelpText('after', '\nparley bench  calls a Parley or any voice bot under load (docs/load-testing.md)')
    .showHelpAfterError('(--help lists what there is)');
  const wantsJson = (): boolean => program.opts<{ json?: boolean }>().json === true;
  const io = createCommandIo(terminal, wantsJson);
  await addCommands(program, io, parameters);

  try {
    await program.parseAsync([...parameters], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    if (error instanceof ExitCode) return error.code;
    const sentence = sentenceOf(error);
    if (wantsJson()) {
      const code = error instanceof OperatorError ? error.code : 'failed';
      terminal.write(`${JSON.stringify({ error: { code, message: sentence } }, null, 2)}\n`);
    } else terminal.writeError(`${sentence}\n`);
    return 1;
  } finally {
    await io.close();
  }
}

function sentenceOf(error: unknown): string {
  return databaseFault(error) ?? (error instanceof Error ? error.message : String(error));
}
