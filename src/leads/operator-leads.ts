/**
 * Leads and suppressions as the operator handles them, by the name of a workspace: the same rules as for clients,
 * faults as sentences. Used by the command line.
 */
import type { Logger } from 'pino';
import { type Clock, pause } from '../../media/contract/clock.ts';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { factsOf } from '../errors/error-codes.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database } from '../store/database.ts';
import { addToList, takeOffList } from '../suppressions/change-list.ts';
import { listSuppressions, type Suppression } from '../suppressions/suppression-list.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { type ImportFormat, ImportRefused } from './import-reader.ts';
import type { ImportReading } from './import-reading.ts';
import { createImportRunner } from './import-runner.ts';
import {
  cancelImport,
  createImport,
  type ImportError,
  type ImportState,
  type LeadImport,
  listImports,
  readImport,
  readImportErrors,
} from './import-store.ts';
import { readNewLead } from './lead-fields.ts';
import {
  deleteLead,
  faultOfAgent,
  knownAgents,
  type Lead,
  type LeadFilters,
  listLeads,
  readLead,
  storeLeads,
} from './lead-store.ts';
import { normalisePhone } from './phone-number.ts';

const MOST_SHOWN_ERRORS = 10_000;
const PAGE = 200;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export async function listLeadsOf(
  database: Database,
  args: { slug: string; filters: LeadFilters; limit: number },
): Promise<Lead[]> {
  const { id } = await findWorkspace(database, args.slug);
  return listLeads(database, id, args.filters, { before: null, limit: args.limit });
}

export async function addLead(
  database: Database,
  args: { slug: string; fields: Record<string, unknown>; by: ChangedBy },
): Promise<Lead> {
  const { id: workspaceId } = await findWorkspace(database, args.slug);
  const read = readNewLead({ ...args.fields, enterprise: args.slug });
  if (!read.ok) throw new OperatorError('invalid', `${factsOf(read.fault.code).message} (${read.fault.field}).`);
  const { agentId } = read.value;
  await agentMustDo(database, { slug: args.slug, workspaceId, agentId: agentId ?? null });
  return database.transaction(async (tx) => {
    const [stored] = await storeLeads(tx, workspaceId, [read.value], new Date());
    const { id, created } = stored!;
    const action = created ? 'lead.created' : 'lead.changed';
    await recordAudit(tx, { workspaceId, by: args.by, action, target: `lead:${id}` });
    return (await readLead(tx, workspaceId, id))!;
  });
}

async function agentMustDo(
  database: Database,
  { slug, workspaceId, agentId }: { slug: string; workspaceId: string; agentId: string | null },
): Promise<void> {
  const known = await knownAgents(database, workspaceId, agentId !== null && UUID.test(agentId) ? [agentId] : []);
  const code = faultOfAgent(known, agentId);
  if (code === 'agent_not_found')
    throw new OperatorError('not_found', `Workspace '${slug}' has no agent '${agentId}'.`);
  if (code !== null) {
    throw new OperatorError('invalid', `Agent '${agentId}' does not call out: its direction must be outbound or any.`);
  }
}

export async function removeLead(
  database: Database,
  args: { slug: string; leadId: string; by: ChangedBy },
): Promise<void> {
  const { slug, leadId, by } = args;
  const { id: workspaceId } = await findWorkspace(database, slug);
  await database.transaction(async (tx) => {
    if (!UUID.test(leadId) || !(await deleteLead(tx, workspaceId, leadId))) {
      throw new OperatorError(
        'not_found',
        `Workspace '${slug}' has no lead '${leadId}'`,
        `see: parley lead list ${slug}`,
      );
    }
    await recordAudit(tx, { workspaceId, by, action: 'lead.deleted', target: `lead:${leadId}` });
  });
}

