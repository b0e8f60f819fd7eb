/**
 * `parley secret …`: what tools put into headers. A secret comes from a file or standard input, never from the command
 * line, and is never shown again.
 */
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { OperatorError } from '../errors/operator-error.ts';
import { generateSigningSecret, listSecrets, removeSecret, SIGNING_SECRET, setSecret } from '../tools/secrets.ts';
import { type CommandIo, dateText, table } from './command-io.ts';

interface ValueOptions {
  valueFile?: string;
  value?: string;
  generate?: boolean;
}

export function addSecretCommands(program: Command, io: CommandIo): void {
  const secret = program
    .command('secret')
    .description('secrets of a workspace, for {{secret.NAME}} in headers of tools');

  secret
    .command('set <slug> <name>')
    .description('store or replace a secret; requests use it from now on')
    .option('--value-file <file>', 'a file with it, - for standard input')
    .option('--generate', `make ${SIGNING_SECRET}, which signs requests of tools, and print it, once`)
    .addOption(new Option('--value <value>').hideHelp())
    .action(async (slug: string, name: string, options: ValueOptions) => {
      if (options.generate === true) {
        if (name !== SIGNING_SECRET) throw new OperatorError('invalid', `Only ${SIGNING_SECRET} is made here.`);
        const made = await generateSigningSecret(io.database(), await io.sealer(), { slug, by: io.by() });
        io.print(made, [made.secret, 'Give it to the endpoints now: it is stored sealed and cannot be shown again.']);
        return;
      }
      const value = await readValue(io, options);
      const stored = await setSecret(io.database(), await io.sealer(), { slug, name, value, by: io.by() });
      io.print(stored, [`Stored ${stored.name}.`]);
    });

  secret
    .command('list <slug>')
    .description('their names')
    .action(async (slug: string) => {
      const secrets = await listSecrets(io.database(), { slug });
      const rows = secrets.map((one) => [one.name, dateText(one.createdAt), dateText(one.updatedAt)]);
      io.print(secrets, table(['SECRET', 'SINCE', 'CHANGED'], rows, `'${slug}' has no secrets.`));
    });

  secret
    .command('remove <slug> <name>')
    .description('tools that use it fail from now on')
    .action(async (slug: string, name: string) => {
      await removeSecret(io.database(), { slug, name, by: io.by() });
      io.print({ removed: name }, [`Removed ${name}.`]);
    });
}

async function readValue(io: CommandIo, { valueFile, value }: ValueOptions): Promise<string> {
  if (value !== undefined) {
    throw new OperatorError(
      'refused',
      'A secret on the command line can be read in the process list and the shell history. Use --value-file (- reads standard input). If it was a real one, change it where it comes from.',
    );
  }
  if (valueFile === undefined)
    throw new OperatorError('invalid', 'Give --value-file FILE, or --value-file - and the secret on standard input.');
  if (valueFile === '-') return (await io.terminal.readInput()).trim();
  const text = await readFile(valueFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError('invalid', `${valueFile} cannot be read (${error.code ?? error.message}).`);
  });
  return text.trim();
}
