/**
 * `parley connection …`: connections of a workspace to providers of speech and language. A key comes from a file,
 * standard input or the environment, never from the command line, and is never shown again.
 */
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { systemClock } from '../../media/contract/clock.ts';
import { PROVIDER_NAMES, PROVIDERS } from '../../media/contract/providers.ts';
import { createGuardedClient } from '../../media/net/guarded-client.ts';
import { systemResolver } from '../../media/net/name-lookup.ts';
import type { AddressCheck } from '../../media/net/target-check.ts';
import type { Connection } from '../connections/connection-rows.ts';
import { type ConnectionTrial, tryConnection } from '../connections/provider-trial.ts';
import {
  addConnection,
  type ConnectionChange,
  changeConnection,
  listConnections,
  listConnectionVersions,
  removeConnection,
  showConnection,
} from '../connections/stored-connections.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { type CommandIo, dateText, ExitCode, given, table, wholeNumber } from './command-io.ts';
import { guardOf } from './model-commands.ts';

const KEY_VARIABLE = 'PARLEY_CONNECTION_KEY';

interface PartOptions {
  url?: string;
  keyFile?: string;
  /** `--no-key` makes it false; a text was given by mistake. */
  key: boolean | string;
  apiKey?: string;
  concurrent?: number;
  requests?: number;
  tokens?: number;
  set?: string[];
}

export function addConnectionCommands(program: Command, io: CommandIo): void {
  const connection = program
    .command('connection')
    .description('connections of a workspace to providers: what its agents listen, think and speak with');

  withParts(
    connection
      .command('add <slug> <name>')
      .description(`add one; its key from --key-file, - for standard input, or ${KEY_VARIABLE}`)
      .requiredOption('--provider <name>', PROVIDER_NAMES.join(', ')),
  ).action(async (slug: string, name: string, options: PartOptions & { provider: string }) => {
    const change = await partsOf(io, options);
    const added = await addConnection(io.database(), await io.sealer(), {
      slug,
      name,
      provider: options.provider,
      ...change,
      by: io.by(),
      check: checkOf(io),
    });
    io.print(added, [...lines(added), `Try it with: parley connection test ${slug} ${name}`]);
  });

  withParts(
    connection
      .command('change <slug> <name>')
      .description('make its next version, for calls that begin from now on; what is not given stays'),
  ).action(async (slug: string, name: string, options: PartOptions) => {
    const change = await partsOf(io, options);
    const changed = await changeConnection(io.database(), await io.sealer(), {
      slug,
      name,
      ...change,
      by: io.by(),
      check: checkOf(io),
    });
    io.print(changed, lines(changed));
  });

  connection
    .command('list <slug>')
    .description('all of them, without their keys')
    .action(async (slug: string) => {
      const all = await listConnections(io.database(), { slug });
      const rows = all.map((one) => [
        one.name,
        one.provider,
        String(one.version),
        one.baseUrl,
        one.hasCredentials ? 'yes' : 'no',
        limitsText(one),
      ]);
      const head = ['CONNECTION', 'PROVIDER', 'VERSION', 'ADDRESS', 'KEY', 'LIMITS'];
      io.print(all, table(head, rows, `'${slug}' has no connections.`));
    });

  connection
    .command('show <slug> <name>')
    .description('one of them, with its versions')
    .action(async (slug: string, name: string) => {
      const newest = await showConnection(io.database(), { slug, name });
      const versions = await listConnectionVersions(io.database(), { slug, name });
      const rows = versions.map((one) => [
        String(one.version),
        dateText(one.createdAt),
        one.baseUrl,
        one.hasCredentials ? 'yes' : 'no',
        one.isNewest ? 'new calls use it' : '',
      ]);
      io.print({ ...newest, versions }, [
        ...lines(newest),
        '',
        ...table(['VERSION', 'SINCE', 'ADDRESS', 'KEY', ''], rows, ''),
      ]);
    });

  connection
    .command('test <slug> <name>')
    .description('one real request to the provider')
    .option('--model <name>', 'ask this model for one token, where the provider has models')
    .action(async (slug: string, name: string, options: { model?: string }) => {
      const http = createGuardedClient({ guard: guardOf(io), clock: systemClock });
      try {
        const deps = { http, clock: systemClock };
        const trial = await tryConnection(io.database(), io.opener(), deps, { slug, name, ...given(options) });
        io.print(trial, [...trialLines(trial), ...askedFrom(slug, name)]);
        if (!trial.ok) throw new ExitCode(1);
      } finally {
        await http.close();
      }
    });

  connection
    .command('remove <slug> <name>')
    .description('new calls cannot use it; calls that run go on with it')
    .option('--force', 'although agents or the analysis use it: their calls do without')
    .action(async (slug: string, name: string, options: { force?: boolean }) => {
      const removed = await removeConnection(io.database(), { slug, name, ...given(options), by: io.by() });
      io.print(removed, [`Removed ${name}. Its key is gone, a day later where a live call has it.`]);
    });
}

