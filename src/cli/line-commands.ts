/**
 * `parley line …`: phone lines and their carrier credentials. A secret comes from a file, standard input or the environment,
 * never from the command line, where the process list and the shell's history would show it.
 */
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import {
  addLine,
  CARRIER_CREDENTIALS,
  listLines,
  type PhoneLine,
  removeLine,
  setLineCredentials,
  setLineLimits,
} from '../workspaces/lines.ts';
import { OperatorError } from '../workspaces/operator-error.ts';
import { type CommandIo, given, table, wholeNumber } from './command-io.ts';

export interface CredentialOptions {
  authId?: string;
  authTokenFile?: string;
  authToken?: string;
}

export function addLineCommands(program: Command, io: CommandIo): void {
  const line = program.command('line').description('phone lines of a workspace');
  const carriers = Object.keys(CARRIER_CREDENTIALS).join(', ');

  withCredentials(line.command('add <slug>').description('add a phone line; credentials may follow later'))
    .requiredOption('--number <number>', 'in international form, like +14155550100')
    .requiredOption('--carrier <name>', carriers)
    .action(async (slug: string, options: CredentialOptions & { number: string; carrier: string }) => {
      const credentials = await readCredentials(io, options.carrier, options);
      const { number, carrier } = options;
      const added = await addLine(io.database(), await io.sealer(), {
        slug,
        number,
        carrier,
        ...given({ credentials }),
        by: io.by(),
      });
      const advice = `It has no credentials yet: parley line credentials ${slug} ${added.id} …`;
      io.print(added, [`Added ${number} as line ${added.id}.`, ...(added.hasCredentials ? [] : [advice])]);
    });

  withCredentials(
    line.command('credentials <slug> <line-id>').description('set or change the carrier credentials'),
  ).action(async (slug: string, lineId: string, options: CredentialOptions) => {
    const known = (await listLines(io.database(), { slug })).find((one) => one.id === lineId);
    const credentials = await readCredentials(io, known?.carrier ?? 'plivo', options);
    if (credentials === undefined) {
      throw new OperatorError(
        'invalid',
        'Give --auth-id and --auth-token-file, or PLIVO_AUTH_ID and PLIVO_AUTH_TOKEN.',
      );
    }
    const changed = await setLineCredentials(io.database(), await io.sealer(), {
      slug,
      lineId,
      credentials,
      by: io.by(),
    });
    io.print(changed, [`The credentials of ${changed.number} are stored.`]);
  });

  line
    .command('limits <slug> <line-id>')
    .description('show the limits, or change those that are given; 0 lets nothing through')
    .option('--concurrent <calls>', 'calls at once', wholeNumber)
    .option('--cps <calls>', 'new calls a second', wholeNumber)
    .action(async (slug: string, lineId: string, options: { concurrent?: number; cps?: number }) => {
      const limits = given({ concurrentCalls: options.concurrent, callsPerSecond: options.cps });
      const changed = await setLineLimits(io.database(), { slug, lineId, limits, by: io.by() });
      const { concurrentCalls, callsPerSecond } = changed.limits;
      const off = isSwitchedOff(changed) ? '; it is switched off, because nothing gets through a limit of 0' : '';
      io.print(changed, [`${changed.number}: ${concurrentCalls} calls at once, ${callsPerSecond} new a second${off}`]);
    });

  line
    .command('remove <slug> <line-id>')
    .description('place no more calls from it; calls that run go on, and its credentials are gone a day later')
    .action(async (slug: string, lineId: string) => {
      await removeLine(io.database(), { slug, lineId, by: io.by() });
      io.print({ lineId }, [`Line ${lineId} is removed.`]);
    });

  line
    .command('list <slug>')
    .description('all lines, with the ids that `from` takes')
    .action(async (slug: string) => {
      const lines = await listLines(io.database(), { slug });
      const rows = lines.map((one) => [
        one.id,
        one.number,
        one.carrier,
        one.hasCredentials ? 'yes' : 'no',
        `${one.limits.concurrentCalls} at once, ${one.limits.callsPerSecond}/s${isSwitchedOff(one) ? ' (switched off)' : ''}`,
      ]);
      io.print(lines, table(['LINE', 'NUMBER', 'CARRIER', 'CREDENTIALS', 'LIMITS'], rows, `'${slug}' has no lines.`));
    });
}

function isSwitchedOff({ limits }: PhoneLine): boolean {
  return limits.concurrentCalls === 0 || limits.callsPerSecond === 0;
}

export function withCredentials(command: Command): Command {
  return command
    .option('--auth-id <id>', "the carrier account's id (or PLIVO_AUTH_ID)")
    .option('--auth-token-file <file>', 'a file with its token, - for standard input (or PLIVO_AUTH_TOKEN)')
    .addOption(new Option('--auth-token <token>').hideHelp());
}

/** Undefined when none of them was given at all. */
export async function readCredentials(
  io: CommandIo,
  carrier: string,
  options: CredentialOptions,
): Promise<Record<string, string> | undefined> {
  if (options.authToken !== undefined) {
    throw new OperatorError(
      'refused',
      'A token on the command line can be read in the process list and the shell history. Put it into a file and use --auth-token-file (- reads standard input), or set PLIVO_AUTH_TOKEN. If it was a real one, change it at the carrier.',
    );
  }
  const { environment } = io.terminal;
  const prefix = carrier.toUpperCase();
  const authId = options.authId ?? environment[`${prefix}_AUTH_ID`];
  const authToken = await readToken(io, options.authTokenFile, environment[`${prefix}_AUTH_TOKEN`]);
  if (authId === undefined && authToken === undefined) return undefined;
  return given({ authId, authToken }) as Record<string, string>;
}

async function readToken(
  io: CommandIo,
  file: string | undefined,
  fallback: string | undefined,
): Promise<string | undefined> {
  if (file === undefined) return fallback;
  const text =
    file === '-'
      ? await io.terminal.readInput()
      : await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
          throw new OperatorError('invalid', `${file} cannot be read (${error.code ?? error.message}).`);
        });
  if (text.trim() === '') throw new OperatorError('invalid', 'The token is empty.');
  return text.trim();
}
