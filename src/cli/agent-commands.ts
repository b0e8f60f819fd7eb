/** `parley agent …`: import a checked definition from a file, list agents. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { setAgentLine } from '../suppressions/calling-policy.ts';
import { importAgent, listAgents } from '../workspaces/agents.ts';
import { OperatorError } from '../workspaces/operator-error.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { type CommandIo, given, table } from './command-io.ts';

export function addAgentCommands(program: Command, io: CommandIo): void {
  const agent = program.command('agent').description('agents of a workspace');

  agent
    .command('import <slug> <file>')
    .description('check a definition and store it; all faults are listed with their paths')
    .option('--id <uuid>', 'of a known agent: store its next version (calls that run keep theirs)')
    .action(async (slug: string, file: string, options: { id?: string }) => {
      const definition = await readJson(file);
      const stored = await importAgent(io.database(), { slug, definition, ...given({ id: options.id }), by: io.by() });
      io.print(stored, [`Stored '${stored.name}' as agent ${stored.id}, version ${stored.version}.`]);
    });

  agent
    .command('line <slug> <agent-id> <line-id>')
    .description("the line of an agent's calls of leads; none: the workspace's")
    .action(async (slug: string, agentId: string, line: string) => {
      const { id } = await findWorkspace(io.database(), slug);
      const lineId = line === 'none' ? null : line;
      await setAgentLine(io.database(), id, { agentId, lineId, by: io.by() });
      io.print({ agentId, lineId }, [`Agent ${agentId} calls leads on ${lineId ?? "the workspace's line"}.`]);
    });

  agent
    .command('list <slug>')
    .description('all agents, with the ids that `agentId` takes')
    .action(async (slug: string) => {
      const agents = await listAgents(io.database(), { slug });
      const rows = agents.map((one) => [one.id, one.name, one.direction, String(one.version)]);
      io.print(agents, table(['AGENT', 'NAME', 'DIRECTION', 'VERSION'], rows, `'${slug}' has no agents.`));
    });
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError('invalid', `${file} cannot be read (${error.code ?? error.message}).`);
  });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new OperatorError('invalid', `${file} is not JSON: ${(error as Error).message}`);
  }
}
