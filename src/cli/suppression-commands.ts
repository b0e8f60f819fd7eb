/**
 * `parley suppression …` and `parley calling`: the numbers that must not be dialled, and what
 * else decides about a dial.
 */
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { OperatorError } from '../errors/operator-error.ts';
import { listSuppressionsOf, suppressNumbers, unsuppressNumbers } from '../leads/operator-leads.ts';
import {
  changeCallingSettings,
  readCallingSettings,
  readCountries,
  readWindow,
} from '../suppressions/calling-policy.ts';
import { windowText } from '../suppressions/calling-window.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { type CommandIo, dateText, given, table, wholeNumber } from './command-io.ts';

export function addSuppressionCommands(program: Command, io: CommandIo): void {
  const suppression = program.command('suppression').description('numbers that a workspace must not dial');

  suppression
    .command('list <slug>')
    .description('the newest entries')
    .option('--limit <numbers>', 'how many', wholeNumber, 100)
    .action(async (slug: string, options: { limit: number }) => {
      const found = await listSuppressionsOf(io.database(), { slug, limit: options.limit });
      const rows = found.map((one) => [one.phone, one.source, one.reason ?? '-', dateText(one.createdAt)]);
      io.print(found, table(['NUMBER', 'BY', 'REASON', 'SINCE'], rows, `'${slug}' suppresses no number.`));
    });

  suppression
    .command('add <slug> <numbers...>')
    .description('put numbers on the list; holds for every call that begins from now on')
    .option('--reason <text>', 'why')
    .action(async (slug: string, texts: string[], options: { reason?: string }) => {
      const added = await suppressNumbers(io.database(), { slug, texts, reason: options.reason ?? null, by: io.by() });
      io.print({ added }, [`${added} of ${texts.length} are new on the list.`]);
    });

  suppression
    .command('import <slug> <file>')
    .description('put the numbers of a file on the list, one a line (- reads standard input)')
    .option('--reason <text>', 'why')
    .action(async (slug: string, file: string, options: { reason?: string }) => {
      const content = file === '-' ? await io.terminal.readInput() : await read(file);
      const texts = content
        .replace(/^\ufeff/, '')
        .split(/\r\n|\n|\r/)
        .filter((line) => line.trim() !== '');
      const added = await suppressNumbers(io.database(), { slug, texts, reason: options.reason ?? null, by: io.by() });
      io.print({ added, known: texts.length - added }, [`${added} of ${texts.length} are new on the list.`]);
    });

  suppression
    .command('remove <slug> <numbers...>')
    .description('take numbers off the list, also those that came there by a call')
    .action(async (slug: string, texts: string[]) => {
      const removed = await unsuppressNumbers(io.database(), { slug, texts, by: io.by() });
      io.print({ removed }, [`${removed} of ${texts.length} were on the list.`]);
    });

  program
    .command('calling <slug>')
    .description('show what a lead’s call uses and how doubled calls are guarded against, or change what is given')
    .option('--window <hours>', 'when calls may begin, like 09:00-20:00; none: at any time')
    .option('--days <days>', 'with --window: like 1-5 or 1,3,6 (1 is Monday)', '1-7')
    .option(
      '--timezone <zone>',
      "with --window: recipient (the called person's), or like America/Los_Angeles",
      'recipient',
    )
    .option('--allow-countries <list>', 'only these, like US,CA; any: all')
    .option('--block-countries <list>', 'not these, like GB,FR; none: no block')
    .option('--default-agent <agent-id>', 'of leads that name none')
    .option('--default-line <line-id>', 'of agents without one')
    .addOption(
      new Option('--guard-calls <state>', 'refuse POST /api/outbound-call twice at once').choices(['on', 'off']),
    )
    .addOption(new Option('--guard-leads <state>', 'the same for calls of leads').choices(['on', 'off']))
    .action(async (slug: string, options: CallingOptions) => {
      const { id } = await findWorkspace(io.database(), slug);
      const change = given({
        window:
          options.window === undefined
            ? undefined
            : options.window === 'none'
              ? null
              : readWindow(options.window, options.days, options.timezone),
        allowedCountries: countries(options.allowCountries, 'any', null),
        blockedCountries: countries(options.blockCountries, 'none', []),
        defaultAgentId: options.defaultAgent,
        defaultLineId: options.defaultLine,
        guardCalls: options.guardCalls === undefined ? undefined : options.guardCalls === 'on',
        guardLeads: options.guardLeads === undefined ? undefined : options.guardLeads === 'on',
      });
      const settings =
        Object.keys(change).length === 0
          ? await readCallingSettings(io.database(), id)
          : await changeCallingSettings(io.database(), id, change, io.by());
      const { window, allowedCountries, blockedCountries } = settings;
      const except = blockedCountries.length === 0 ? '' : `, not ${blockedCountries.join(', ')}`;
      io.print(settings, [
        `'${slug}' calls ${window === null ? 'at any time' : `${windowText(window)}, days ${window.days.join(', ')}`}; ${allowedCountries?.join(', ') ?? 'any country'}${except}`,
        `'${slug}': leads are called by agent ${settings.defaultAgentId ?? '(the only one)'} on line ${settings.defaultLineId ?? "(the agent's, or the only one)"}`,
        `the same call twice at once: outbound calls ${guarded(settings.guardCalls)}, leads ${guarded(settings.guardLeads)}`,
      ]);
    });
}

function countries<None>(list: string | undefined, none: string, empty: None): string[] | None | undefined {
  if (list === undefined) return undefined;
  return list === none ? empty : readCountries(list);
}

interface CallingOptions {
  window?: string;
  days: string;
  timezone: string;
  allowCountries?: string;
  blockCountries?: string;
  defaultAgent?: string;
  defaultLine?: string;
  guardCalls?: 'on' | 'off';
  guardLeads?: 'on' | 'off';
}

const guarded = (on: boolean): string => (on ? 'refused' : 'let through');

async function read(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError('invalid', `${file} cannot be read (${error.code ?? error.message}).`);
  });
}