function withParts(command: Command): Command {
  return command
    .option('--url <url>', "its address, where it is not the provider's own; http inside MODEL_ALLOW_CIDRS")
    .option('--key-file <path>', 'a file that holds the API key, - for standard input')
    .option('--no-key', 'the server wants none')
    .addOption(new Option('--api-key <value>').hideHelp())
    .addOption(new Option('--key <value>').hideHelp())
    .option('--concurrent <number>', 'requests or streams at once; 0 takes the limit away', wholeNumber)
    .option('--requests <number>', 'requests a minute; 0 takes the limit away', wholeNumber)
    .option('--tokens <number>', 'tokens a minute, of a language model; 0 takes the limit away', wholeNumber)
    .option('--set <name=value...>', `settings; an empty value takes one away (${settingsText()})`);
}

async function partsOf(io: CommandIo, options: PartOptions): Promise<ConnectionChange> {
  const credentials = await readCredentials(io, options);
  const limits = given({
    concurrent: numberOrNone(options.concurrent),
    requestsPerMinute: numberOrNone(options.requests),
    tokensPerMinute: numberOrNone(options.tokens),
  });
  return {
    ...given({ baseUrl: options.url, credentials }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(options.set === undefined ? {} : { settings: Object.fromEntries(options.set.map(settingOf)) }),
  };
}

/** Undefined: nothing was said of a key. */
async function readCredentials(
  io: CommandIo,
  options: PartOptions,
): Promise<Record<string, string> | null | undefined> {
  if (options.apiKey !== undefined || typeof options.key === 'string') {
    throw new OperatorError(
      'refused',
      `A key on the command line can be read in the process list and the shell history. Use --key-file (- reads standard input) or ${KEY_VARIABLE}. If it was a real one, change it where it comes from.`,
    );
  }
  if (!options.key) return null;
  const { keyFile } = options;
  const text =
    keyFile === undefined
      ? (io.terminal.environment[KEY_VARIABLE] ?? '')
      : keyFile === '-'
        ? await io.terminal.readInput()
        : await readFile(keyFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
            throw new OperatorError('invalid', `${keyFile} cannot be read (${error.code ?? error.message}).`);
          });
  const apiKey = text.trim();
  if (apiKey !== '') return { apiKey };
  if (keyFile === undefined) return undefined;
  throw new OperatorError('invalid', `There is no key in ${keyFile === '-' ? 'standard input' : keyFile}.`);
}

const numberOrNone = (number: number | undefined): number | null | undefined => (number === 0 ? null : number);

function settingOf(text: string): [string, string | boolean | null] {
  const at = text.indexOf('=');
  if (at < 1) throw new OperatorError('invalid', `'${text}' is no setting; write it like name=value.`);
  const value = text.slice(at + 1);
  const read = value === '' ? null : value === 'true' ? true : value === 'false' ? false : value;
  return [text.slice(0, at), read];
}

function settingsText(): string {
  return PROVIDER_NAMES.map((name) => `${name}: ${PROVIDERS[name].settings.map((one) => one.name).join(', ')}`).join(
    '; ',
  );
}

export const checkOf = (io: CommandIo): AddressCheck => ({
  guard: guardOf(io),
  resolveName: systemResolver,
  clock: systemClock,
});

function lines(connection: Connection): string[] {
  const { name, version, provider, baseUrl, hasCredentials, settings } = connection;
  const set = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
  return [
    `${name}, version ${version}: ${provider} at ${baseUrl}, ${hasCredentials ? 'with a key' : 'without a key'}`,
    `limits: ${limitsText(connection)}`,
    ...(set.length === 0 ? [] : [`settings: ${set.join(', ')}`]),
  ];
}

function limitsText({ limits }: Connection): string {
  const { concurrent, requestsPerMinute, tokensPerMinute } = limits;
  const parts = [
    concurrent === undefined ? [] : `${concurrent} at once`,
    requestsPerMinute === undefined ? [] : `${requestsPerMinute} requests a minute`,
    tokensPerMinute === undefined ? [] : `${tokensPerMinute} tokens a minute`,
  ].flat();
  return parts.length === 0 ? 'none' : parts.join(', ');
}

/** The service may have other settings, and another way out. */
function askedFrom(slug: string, name: string): string[] {
  return [
    `Asked from this command line, with NODE_EXTRA_CA_CERTS of its own environment, and MODEL_ALLOW_CIDRS of it where it has one, else of the running service. That asks itself by POST /api/developer/connections/${name}/test with a key of '${slug}'.`,
  ];
}

function trialLines({ ok, ms, version, fault, problem, models }: ConnectionTrial): string[] {
  if (!ok) return [`It does not serve (${fault}) after ${ms} ms: ${problem}.`];
  const has =
    models === null
      ? ''
      : ` It has ${models.length} models: ${models.slice(0, 5).join(', ')}${models.length > 5 ? ', …' : ''}.`;
  return [`Version ${version} serves, in ${ms} ms.${problem === null ? '' : ` But: ${problem}.`}${has}`];
}
