/**
 * `parley agent …`: import a checked definition from a file, list and show agents, go back to a
 * version, take one out of use. `parley agent test` is not here: it is `bench/agent-test`.
 */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import {
  activateAgentVersion,
  deleteAgent,
  importAgent,
  listAgents,
  listAgentVersions,
  readAgent,
} from '../agents/stored-agents.ts';
import { faultLines } from '../errors/agent-faults.ts';
import { jsonFault } from '../errors/json-fault.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { setAgentLine } from '../suppressions/calling-policy.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { type CommandIo, dateText, given, table, wholeNumber } from './command-io.ts';

export function addAgentCommands(program: Command, io: CommandIo): void {
  const agent = program.command('agent').description('agents of a workspace');
  // A program of its own (`bench/agent-test`), which `bin/parley.mjs` starts.
  agent.addHelpText('after', '\nparley agent test FILE…  run scenarios against an agent (docs/testing-agents.md)');

  agent
    .command('import <slug> <file>')
    .description('check a definition and store it; all faults are listed with their paths')
    .option('--id <uuid>', 'of a known agent: store its next version (calls that run keep theirs)')
    .action(async (slug: string, file: string, options: { id?: string }) => {
      const definition = definitionIn(await readJsonFile(file));
      const stored = await importAgent(io.database(), { slug, definition, ...given({ id: options.id }), by: io.by() });
      const warnings = faultLines(stored.warnings).map((warning) => `Warning: ${warning}`);
      io.print(stored, [`Stored '${stored.name}' as agent ${stored.id}, version ${stored.version}.`, ...warnings]);
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

  agent
    .command('show <slug> <agent-id>')
    .description('the definition, as `import` takes it')
    .option('--agent-version <number>', 'another than the current one', wholeNumber)
    .action(async (slug: string, agentId: string, options: { agentVersion?: number }) => {
      const found = await readAgent(io.database(), { slug, agentId, version: options.agentVersion });
      io.print(found, [JSON.stringify(found.definition, null, 2)]);
    });

  agent
    .command('versions <slug> <agent-id>')
    .description('what was stored, newest first')
    .action(async (slug: string, agentId: string) => {
      const versions = await listAgentVersions(io.database(), { slug, agentId });
      const rows = versions.map((one) => [
        String(one.version),
        one.isCurrent ? 'current' : '',
        dateText(one.createdAt),
      ]);
      io.print(versions, table(['VERSION', '', 'STORED'], rows, ''));
    });

  agent
    .command('activate <slug> <agent-id> <version>')
    .description('new calls use this version again; calls that run keep theirs')
    .action(async (slug: string, agentId: string, version: string) => {
      const wanted = { slug, agentId, version: wholeNumber(version), by: io.by() };
      const changed = await activateAgentVersion(io.database(), wanted);
      io.print(changed, [`Agent ${agentId} is at version ${changed.version}.`]);
    });

  agent
    .command('delete <slug> <agent-id>')
    .description('take it out of use; calls that run go on')
    .action(async (slug: string, agentId: string) => {
      await deleteAgent(io.database(), { slug, agentId, by: io.by() });
      io.print({ agentId }, [`Agent ${agentId} takes no more calls.`]);
    });
}

/** The body of a request to the API has it one level down; that file is taken as well. */
function definitionIn(json: unknown): unknown {
  if (typeof json !== 'object' || json === null || Object.keys(json).join() !== 'definition') return json;
  return (json as { definition: unknown }).definition;
}

export async function readJsonFile(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError('invalid', `${file} cannot be read (${error.code ?? error.message}).`);
  });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new OperatorError('invalid', `${file} is not JSON: ${jsonFault(text, error)}`);
  }
}
