/** `parley audit …`: list what was changed and by whom, and check that nobody changed the list. */
import type { Command } from 'commander';
import { chainOf, SERVICE_CHAIN } from '../audit/audit-entry.ts';
import { createChainSigner } from '../audit/chain-signer.ts';
import { linkAudit } from '../audit/link-chain.ts';
import { readAudit } from '../audit/read-audit.ts';
import { type AuditFault, type ChainReport, verifyChain } from '../audit/verify-chain.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { findWorkspace, listWorkspaces } from '../workspaces/workspaces.ts';
import { type CommandIo, ExitCode, given, listOf, table, wholeNumber } from './command-io.ts';

export function addAuditCommands(program: Command, io: CommandIo): void {
  const audit = program.command('audit').description('who changed what: hash-chained, never changed');

  audit
    .command('list <slug>')
    .description('the newest changes of a workspace')
    .option('--limit <rows>', 'how many', wholeNumber, 50)
    .option('--before <position>', 'only rows before this one', wholeNumber)
    .option('--actor <actor>', 'like key:AbCdEfGh or cli:anna; several with commas', listOf)
    .option('--action <action>', 'like line.limits_changed; several with commas', listOf)
    .option('--target <target>', 'like line:0199…; several with commas', listOf)
    .action(async (slug: string, options: ListOptions) => {
      const { id } = await findWorkspace(io.database(), slug);
      const rows = await readAudit(io.database(), null, {
        workspaceId: id,
        filters: given({
          actor: options.actor,
          action: options.action,
          target: options.target,
        }),
        before: options.before ?? null,
        limit: options.limit,
      });
      const cells = rows.map((row) => [
        String(row.position),
        row.at.toISOString(),
        row.actor,
        row.action,
        row.target,
        row.ip ?? '-',
        changeText(row.before, row.after),
      ]);
      io.print(
        rows,
        table(['ROW', 'AT', 'ACTOR', 'ACTION', 'TARGET', 'ADDRESS', 'CHANGE'], cells, `'${slug}' has no such rows.`),
      );
    });

  audit
    .command('verify [slug]')
    .description(
      'check every row of a workspace, or of all; ends with 1 when a row was changed, removed, inserted or moved',
    )
    .option('--expect <row:hash>', 'with a workspace: this row must still have the hash that an earlier run printed')
    .action(async (slug: string | undefined, options: { expect?: string }) => {
      const database = io.database();
      const hasKey = io.settings().masterKeys().length > 0;
      const signer = hasKey ? createChainSigner(await io.masterKeys()) : null;
      const workspaces = slug === undefined ? await listWorkspaces(database) : [await findWorkspace(database, slug)];
      const chains = workspaces.map((one) => ({ name: one.slug, chain: chainOf(one.id) }));
      if (slug === undefined) chains.push({ name: '(service)', chain: SERVICE_CHAIN });
      await linkAudit(database, signer);
      const reports: (ChainReport & { name: string })[] = [];
      for (const { name, chain } of chains) reports.push({ name, ...(await verifyChain(database, chain, signer)) });
      const expected = await expectation(io, chains[0]!.chain, slug, options.expect);
      const whole = reports.every((report) => report.faults.length === 0) && expected.length === 0;
      const unsealed = signer === null ? ['Without PARLEY_MASTER_KEY the seals were compared, not proved.'] : [];
      io.print({ ok: whole, proved: signer !== null, chains: reports, ...(expected.length > 0 ? { expected } : {}) }, [
        ...reports.flatMap(linesOf),
        ...expected,
        ...unsealed,
        whole ? 'Every row is as it was written.' : 'The audit was TAMPERED WITH.',
      ]);
      if (!whole) throw new ExitCode(1);
    });
}

interface ListOptions {
  limit: number;
  before?: number;
  actor?: string[];
  action?: string[];
  target?: string[];
}

function linesOf({ name, rows, end, seals, faults, moreFaults }: ChainReport & { name: string }): string[] {
  const head = `${name}: ${rows} rows, ${seals} seals, end ${end.position}:${end.hash}`;
  return [head, ...faults.map((fault) => `  ${sentenceOf(fault)}`), ...(moreFaults ? ['  … and more'] : [])];
}

function sentenceOf({ position, kind, id, toPosition, belongsAt }: AuditFault): string {
  const row = toPosition === undefined ? `row ${position}` : `rows ${position} to ${toPosition}`;
  const which = id === null ? row : `${row} (${id})`;
  switch (kind) {
    case 'changed':
      return `${which} was changed`;
    case 'removed':
      return `${row} ${toPosition === undefined ? 'was' : 'were'} removed`;
    case 'inserted':
      return `${which} ${toPosition === undefined ? 'was' : 'were'} inserted`;
    case 'moved':
      return `${which} was moved: it belongs at ${belongsAt}`;
    case 'does_not_follow':
      return `${which} does not follow row ${position - 1}, which was changed and hashed anew`;
    case 'end':
      return `the chain's end is not the one that was noted at ${row}`;
    case 'seal':
      return `${which} is not the row that was sealed there: the chain was written anew, or the master key is another`;
  }
}

async function expectation(
  io: CommandIo,
  chain: string,
  slug: string | undefined,
  expect: string | undefined,
): Promise<string[]> {
  if (expect === undefined) return [];
  const match = /^(\d{1,15}):([0-9a-f]{64})$/.exec(expect);
  if (match === null || slug === undefined) {
    throw new OperatorError('invalid', 'Give a workspace, and --expect ROW:HASH as an earlier verify printed its end.');
  }
  const [, position = '', hash = ''] = match;
  const [row] = await io
    .database()
    .query<{ hash: string }>(`SELECT encode(hash, 'hex') AS hash FROM audit_log WHERE chain = $1 AND position = $2`, [
      chain,
      position,
    ]);
  if (row?.hash === hash) return [];
  return [`row ${position} is ${row === undefined ? 'not there' : 'another'} than the one that you expect`];
}

function changeText(before: unknown, after: unknown): string {
  const text = (value: unknown): string => (value === null || value === undefined ? '-' : JSON.stringify(value));
  const change = before === null ? text(after) : `${text(before)} → ${text(after)}`;
  return change.length > 160 ? `${change.slice(0, 159)}…` : change;
}
