/**
 * Imports as rows: taken in when a file comes, shown with their progress and with what was wrong in which row. What is
 * stored is the file itself; `import-runner.ts` works through it, and goes on where it stood after a restart.
 */
import { v7 as uuidv7 } from 'uuid';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Database, Queryable } from '../store/database.ts';
import type { ImportFormat, RowFault } from './import-reader.ts';
import type { ImportReading } from './import-reading.ts';
import type { ImportDefaults } from './import-rows.ts';

/** `canceled`: somebody called it off; rows that were stored before stay. */
export const IMPORT_STATES = ['queued', 'running', 'completed', 'failed', 'canceled'] as const;
export type ImportState = (typeof IMPORT_STATES)[number];

export interface LeadImport {
  id: string;
  format: ImportFormat;
  state: ImportState;
  totalRows: number;
  /** `processedRows` = created + updated + failed. */
  processedRows: number;
  createdCount: number;
  updatedCount: number;
  failedCount: number;
  /** Columns of the header that are no field of a lead. */
  ignoredColumns: string[];
  error: string | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
}

export interface ImportError extends RowFault {
  row: number;
  line: number;
}

const IMPORT_COLUMNS = `id, format, state, total_rows AS "totalRows", processed_rows AS "processedRows",
  created_count AS "createdCount", updated_count AS "updatedCount", failed_count AS "failedCount",
  ignored_columns AS "ignoredColumns", error, created_at AS "createdAt", started_at AS "startedAt", finished_at AS "finishedAt"`;

const INSERT = `
  INSERT INTO lead_imports (id, workspace_id, format, content, defaults, total_rows, ignored_columns)
  VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${IMPORT_COLUMNS}`;

/**
 * Has the whole file looked through, and stores it. Rejects with `ImportRefused` for one that
 * cannot be imported at all.
 */
export async function createImport(
  deps: { database: Database; reading: Pick<ImportReading, 'summary'> },
  workspaceId: string,
  file: { content: Buffer; format: ImportFormat; defaults: ImportDefaults },
  by: ChangedBy,
): Promise<LeadImport> {
  const { totalRows, ignoredColumns } = await deps.reading.summary(workspaceId, file);
  const values = [
    uuidv7(),
    workspaceId,
    file.format,
    file.content,
    JSON.stringify(file.defaults),
    totalRows,
    JSON.stringify(ignoredColumns),
  ];
  return deps.database.transaction(async (tx) => {
    const [stored] = await tx.query<LeadImport>(INSERT, values);
    const { id } = stored!;
    const after = { format: file.format, totalRows };
    await recordAudit(tx, { workspaceId, by, action: 'lead_import.created', target: `lead_import:${id}`, after });
    return stored!;
  });
}

/** Undefined: the workspace has no such import. */
export async function readImport(
  database: Queryable,
  workspaceId: string,
  importId: string,
): Promise<LeadImport | undefined> {
  const rows = await database.query<LeadImport>(
    `SELECT ${IMPORT_COLUMNS} FROM lead_imports WHERE workspace_id = $1 AND id = $2`,
    [workspaceId, importId],
  );
  return rows[0];
}

export interface ImportFilters {
  /** Any of these. */
  state?: readonly ImportState[] | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
}

/** At most `limit`, newest first; `before` is the id of the last one of the page before. */
export function listImports(
  database: Queryable,
  workspaceId: string,
  { state, createdAfter, createdBefore }: ImportFilters,
  page: { before: string | null; limit: number },
): Promise<LeadImport[]> {
  return database.query<LeadImport>(
    `SELECT ${IMPORT_COLUMNS} FROM lead_imports
     WHERE workspace_id = $1 AND ($2::text[] IS NULL OR state = ANY ($2)) AND ($3::timestamptz IS NULL OR created_at >= $3)
       AND ($4::timestamptz IS NULL OR created_at < $4) AND ($5::uuid IS NULL OR id < $5)
     ORDER BY id DESC LIMIT $6`,
    [workspaceId, state ?? null, createdAfter ?? null, createdBefore ?? null, page.before, page.limit],
  );
}

/**
 * Calls off what is not stored yet; whoever works on it stops at its next group of rows. `over`: it has ended
 * otherwise. Undefined: the workspace has no such import. Repeating it is fine.
 */
export async function cancelImport(
  database: Database,
  { workspaceId, importId, by }: { workspaceId: string; importId: string; by: ChangedBy },
): Promise<LeadImport | 'over' | undefined> {
  return database.transaction(async (tx) => {
    // The lease's number goes up: the runner that has the import owns it no more.
    const [canceled] = await tx.query<LeadImport>(
      `UPDATE lead_imports SET state = 'canceled', content = NULL, lease_until = NULL, lease_epoch = lease_epoch + 1,
              finished_at = clock_timestamp()
       WHERE workspace_id = $1 AND id = $2 AND state IN ('queued', 'running') RETURNING ${IMPORT_COLUMNS}`,
      [workspaceId, importId],
    );
    if (canceled === undefined) {
      const found = await readImport(tx, workspaceId, importId);
      return found === undefined || found.state === 'canceled' ? found : 'over';
    }
    const { processedRows, totalRows } = canceled;
    const after = { processedRows, totalRows };
    await recordAudit(tx, {
      workspaceId,
      by,
      action: 'lead_import.canceled',
      target: `lead_import:${importId}`,
      after,
    });
    return canceled;
  });
}

/** In the order of the file, after row `after`. */
export function readImportErrors(
  database: Queryable,
  workspaceId: string,
  importId: string,
  page: { after: number; limit: number },
): Promise<ImportError[]> {
  return database.query<ImportError>(
    `SELECT e.row, e.line, e.field, e.code, e.message
     FROM lead_import_errors e JOIN lead_imports i ON i.id = e.import_id
     WHERE i.workspace_id = $1 AND i.id = $2 AND e.row > $3 ORDER BY e.row LIMIT $4`,
    [workspaceId, importId, page.after, page.limit],
  );
}
