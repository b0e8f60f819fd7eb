/**
 * The operator's command line, whole, as a function: arguments and a terminal in, exit code out. Faults of the operator are
 * one sentence on standard error; anything else also shows its cause, for a report.
 */
import { Command, CommanderError } from 'commander';
import { migrate } from '../store/migrate.ts';
import { OperatorError } from '../workspaces/operator-error.ts';
import { addAgentCommands } from './agent-commands.ts';
import { addAnalysisCommands } from './analysis-commands.ts';
import { addAuditCommands } from './audit-commands.ts';
import { addCallCommands } from './call-commands.ts';
import { addClipCommands } from './clip-commands.ts';
import { createCommandIo, ExitCode, type Terminal } from './command-io.ts';
import { addDiallingCommand } from './dialling-command.ts';
import { addDoctorCommand } from './doctor-command.ts';
import { addKeyCommands } from './key-commands.ts';
import { addLeadCommands } from './lead-commands.ts';
import { addLimitCommands } from './limit-commands.ts';
import { addLineCommands } from './line-commands.ts';
import { addMasterKeyCommands } from './master-key-commands.ts';
import { addModelCommands } from './model-commands.ts';
import { addOperatorCommands } from './operator-commands.ts';
import { addQuickstartCommand } from './quickstart-command.ts';
import { addRecordingCommands } from './recording-commands.ts';
import { addRetentionCommands } from './retention-commands.ts';
import { addSecretCommands } from './secret-commands.ts';
import { addSuppressionCommands } from './suppression-commands.ts';
import { addToolCommands } from './tool-commands.ts';
import { addWebhookCommands } from './webhook-commands.ts';
import { addWidgetCommands } from './widget-commands.ts';
import { addWorkspaceCommands } from './workspace-commands.ts';

/** `parameters` without node and script. Resolves 0, or 1 after a fault. */
export async function runCli(parameters: readonly string[], terminal: Terminal): Promise<number> {
  const program = new Command('parley')
    .description(
      "Parley's operator commands. They use DATABASE_URL and PARLEY_MASTER_KEY, or find the service that runs on PARLEY_DATA_DIR (./data).",
    )
    .option('--json', 'print values as JSON')
    .exitOverride()
    .configureOutput({ writeOut: terminal.write, writeErr: terminal.writeError })
    .showHelpAfterError('(--help lists what there is)');
  const wantsJson = (): boolean => program.opts<{ json?: boolean }>().json === true;
  const io = createCommandIo(terminal, wantsJson);
  addQuickstartCommand(program, io);
  addWorkspaceCommands(program, io);
  addKeyCommands(program, io);
  addOperatorCommands(program, io);
  addAgentCommands(program, io);
  addClipCommands(program, io);
  addLineCommands(program, io);
  addCallCommands(program, io);
  addAnalysisCommands(program, io);
  addModelCommands(program, io);
  addLeadCommands(program, io);
  addSuppressionCommands(program, io);
  addDiallingCommand(program, io);
  addWebhookCommands(program, io);
  addLimitCommands(program, io);
  addAuditCommands(program, io);
  addRecordingCommands(program, io);
  addRetentionCommands(program, io);
  addWidgetCommands(program, io);
  addSecretCommands(program, io);
  addToolCommands(program, io);
  addMasterKeyCommands(program, io);
  addDoctorCommand(program, io);
  program
    .command('migrate')
    .description('bring the database to the newest schema (the service does so when it starts)')
    .action(async () => {
      await migrate(io.settings().databaseUrl);
      io.print({ migrated: true }, ['The database has the newest schema.']);
    });

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

const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EHOSTUNREACH', 'EACCES', 'ENOENT']);

function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof OperatorError) return error.message;
  if (code !== undefined && UNREACHABLE.has(code)) {
    return `The database cannot be reached (${code}). Is the service running? Check DATABASE_URL, or start it with 'npm start'.`;
  }
  // 42P01: undefined table.
  if (code === '42P01') return "The database has no tables yet; run 'parley migrate', or start the service.";
  return error.message;
}
