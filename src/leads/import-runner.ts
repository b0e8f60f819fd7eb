/**
 * Works through imports in the background, one at a time: rows in groups, each group with its errors and the import's progress
 * in one transaction. So a row is stored once, and an import that a process left behind goes on where it stood: its lease runs
 * out, and the next one takes it. Created by control and by the command line; whoever creates it closes it.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import { factsOf } from '../api/error-codes.ts';
import { isDatabaseAway } from '../calls/database-away.ts';
import type { Database, Queryable } from '../store/database.ts';
import { decodeImport, type ImportFormat, type ImportRow, type RowFault, readRows } from './import-reader.ts';
import type { ImportDefaults } from './import-store.ts';
import { type LeadInput, readNewLead } from './lead-fields.ts';
import { knownAgents, storeLeads } from './lead-store.ts';

export interface ImportRunner {
  start(): void;
  /** There is a new one. */
  nudge(): void;
  /** Works until nothing is left to take; for the command line and tests. */
  drain(): Promise<void>;
  /** Waits for the group of rows under way and gives the rest back. Idempotent. */
  close(): Promise<void>;
}

interface Job {
  id: string;
  workspace_id: string;
  slug: string;
  format: ImportFormat;
  content: Buffer;
  defaults: ImportDefaults;
  processed_rows: number;
  total_rows: number;
  lease_epoch: number;
}

const ROWS_OF_A_GROUP = 250;
const LEASE_SECONDS = 15;
const SWEEP_EVERY_MS = 5_000;
/** Two writers took the same rows in another order, or one came first: it goes again. */
const TRY_AGAIN = new Set(['40P01', '40001', '23505']);
const MOST_TRIES = 5;

/** Of one workspace one at a time, in the order in which they came: a later file changes what an earlier one made. */
const CLAIM = `
  UPDATE lead_imports SET state = 'running', lease_epoch = lease_epoch + 1,
         lease_until = clock_timestamp() + interval '${LEASE_SECONDS} seconds', started_at = coalesce(started_at, clock_timestamp())
  FROM (SELECT i.id, w.slug FROM lead_imports i JOIN workspaces w ON w.id = i.workspace_id
        WHERE i.state IN ('queued', 'running') AND (i.lease_until IS NULL OR i.lease_until < clock_timestamp())
          AND NOT EXISTS (SELECT 1 FROM lead_imports o WHERE o.workspace_id = i.workspace_id AND o.id < i.id
                            AND o.state IN ('queued', 'running'))
        ORDER BY i.id LIMIT 1 FOR UPDATE OF i SKIP LOCKED) AS due
  WHERE lead_imports.id = due.id
  RETURNING lead_imports.id, workspace_id, due.slug, format, content, defaults, processed_rows, total_rows, lease_epoch`;

export function createImportRunner(deps: { database: Database; clock: Clock; log: Logger }): ImportRunner {
  const { database, clock, log } = deps;
  let closed = false;
  let working: Promise<void> | null = null;
  let cancelSweep = (): void => {};

  async function work(): Promise<void> {
    while (!closed) {
      const [job] = await database.query<Job>(CLAIM);
      if (job === undefined) return;
      try {
        await runJob(job);
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        log.error({ importId: job.id, err: error }, 'an import was given up');
        await giveUp(job);
      }
    }
  }

  async function runJob(job: Job): Promise<void> {
    let group: ImportRow[] = [];
    for (const row of readRows(decodeImport(job.content), job.format)) {
      if (row.row <= job.processed_rows) continue;
      group.push(row);
      if (group.length < ROWS_OF_A_GROUP && row.row < job.total_rows) continue;
      if (!(await storeGroup(job, group))) return;
      group = [];
      if (closed) return release(job);
    }
    await database.query(
      `UPDATE lead_imports SET state = 'completed', content = NULL, lease_until = NULL, finished_at = clock_timestamp()
       WHERE id = $1 AND lease_epoch = $2`,
      [job.id, job.lease_epoch],
    );
  }

  /** False: another one has the import now. */
  async function storeGroup(job: Job, rows: readonly ImportRow[]): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      try {
        return await database.transaction((tx) => storeRows(tx, job, rows));
      } catch (error) {
        if (TRY_AGAIN.has((error as { code?: string }).code ?? '') && tries < MOST_TRIES) continue;
        if (isDatabaseAway(error)) throw error;
        log.warn({ importId: job.id, err: error }, 'a group of an import could not be stored; its rows go one by one');
        break;
      }
    }
    for (const row of rows) {
      const stored = await database
        .transaction((tx) => storeRows(tx, job, [row]))
        .catch(async (error: unknown) => {
          if (isDatabaseAway(error)) throw error;
          const fault = { field: null, code: 'internal_error', message: 'The row could not be stored' };
          return database.transaction((tx) => storeRows(tx, job, [{ ...row, read: { ok: false, fault } }]));
        });
      if (!stored) return false;
    }
    return true;
  }

  /** It must not hold up those that come after it for ever. */
  async function giveUp(job: Job): Promise<void> {
    await database.query(
      `UPDATE lead_imports SET state = 'failed', error = 'internal_error', content = NULL, lease_until = NULL,
              finished_at = clock_timestamp() WHERE id = $1 AND lease_epoch = $2`,
      [job.id, job.lease_epoch],
    );
  }

  async function release(job: Job): Promise<void> {
    await database.query('UPDATE lead_imports SET lease_until = NULL WHERE id = $1 AND lease_epoch = $2', [
      job.id,
      job.lease_epoch,
    ]);
  }

  function workOnce(): Promise<void> {
    working ??= work().finally(() => {
      working = null;
    });
    return working;
  }

  function workQuietly(): void {
    workOnce().catch((error: unknown) => {
      log.warn({ err: error }, 'an import could not go on; it is tried again within 20 s');
    });
  }

  function sweepLater(): void {
    cancelSweep = clock.after(SWEEP_EVERY_MS, () => {
      workQuietly();
      sweepLater();
    });
  }

  return {
    start() {
      workQuietly();
      sweepLater();
    },
    nudge: () => workQuietly(),
    drain: workOnce,
    async close() {
      closed = true;
      cancelSweep();
      await working?.catch(() => {});
    },
  };
}

