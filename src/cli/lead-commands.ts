/** `parley lead …`: list, add, remove and import leads of a workspace. */
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { type Command, Option } from 'commander';
import pino from 'pino';
import { systemClock } from '../../media/contract/clock.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { READING_HERE } from '../leads/import-reading.ts';
import { IMPORT_STATES } from '../leads/import-store.ts';
import { LEAD_STATUSES } from '../leads/lead-store.ts';
import {
  addLead,
  cancelImportOf,
  importLeads,
  listImportsOf,
  listLeadsOf,
  removeLead,
} from '../leads/operator-leads.ts';
import { type CommandIo, dateText, listOf, table, wholeNumber } from './command-io.ts';

const SHOWN_ERRORS = 20;

export function addLeadCommands(program: Command, io: CommandIo): void {
  const lead = program.command('lead').description('leads of a workspace');

  lead
    .command('list <slug>')
    .description('the newest leads')
    .option('--status <list>', `only these: ${LEAD_STATUSES.join(', ')}`)
    .option('--limit <leads>', 'how many', wholeNumber, 50)
    .action(async (slug: string, options: { status?: string; limit: number }) => {
      const leads = await listLeadsOf(io.database(), {
        slug,
        filters: { status: namesOf(LEAD_STATUSES, options.status) },
        limit: options.limit,
      });
      const rows = leads.map((one) => [
        one.id,
        one.phone,
        one.name,
        one.status,
        String(one.callCount),
        one.externalId ?? '-',
        dateText(one.createdAt),
      ]);
      const head = ['LEAD', 'PHONE', 'NAME', 'STATUS', 'CALLS', 'EXTERNAL ID', 'CREATED'];
      io.print(leads, table(head, rows, `'${slug}' has no such leads.`));
    });

  lead
    .command('add <slug>')
    .description('add a lead, or change the one with this external id')
    .requiredOption('--phone <number>', 'in international form, like +14155550123')
    .option('--name <name>', 'for {{customer_name}}')
    .option('--agent <agent-id>', 'who calls')
    .option('--notes <text>', 'for {{notes}}')
    .option('--source <label>', 'for {{source}}')
    .option('--external-id <id>', 'yours')
    .option('--timezone <name>', 'like America/Los_Angeles')
    .action(async (slug: string, options: Record<string, string | undefined>) => {
      const { agent: agentId, ...fields } = options;
      const added = await addLead(io.database(), { slug, fields: { ...fields, agentId }, by: io.by() });
      io.print(added, [`${added.phone} is lead ${added.id}.`]);
    });

  lead
    .command('remove <slug> <lead-id>')
    .description('delete a lead; its calls stay in the call log')
    .action(async (slug: string, leadId: string) => {
      await removeLead(io.database(), { slug, leadId, by: io.by() });
      io.print({ removed: leadId }, [`Lead ${leadId} is deleted.`]);
    });

  lead
    .command('import <slug> <file>')
    .description(
      'import CSV with a header line, or one JSON object a line (- reads standard input); 10,000 rows at most',
    )
    .addOption(new Option('--format <format>', "by the file's name when left out").choices(['csv', 'ndjson']))
    .option('--agent <agent-id>', 'of rows that name none')
    .option('--source <label>', 'of rows that name none')
    .action(
      async (slug: string, file: string, options: { format?: 'csv' | 'ndjson'; agent?: string; source?: string }) => {
        const content = file === '-' ? Buffer.from(await io.terminal.readInput()) : await read(file);
        const done = await importLeads(
          { database: io.database(), clock: systemClock, log: pino({ level: 'silent' }), reading: READING_HERE },
          {
            slug,
            content,
            format: options.format ?? (/json/.test(extname(file)) ? 'ndjson' : 'csv'),
            agentId: options.agent ?? null,
            source: options.source ?? null,
            by: io.by(),
          },
        );
        const { totalRows, createdCount, updatedCount, failedCount, ignoredColumns } = done.import;
        const shown = done.errors.slice(0, SHOWN_ERRORS);
        const more = done.errors.length - shown.length;
        io.print(done, [
          `${totalRows} rows: ${createdCount} new leads, ${updatedCount} changed, ${failedCount} refused.`,
          ...(ignoredColumns.length > 0 ? [`Columns that are no field of a lead: ${ignoredColumns.join(', ')}`] : []),
          ...shown.map(({ line, message }) => `  line ${line}: ${message}`),
          ...(more > 0 ? [`  and ${more} more; --json shows all`] : []),
        ]);
      },
    );

  lead
    .command('imports <slug>')
    .description('the newest imports and how far they are')
    .option('--state <list>', `only these: ${IMPORT_STATES.join(', ')}`)
    .option('--limit <imports>', 'how many', wholeNumber, 50)
    .action(async (slug: string, options: { state?: string; limit: number }) => {
      const { limit } = options;
      const found = await listImportsOf(io.database(), { slug, state: namesOf(IMPORT_STATES, options.state), limit });
      const rows = found.map((one) => [
        one.id,
        one.state,
        `${one.processedRows} of ${one.totalRows}`,
        String(one.failedCount),
        dateText(one.createdAt),
      ]);
      io.print(found, table(['IMPORT', 'STATE', 'ROWS', 'REFUSED', 'CREATED'], rows, `'${slug}' has no such imports.`));
    });

  lead
    .command('cancel-import <slug> <import-id>')
    .description('call off an import; rows that were stored stay')
    .action(async (slug: string, importId: string) => {
      const canceled = await cancelImportOf(io.database(), { slug, importId, by: io.by() });
      const { processedRows, totalRows } = canceled;
      io.print(canceled, [`Called off after ${processedRows} of ${totalRows} rows.`]);
    });
}

/** Of a list with commas; undefined when it was not given. */
function namesOf<Name extends string>(known: readonly Name[], list: string | undefined): Name[] | undefined {
  if (list === undefined) return undefined;
  const unknown = listOf(list).filter((one) => !known.some((name) => name === one));
  if (unknown.length === 0) return known.filter((name) => listOf(list).includes(name));
  throw new OperatorError('invalid', `Not to be found: ${unknown.join(', ')}. There are: ${known.join(', ')}.`);
}

async function read(file: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError('invalid', `${file} cannot be read (${error.code ?? error.message}).`);
  });
}
