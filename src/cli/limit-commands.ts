/**
 * `parley limits <slug>`: what a workspace and its lines may use, and use now. Changed by
 * `workspace limits` and `line limits`.
 */
import type { Command } from 'commander';
import { readCapacity } from '../limits/capacity.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { type CommandIo, table } from './command-io.ts';

export function addLimitCommands(program: Command, io: CommandIo): void {
  program
    .command('limits <slug>')
    .description('limits of a workspace and its lines, and what is in use')
    .action(async (slug: string) => {
      const { id } = await findWorkspace(io.database(), slug);
      const capacity = (await readCapacity(io.database(), id))!;
      const { calls, webSessions, api, lines } = capacity;
      const rows = [
        ['calls', `${calls.inUse} of ${calls.limit}`, `${calls.perSecond}/s`],
        ['  kept for phones', String(calls.reservedForPhone), '-'],
        ['  of them web sessions', `${webSessions.inUse} of ${webSessions.limit}`, '-'],
        ...lines.map((line) => [line.number, `${line.inUse} of ${line.limit}`, `${line.perSecond}/s`]),
        ['API requests of a key', '-', `${api.requestsPerSecond}/s, burst ${api.burst}`],
      ];
      io.print(capacity, table(['LIMIT', 'IN USE', 'NEW'], rows, ''));
    });
}
