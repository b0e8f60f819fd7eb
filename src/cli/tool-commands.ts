/** `parley tool …`: try a tool as a call would use it, and how its last uses went. */
import type { Command } from 'commander';
import { systemClock } from '../../media/contract/clock.ts';
import { createAddressGuard } from '../../media/net/address-guard.ts';
import { createGuardedClient } from '../../media/net/guarded-client.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { type ToolTrial, tryTool } from '../tools/test-tool.ts';
import { toolFigures } from '../tools/tool-log.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { type CommandIo, dateText, ExitCode, table } from './command-io.ts';

export function addToolCommands(program: Command, io: CommandIo): void {
  const tool = program.command('tool').description('custom tools of agents');

  tool
    .command('test <agent-id> <name>')
    .description('make the request that a call would make, once, and show all of it but secrets')
    .option('--arguments <json>', 'an object', '{}')
    .action(async (agentId: string, name: string, options: { arguments: string }) => {
      const http = createGuardedClient({
        guard: createAddressGuard(io.settings().webhookAllowCidrs),
        clock: systemClock,
      });
      try {
        const deps = { database: io.database(), sealer: io.opener(), http, clock: systemClock };
        const trial = await tryTool(deps, { agentId, name, arguments: readArguments(options.arguments) });
        io.print(trial, trialLines(trial));
        if (!trial.answer.ok) throw new ExitCode(1);
      } finally {
        await http.close();
      }
    });

  tool
    .command('uses <slug> <agent-id>')
    .description('the last 100 uses of each tool of an agent, in figures')
    .option('--last', 'list them too')
    .action(async (slug: string, agentId: string, options: { last?: boolean }) => {
      const { id: workspaceId } = await findWorkspace(io.database(), slug);
      const figures = await toolFigures(io.database(), { workspaceId, agentId });
      const rows = figures.map((one) => [
        one.name,
        ...[one.uses, one.failed, one.cancelled, one.p50Ms ?? '-', one.p95Ms ?? '-'].map(String),
      ]);
      const lines = table(
        ['TOOL', 'USES', 'FAILED', 'CANCELLED', 'P50 MS', 'P95 MS'],
        rows,
        'No tool of it was used yet.',
      );
      const uses = figures.flatMap(({ name, last }) =>
        last.map((use) => [
          dateText(use.startedAt),
          name,
          use.outcome ?? 'at work',
          use.error ?? String(use.status ?? '-'),
          String(use.ms ?? '-'),
          use.callUuid,
        ]),
      );
      const list =
        options.last === true ? ['', ...table(['AT', 'TOOL', 'OUTCOME', 'STATUS', 'MS', 'CALL'], uses, '')] : [];
      io.print(figures, [...lines, ...list]);
    });
}

function readArguments(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {}
  throw new OperatorError('invalid', `--arguments must be a JSON object, like '{"order":"42"}'.`);
}

function trialLines(trial: ToolTrial): string[] {
  const { url, headers, body, attempts, isSigned, ms, answer, variables } = trial;
  const sent = [
    `POST ${url}`,
    ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`),
    `  ${body}`,
    ...(isSigned
      ? []
      : ['Not signed: the workspace has no webhook secret. parley secret set <slug> TOOL_SIGNING_SECRET --generate']),
  ];
  return [
    ...(attempts === 0 ? ['Nothing was sent.'] : sent),
    '',
    answer.ok
      ? `Answered ${answer.status} in ${ms} ms: ${JSON.stringify(answer.result)}`
      : `Failed (${answer.code}) after ${ms} ms: ${answer.message}`,
    ...(attempts > 1 ? [`${attempts} attempts.`] : []),
    'Variables for the script:',
    ...Object.entries(variables).map(([name, value]) => `  {{${name}}} = ${value}`),
  ];
}
