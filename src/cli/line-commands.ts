/** `parley line …`: phone lines and their carrier credentials (`carrier-credentials.ts`). */
import type { Command } from 'commander';
import { CARRIER_NAMES } from '../../media/contract/carriers.ts';
import { OperatorError } from '../errors/operator-error.ts';
import {
  addLine,
  listLines,
  type PhoneLine,
  removeLine,
  setLineCredentials,
  setLineLimits,
} from '../workspaces/lines.ts';
import { type CredentialOptions, credentialAdvice, readCredentials, withCredentials } from './carrier-credentials.ts';
import { type CommandIo, given, table, wholeNumber } from './command-io.ts';

export function addLineCommands(program: Command, io: CommandIo): void {
  const line = program.command('line').description('phone lines of a workspace');
  const carriers = CARRIER_NAMES.join(', ');

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
    const carrier = known?.carrier ?? CARRIER_NAMES[0]!;
    const credentials = await readCredentials(io, carrier, options);
    if (credentials === undefined) throw new OperatorError('invalid', credentialAdvice(carrier));
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
