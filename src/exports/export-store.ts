/**
 * Exports of the call log as rows: asked for, looked at, fetched in pieces, taken away. What writes them is
 * `export-runner.ts`. An export is its maker's: nobody else of the workspace sees it.
 */

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { v7 as uuidv7 } from 'uuid';
import type { AuditActor, ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { CallFilters } from '../call-log/call-log-query.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';
import type { ExportFormat } from './call-lines.ts';

export const EXPORT_STATES = ['queued', 'running', 'completed', 'failed'] as const;

/** What its maker may see; null: everything. */
export type ExportMasking = { hears: boolean } | null;

export interface CallExport {
  id: string;
  format: ExportFormat;
  filters: CallFilters;
  state: (typeof EXPORT_STATES)[number];
  /** Null until it begins. */
  totalRows: number | null;
  writtenRows: number;
  /** Of the file, unpacked. */
  sizeBytes: number;
  /** It ended at its bounds, and there was more. */
  isCut: boolean;
  error: string | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** When it is deleted; null until it has ended. */
  expiresAt: Date | null;
}

export interface ExportNamed {
  workspaceId: string;
  madeBy: AuditActor;
  exportId: string;
}

/** Of one workspace, whoever asked. */
const MOST_AT_WORK = 5;
/** Of one maker, ended ones too. */
const MOST_KEPT = 20;

const COLUMNS = `id, format, filters, state, total_rows AS "totalRows", written_rows AS "writtenRows",
  size_bytes::float8 AS "sizeBytes", is_cut AS "isCut", error, created_at AS "createdAt", finished_at AS "finishedAt",
  expires_at AS "expiresAt"`;
const THERE = '(expires_at IS NULL OR expires_at > clock_timestamp())';

const unpacked = promisify(gunzip);

/** Of what is there now. Throws an `OperatorError` where there are as many as there may be. */
export async function createExport(
  database: Database,
  asked: { workspaceId: string; format: ExportFormat; filters: CallFilters; masking: ExportMasking; by: ChangedBy },
): Promise<CallExport> {
  const { workspaceId, format, filters, masking, by } = asked;
  return database.transaction(async (tx) => {
    // Two that come at once are counted one after the other.
    await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR NO KEY UPDATE', [workspaceId]);
    const [now] = await tx.query<{ working: number; kept: number; at: string }>(
      `SELECT count(*) FILTER (WHERE state IN ('queued', 'running'))::int AS working,
              count(*) FILTER (WHERE made_by = $2)::int AS kept,
              to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
       FROM call_exports WHERE workspace_id = $1 AND ${THERE}`,
      [workspaceId, by.actor],
    );
    if (now!.working >= MOST_AT_WORK) {
      throw new OperatorError('refused', `${MOST_AT_WORK} exports of the workspace are being written: wait for one.`);
    }
    if (now!.kept >= MOST_KEPT) {
      throw new OperatorError('refused', `You have ${MOST_KEPT} exports: delete one, or wait until one is a day old.`);
    }
    const createdBefore = filters.createdBefore ?? now!.at;
    const [made] = await tx.query<CallExport>(
      `INSERT INTO call_exports (id, workspace_id, made_by, format, filters, masking)
       VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${COLUMNS}`,
      [
        uuidv7(),
        workspaceId,
        by.actor,
        format,
        JSON.stringify({ ...filters, createdBefore }),
        masking && JSON.stringify(masking),
      ],
    );
    // What is looked for may be somebody's number or words: the audit has the names of the filters alone.
    const after = { format, filters: Object.keys(filters).toSorted(), masked: masking !== null };
    await recordAudit(tx, { workspaceId, by, action: 'call_export.created', target: `call_export:${made!.id}`, after });
    return made!;
  });
}

/** Newest first. */
export function listExports(database: Queryable, of: Omit<ExportNamed, 'exportId'>): Promise<CallExport[]> {
  return database.query<CallExport>(
    `SELECT ${COLUMNS} FROM call_exports WHERE workspace_id = $1 AND made_by = $2 AND ${THERE} ORDER BY id DESC`,
    [of.workspaceId, of.madeBy],
  );
}

export async function readExport(
  database: Queryable,
  { workspaceId, madeBy, exportId }: ExportNamed,
): Promise<(CallExport & { isMasked: boolean }) | undefined> {
  const [found] = await database.query<CallExport & { isMasked: boolean }>(
    `SELECT ${COLUMNS}, masking IS NOT NULL AS "isMasked" FROM call_exports
     WHERE workspace_id = $1 AND made_by = $2 AND id = $3 AND ${THERE}`,
    [workspaceId, madeBy, exportId],
  );
  return found;
}

/** Stops the writing of one that is not done. False: there is none. */
export async function deleteExport(database: Database, named: ExportNamed, by: ChangedBy): Promise<boolean> {
  const { workspaceId, madeBy, exportId } = named;
  return database.transaction(async (tx) => {
    const gone = await tx.query(
      `DELETE FROM call_exports WHERE workspace_id = $1 AND made_by = $2 AND id = $3 AND ${THERE} RETURNING 1 AS one`,
      [workspaceId, madeBy, exportId],
    );
    if (gone.length === 0) return false;
    await recordAudit(tx, { workspaceId, by, action: 'call_export.deleted', target: `call_export:${exportId}` });
    return true;
  });
}

export async function noteFetched(database: Queryable, named: ExportNamed, by: ChangedBy): Promise<void> {
  const { workspaceId, exportId } = named;
  await recordAudit(database, { workspaceId, by, action: 'call_export.fetched', target: `call_export:${exportId}` });
}

/** The file, piece by piece. It ends early where the export is deleted meanwhile. */
export async function* exportPieces(database: Queryable, exportId: string): AsyncGenerator<Buffer, void, undefined> {
  for (let position = 0; ; position++) {
    const [part] = await database.query<{ content: Buffer }>(
      'SELECT content FROM call_export_parts WHERE export_id = $1 AND position = $2',
      [exportId, position],
    );
    if (part === undefined) return;
    yield await unpacked(part.content);
  }
}