/** Imports a whole file before it resolves; a service that runs may do a part of it. */
export async function importLeads(
  deps: { database: Database; clock: Clock; log: Logger; reading: ImportReading },
  args: {
    slug: string;
    content: Buffer;
    format: ImportFormat;
    agentId: string | null;
    source: string | null;
    by: ChangedBy;
  },
): Promise<{ import: LeadImport; errors: ImportError[] }> {
  const { database, clock } = deps;
  const { id: workspaceId } = await findWorkspace(database, args.slug);
  const { content, format, agentId, source } = args;
  await agentMustDo(database, { slug: args.slug, workspaceId, agentId });
  const file = { content, format, defaults: { agentId, source } };
  const { id } = await createImport(deps, workspaceId, file, args.by).catch((error: unknown) => {
    throw error instanceof ImportRefused ? new OperatorError('invalid', `${error.message}.`) : error;
  });
  const runner = createImportRunner(deps);
  for (;;) {
    await runner.drain();
    const found = (await readImport(database, workspaceId, id))!;
    if (found.state !== 'queued' && found.state !== 'running') {
      const errors = await readImportErrors(database, workspaceId, id, { after: 0, limit: MOST_SHOWN_ERRORS });
      return { import: found, errors };
    }
    // The service has it, or one that came before.
    await pause(clock, 500);
  }
}

export async function listImportsOf(
  database: Database,
  args: { slug: string; state: readonly ImportState[] | undefined; limit: number },
): Promise<LeadImport[]> {
  const { id } = await findWorkspace(database, args.slug);
  return listImports(database, id, { state: args.state }, { before: null, limit: args.limit });
}

export async function cancelImportOf(
  database: Database,
  args: { slug: string; importId: string; by: ChangedBy },
): Promise<LeadImport> {
  const { slug, importId, by } = args;
  const { id: workspaceId } = await findWorkspace(database, slug);
  const canceled = UUID.test(importId) ? await cancelImport(database, { workspaceId, importId, by }) : undefined;
  if (canceled === undefined) {
    throw new OperatorError(
      'not_found',
      `Workspace '${slug}' has no import '${importId}'`,
      `see: parley lead imports ${slug}`,
    );
  }
  if (canceled === 'over') throw new OperatorError('refused', 'The import has ended already; its leads stay.');
  return canceled;
}

/** Up to `limit`, newest first. */
export async function listSuppressionsOf(
  database: Database,
  args: { slug: string; limit: number },
): Promise<Suppression[]> {
  const { id } = await findWorkspace(database, args.slug);
  const found: Suppression[] = [];
  for (let before: string | null = null; found.length < args.limit; ) {
    const page = await listSuppressions(database, id, { before, limit: Math.min(PAGE, args.limit - found.length) });
    found.push(...page.map(({ id: _id, ...shown }) => shown));
    before = page.at(-1)?.id ?? null;
    if (page.length < PAGE || before === null) break;
  }
  return found;
}

/** Returns how many are new. Throws one sentence that names every text that is no number. */
export async function suppressNumbers(
  database: Database,
  args: { slug: string; texts: readonly string[]; reason: string | null; by: ChangedBy },
): Promise<number> {
  const { id: workspaceId } = await findWorkspace(database, args.slug);
  const { by, reason } = args;
  return addToList(database, { workspaceId, numbers: numbersOf(args.texts), by, reason, source: 'operator' });
}

export async function unsuppressNumbers(
  database: Database,
  args: { slug: string; texts: readonly string[]; by: ChangedBy },
): Promise<number> {
  const { id: workspaceId } = await findWorkspace(database, args.slug);
  return takeOffList(database, { workspaceId, numbers: numbersOf(args.texts), by: args.by });
}

function numbersOf(texts: readonly string[]): string[] {
  const bad = texts.filter((text) => normalisePhone(text) === null);
  if (bad.length > 0) {
    const named = bad.slice(0, 10).map((text) => `'${text}'`);
    const rest = bad.length > named.length ? ` and ${bad.length - named.length} more` : '';
    throw new OperatorError(
      'invalid',
      `No numbers in international form: ${named.join(', ')}${rest}. Nothing was changed.`,
    );
  }
  return texts.map((text) => normalisePhone(text)!);
}