async function storeRows(tx: Queryable, job: Job, rows: readonly ImportRow[]): Promise<boolean> {
  const { workspace_id: workspaceId } = job;
  const owned = await tx.query('SELECT 1 AS one FROM lead_imports WHERE id = $1 AND lease_epoch = $2 FOR UPDATE', [
    job.id,
    job.lease_epoch,
  ]);
  if (owned.length === 0) return false;

  const faults: { row: ImportRow; fault: RowFault }[] = [];
  const good: { row: ImportRow; input: LeadInput }[] = [];
  for (const row of rows) {
    const read = readRow(row, job);
    if ('fault' in read) faults.push({ row, fault: read.fault });
    else good.push({ row, input: read.input });
  }
  const agentIds = good.flatMap(({ input }) => (typeof input.agentId === 'string' ? [input.agentId] : []));
  const agents = await knownAgents(tx, workspaceId, agentIds);
  const inputs: LeadInput[] = [];
  for (const { row, input } of good) {
    if (typeof input.agentId !== 'string' || agents.has(input.agentId)) inputs.push(input);
    else faults.push({ row, fault: { field: 'agentId', ...messageOf('agent_not_found') } });
  }

  const now = await databaseNow(tx);
  let created = 0;
  for (const batch of apartByExternalId(inputs)) {
    const stored = await storeLeads(tx, workspaceId, batch, now);
    created += stored.filter((lead) => lead.created).length;
  }
  await tx.query(
    `INSERT INTO lead_import_errors (import_id, row, line, field, code, message)
     SELECT $1, e.row, e.line, e.field, e.code, e.message
     FROM unnest($2::int[], $3::int[], $4::text[], $5::text[], $6::text[]) AS e (row, line, field, code, message)`,
    [
      job.id,
      faults.map(({ row }) => row.row),
      faults.map(({ row }) => row.line),
      faults.map(({ fault }) => fault.field),
      faults.map(({ fault }) => fault.code),
      faults.map(({ fault }) => fault.message),
    ],
  );
  await tx.query(
    `UPDATE lead_imports SET processed_rows = $2, created_count = created_count + $3, updated_count = updated_count + $4,
            failed_count = failed_count + $5, lease_until = clock_timestamp() + interval '${LEASE_SECONDS} seconds'
     WHERE id = $1`,
    [job.id, rows.at(-1)!.row, created, inputs.length - created, faults.length],
  );
  return true;
}

function readRow(row: ImportRow, job: Job): { input: LeadInput } | { fault: RowFault } {
  if (!row.read.ok) return { fault: row.read.fault };
  const { given } = row.read;
  const enterprise = given['enterprise'] ?? job.slug;
  if (enterprise !== job.slug) {
    return { fault: { field: 'enterprise', code: 'other_workspace', message: 'The row names another workspace' } };
  }
  const { agentId, source } = job.defaults;
  const read = readNewLead({
    ...given,
    enterprise,
    agentId: given['agentId'] ?? agentId,
    source: given['source'] ?? source,
  });
  if (read.ok) return { input: read.value };
  return { fault: { field: read.fault.field, ...messageOf(read.fault.code) } };
}

function messageOf(code: Parameters<typeof factsOf>[0]): { code: string; message: string } {
  return { code, message: factsOf(code).message };
}

/** One statement cannot change a row twice: the second of two rows with one externalId comes in the next batch. */
function apartByExternalId(inputs: readonly LeadInput[]): LeadInput[][] {
  const batches: LeadInput[][] = [];
  let seen = new Set<string>();
  for (const input of inputs) {
    const id = input.externalId ?? null;
    if (batches.length === 0 || (id !== null && seen.has(id))) {
      batches.push([]);
      seen = new Set();
    }
    if (id !== null) seen.add(id);
    batches.at(-1)!.push(input);
  }
  return batches;
}

async function databaseNow(tx: Queryable): Promise<Date> {
  const [row] = await tx.query<{ now: Date }>(`SELECT date_trunc('milliseconds', clock_timestamp()) AS now`);
  return row!.now;
}
