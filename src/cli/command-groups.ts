/**
 * The commands by their first word, each read when it is asked for: a command does not wait for what only others need.
 * For `run-cli.ts`. Their order is that of the list which `--help` shows.
 */
import type { Command } from 'commander';
import type { CommandIo } from './command-io.ts';

type AddCommands = (program: Command, io: CommandIo) => void;

const GROUPS: Readonly<Record<string, () => Promise<AddCommands>>> = {
  quickstart: async () => (await import('./quickstart-command.ts')).addQuickstartCommand,
  workspace: async () => (await import('./workspace-commands.ts')).addWorkspaceCommands,
  key: async () => (await import('./key-commands.ts')).addKeyCommands,
  operator: async () => (await import('./operator-commands.ts')).addOperatorCommands,
  user: async () => (await import('./user-commands.ts')).addUserCommands,
  agent: async () => (await import('./agent-commands.ts')).addAgentCommands,
  clip: async () => (await import('./clip-commands.ts')).addClipCommands,
  line: async () => (await import('./line-commands.ts')).addLineCommands,
  call: async () => (await import('./call-commands.ts')).addCallCommands,
  analysis: async () => (await import('./analysis-commands.ts')).addAnalysisCommands,
  connection: async () => (await import('./connection-commands.ts')).addConnectionCommands,
  price: async () => (await import('./price-commands.ts')).addPriceCommands,
  model: async () => (await import('./model-commands.ts')).addModelCommands,
  lead: async () => (await import('./lead-commands.ts')).addLeadCommands,
  suppression: async () => (await import('./suppression-commands.ts')).addSuppressionCommands,
  dialling: async () => (await import('./dialling-command.ts')).addDiallingCommand,
  webhook: async () => (await import('./webhook-commands.ts')).addWebhookCommands,
  limits: async () => (await import('./limit-commands.ts')).addLimitCommands,
  audit: async () => (await import('./audit-commands.ts')).addAuditCommands,
  recording: async () => (await import('./recording-commands.ts')).addRecordingCommands,
  retention: async () => (await import('./retention-commands.ts')).addRetentionCommands,
  widget: async () => (await import('./widget-commands.ts')).addWidgetCommands,
  secret: async () => (await import('./secret-commands.ts')).addSecretCommands,
  tool: async () => (await import('./tool-commands.ts')).addToolCommands,
  'master-key': async () => (await import('./master-key-commands.ts')).addMasterKeyCommands,
  doctor: async () => (await import('./doctor-command.ts')).addDoctorCommand,
  migrate: async () => (await import('./migrate-command.ts')).addMigrateCommand,
};

/** Adds the group that `parameters` ask for, or all of them where the list of commands may have to be shown. */
export async function addCommands(program: Command, io: CommandIo, parameters: readonly string[]): Promise<void> {
  const [first = ''] = parameters.filter((parameter) => parameter !== '--json');
  const asked = Object.hasOwn(GROUPS, first) ? [GROUPS[first]!] : Object.values(GROUPS);
  for (const load of asked) (await load())(program, io);
}
