/**
 * `parley operator …`: keys with which programs create workspaces and switch their API access
 * over HTTP. Made nowhere else.
 */
import type { Command } from 'commander';
import { createOperatorKey, listOperatorKeys, revokeOperatorKey } from '../workspaces/operator-keys.ts';
import { type CommandIo, dateText, table } from './command-io.ts';

export function addOperatorCommands(program: Command, io: CommandIo): void {
  const operator = program
    .command('operator')
    .description("keys of the operator, for /api/developer/workspaces; they open nothing of a workspace's own");

  operator
    .command('create')
    .description('make a key and print it, once')
    .requiredOption('--name <name>', 'to know it by')
    .action(async (options: { name: string }) => {
      const made = await createOperatorKey(io.database(), { name: options.name, by: io.by() });
      io.print(made, [made.text, 'Keep it now: it is not stored and cannot be shown again.']);
    });

  operator
    .command('list')
    .description('all of them, without their secrets')
    .action(async () => {
      const keys = await listOperatorKeys(io.database());
      const rows = keys.map((key) => [
        key.keyId,
        key.name,
        key.revokedAt === null ? 'live' : `revoked ${dateText(key.revokedAt)}`,
        dateText(key.lastUsedAt),
      ]);
      io.print(keys, table(['KEY', 'NAME', 'STATE', 'LAST USED'], rows, 'There are no operator keys.'));
    });

  operator
    .command('revoke <key-id>')
    .description('end a key; holds at once')
    .action(async (keyId: string) => {
      const revoked = await revokeOperatorKey(io.database(), { keyId, by: io.by() });
      io.print(revoked, [`Operator key ${keyId} is revoked.`]);
    });
}
