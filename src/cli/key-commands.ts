/** `parley key …`: API keys of a workspace. A key's text is printed once, by `create` and `rotate`. */
import type { Command } from 'commander';
import { OperatorError } from '../errors/operator-error.ts';
import { type ApiKey, createApiKey, listApiKeys, revokeApiKey, rotateApiKey, SCOPES } from '../workspaces/api-keys.ts';
import { changeApiKey, readApiKey } from '../workspaces/change-api-key.ts';
import { type CommandIo, dateText, given, listOf, table, wholeNumber } from './command-io.ts';

const SHOWN_ONCE = 'Keep it now: it is not stored and cannot be shown again.';
const DEFAULT_SCOPES = 'calls:write,calls:read,leads:write,leads:read,agents:read';

export function addKeyCommands(program: Command, io: CommandIo): void {
  const key = program.command('key').description('API keys of a workspace (at most five live ones)');

  key
    .command('create <slug>')
    .description('make a key and print it, once')
    .requiredOption('--name <name>', 'to know it by')
    .option('--scopes <list>', `of ${SCOPES.join(',')}`, DEFAULT_SCOPES)
    .option('--cidrs <list>', 'only from these address ranges, like 203.0.113.0/24')
    .option('--expires <date>', 'ISO 8601, like 2027-01-31 or 2027-01-31T12:00:00Z')
    .action(async (slug: string, options: { name: string; scopes: string; cidrs?: string; expires?: string }) => {
      const made = await createApiKey(io.database(), {
        slug,
        name: options.name,
        scopes: listOf(options.scopes),
        allowedCidrs: listOf(options.cidrs ?? ''),
        expiresAt: options.expires === undefined ? null : futureDate(options.expires),
        by: io.by(),
      });
      io.print(made, [made.text, SHOWN_ONCE]);
    });

  key
    .command('list <slug>')
    .description('all keys, without their secrets')
    .action(async (slug: string) => {
      const keys = await listApiKeys(io.database(), { slug });
      const rows = keys.map((one) => [
        one.keyId,
        one.name,
        stateOf(one),
        one.scopes.join(','),
        dateText(one.lastUsedAt),
      ]);
      io.print(keys, table(['KEY', 'NAME', 'STATE', 'SCOPES', 'LAST USED'], rows, `'${slug}' has no keys.`));
    });

  key
    .command('show <slug> <key-id>')
    .description('one key, without its secret')
    .action(async (slug: string, keyId: string) => {
      const found = await readApiKey(io.database(), { slug, keyId });
      io.print(found, keyLines(found));
    });

  key
    .command('change <slug> <key-id>')
    .description('change what is given of a live key; holds within 2 s')
    .option('--name <name>', 'to know it by')
    .option('--scopes <list>', `all of them, of ${SCOPES.join(',')}`)
    .option('--cidrs <list>', 'only from these address ranges; none for anywhere')
    .option('--expires <date>', 'ISO 8601, in the future; never to let it live on')
    .action(
      async (
        slug: string,
        keyId: string,
        options: { name?: string; scopes?: string; cidrs?: string; expires?: string },
      ) => {
        const { name, scopes, cidrs, expires } = options;
        const change = given({
          name,
          scopes: scopes === undefined ? undefined : listOf(scopes),
          allowedCidrs: cidrs === undefined ? undefined : listOf(cidrs === 'none' ? '' : cidrs),
          expiresAt: expires === undefined ? undefined : expires === 'never' ? null : futureDate(expires),
        });
        const changed = await changeApiKey(io.database(), { slug, keyId, change, by: io.by() });
        io.print(changed, keyLines(changed));
      },
    );

  key
    .command('revoke <slug> <key-id>')
    .description('end a key; holds within 2 s')
    .action(async (slug: string, keyId: string) => {
      const revoked = await revokeApiKey(io.database(), { slug, keyId, by: io.by() });
      io.print(revoked, [`Key ${keyId} is revoked.`]);
    });

  key
    .command('rotate <slug> <key-id>')
    .description('make a key like this one and print it, once; the old one stays valid for a while')
    .option('--overlap-seconds <seconds>', 'how long: 60 to 604800', wholeNumber, 24 * 3600)
    .action(async (slug: string, keyId: string, options: { overlapSeconds: number }) => {
      const overlapSeconds = options.overlapSeconds;
      const rotated = await rotateApiKey(io.database(), { slug, keyId, overlapSeconds, by: io.by() });
      io.print(rotated, [
        rotated.created.text,
        SHOWN_ONCE,
        `Key ${keyId} stays valid until ${dateText(rotated.replaced.expiresAt)}.`,
      ]);
    });
}

function keyLines(key: ApiKey): string[] {
  return [
    `${key.keyId} ${key.name}: ${stateOf(key)}`,
    `scopes: ${key.scopes.join(', ')}`,
    `from: ${key.allowedCidrs.length === 0 ? 'anywhere' : key.allowedCidrs.join(', ')}`,
    `last used: ${dateText(key.lastUsedAt)}`,
  ];
}

function futureDate(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new OperatorError('invalid', `'${text}' is no date like 2027-01-31.`);
  return date;
}

function stateOf(key: ApiKey): string {
  if (key.revokedAt !== null) return 'revoked';
  if (key.expiresAt === null) return 'live';
  return key.expiresAt.getTime() > Date.now() ? `until ${dateText(key.expiresAt)}` : 'expired';
}
