/**
 * Works through imports in the background, one at a time: rows in groups, each group with its errors and the import's
 * progress in one transaction. So a row is stored once, and an import that a process left behind goes on where it
 * stood: its lease runs out, and the next one takes it. Created by control and by the command
 * line; whoever creates it closes it.
 */
import type { Logger } from 'pino';
import { type Clock, every } from '../../media/contract/clock.ts';
import { factsOf } from '../errors/error-codes.ts';
import type { Database, Queryable } from '../store/database.ts';
import { isDatabaseAway } from '../store/database-away.ts';
import type { DueLook } from '../store/due-look.ts';
import { createSweeper } from '../store/sweeper.ts';
import { type ImportFormat, ImportRefused, type RowFault } from './import-reader.ts';
import type { ImportReading } from './import-reading.ts';
import type { ImportDefaults, LeadRow } from './import-rows.ts';
import type { LeadInput } from './lead-fields.ts';
import { faultOfAgent, knownAgents, storeLeads } from './lead-store.ts';

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
  content_bytes: number;
  defaults: ImportDefaults;
  processed_rows: number;
  lease_epoch: number;
}

const LEASE_SECONDS = 15;
const RENEW_EVERY_MS = 5_000;
const PIECE_BYTES = 1024 * 1024;
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
  RETURNING lead_imports.id, workspace_id, due.slug, format, octet_length(content) AS content_bytes, defaults, processed_rows, lease_epoch`;

/** For the look that all share. */
const MAY_BE_DUE_SQL = `EXISTS (SELECT 1 FROM lead_imports WHERE state IN ('queued', 'running')
  AND (lease_until IS NULL OR lease_until < clock_timestamp()))`;

/** Not of an import that has meanwhile ended, was given back or is another's. */
const RENEW = `
  UPDATE lead_imports SET lease_until = clock_timestamp() + interval '${LEASE_SECONDS} seconds'
  WHERE id = $1 AND lease_epoch = $2 AND lease_until IS NOT NULL`;

export function createImportRunner(deps: {
  database: Database;
  clock: Clock;
  log: Logger;
  reading: Pick<ImportReading, 'groups'>;
  /** Absent: each 5 s. */
  due?: DueLook;
}): ImportRunner {
  const { database, clock, log, reading, due } = deps;
  let closed = false;
  let working: Promise<void> | null = null;

  async function work(): Promise<void> {
    while (!closed) {
      const [job] = await database.query<Job>(CLAIM);
      if (job === undefined) return;
      const stopRenewing = renewLease(job);
      try {
        await runJob(job);
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        log.error({ importId: job.id, err: error }, 'an import was given up');
        await giveUp(job, error instanceof ImportRefused ? error.code : 'internal_error');
      } finally {
        stopRenewing();
      }
    }
  }

  /** Reading a group may take longer than a lease lasts. */
  function renewLease({ id, lease_epoch: epoch }: Job): () => void {
    return every(clock, RENEW_EVERY_MS, () => {
      database.query(RENEW, [id, epoch]).catch((error: unknown) => {
        log.warn({ importId: id, err: error }, 'the lease of an import could not be renewed');
      });
    });
  }

  async function runJob(job: Job): Promise<void> {
    const { slug, format, defaults, processed_rows: afterRow } = job;
    const content = await contentOf(job);
    if (content === null) return;
    for await (const group of reading.groups({ slug, format, content, defaults, afterRow })) {
      if (!(await storeGroup(job, group))) return;
      if (closed) return release(job);
    }
    await database.query(
      `UPDATE lead_imports SET state = 'completed', content = NULL, lease_until = NULL, finished_at = clock_timestamp()
       WHERE id = $1 AND lease_epoch = $2`,
      [job.id, job.lease_epoch],
    );
  }

  /** In pieces: the driver makes bytes of a text twice as long, at one go. */
  async function contentOf({ id, content_bytes: bytes }: Job): Promise<Buffer | null> {
    const pieces: Buffer[] = [];
    for (let from = 1; from <= bytes; from += PIECE_BYTES) {
      const [row] = await database.query<{ piece: Buffer | null }>(
        'SELECT substring(content FROM $2 FOR $3) AS piece FROM lead_imports WHERE id = $1',
        [id, from, PIECE_BYTES],
      );
      // Called off meanwhile.
      if (row?.piece == null) return null;
      pieces.push(row.piece);
    }
    return Buffer.concat(pieces);
  }

  /** False: another one has the import now. */
  async function storeGroup(job: Job, rows: readonly LeadRow[]): Promise<boolean> {
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
  async function giveUp(job: Job, code: string): Promise<void> {
    await database.query(
      `UPDATE lead_imports SET state = 'failed', error = $3, content = NULL, lease_until = NULL,
              finished_at = clock_timestamp() WHERE id = $1 AND lease_epoch = $2`,
      [job.id, job.lease_epoch, code],
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

  const sweeper = createSweeper({
    clock,
    sweep: workOnce,
    ...(due && { due: { look: due, sql: () => MAY_BE_DUE_SQL } }),
    failed: (err) => log.warn({ err }, 'an import could not go on; it is tried again within 20 s'),
  });
  return {
    start: () => sweeper.start(),
    nudge: sweeper.nudge,
    drain: workOnce,
    async close() {
      closed = true;
      await sweeper.close();
      await working?.catch(() => {});
    },
  };
}

async function storeRows(tx: Queryable, job: Job, rows: readonly LeadRow[]): Promise<boolean> {
  const { workspace_id: workspaceId } = job;
  const owned = await tx.query('SELECT 1 AS one FROM lead_imports WHERE id = $1 AND lease_epoch = $2 FOR UPDATE', [
    job.id,
    job.lease_epoch,
  ]);
  if (owned.length === 0) return false;

  const faults: { row: LeadRow; fault: RowFault }[] = [];
  const good: { row: LeadRow; input: LeadInput }[] = [];
  for (const row of rows) {
    if (row.read.ok) good.push({ row, input: row.read.input });
    else faults.push({ row, fault: row.read.fault });
  }
  const agentIds = good.flatMap(({ input }) => (typeof input.agentId === 'string' ? [input.agentId] : []));
  const agents = await knownAgents(tx, workspaceId, agentIds);
  const inputs: LeadInput[] = [];
  for (const { row, input } of good) {
    const code = faultOfAgent(agents, input.agentId);
    if (code === null) inputs.push(input);
    else faults.push({ row, fault: { field: 'agentId', code, message: factsOf(code).message } });
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
