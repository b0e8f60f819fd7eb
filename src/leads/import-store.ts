/**
 * Imports as rows: taken in when a file comes, shown with their progress and with what was wrong in which row. What is stored
 * is the file itself; `import-runner.ts` works through it, and goes on where it stood after a restart.
 */
import { v7 as uuidv7 } from 'uuid';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Database, Queryable } from '../store/database.ts';
import {
  decodeImport,
  type ImportFormat,
  ImportRefused,
  ignoredColumns,
  MOST_ROWS,
  type RowFault,
  readRows,
} from './import-reader.ts';

export interface LeadImport {
  id: string;
  format: ImportFormat;
  state: 'queued' | 'running' | 'completed' | 'failed';
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

export interface ImportDefaults {
  agentId: string | null;
  source: string | null;
}

const IMPORT_COLUMNS = `id, format, state, total_rows AS "totalRows", processed_rows AS "processedRows",
  created_count AS "createdCount", updated_count AS "updatedCount", failed_count AS "failedCount",
  ignored_columns AS "ignoredColumns", error, created_at AS "createdAt", started_at AS "startedAt", finished_at AS "finishedAt"`;

const INSERT = `
  INSERT INTO lead_imports (id, workspace_id, format, content, defaults, total_rows, ignored_columns)
  VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${IMPORT_COLUMNS}`;

/** The process does other things between so many rows. */
const ROWS_AT_ONCE = 500;

/** Looks through the whole file and stores it. Throws `ImportRefused` for one that cannot be imported at all. */
export async function createImport(
  database: Database,
  workspaceId: string,
  file: { content: Buffer; format: ImportFormat; defaults: ImportDefaults },
  by: ChangedBy,
): Promise<LeadImport> {
  const text = decodeImport(file.content);
  const ignored = ignoredColumns(text, file.format);
  let totalRows = 0;
  for (const { row } of readRows(text, file.format)) {
    totalRows = row;
    if (row > MOST_ROWS) throw new ImportRefused('import_too_many_rows', `A file may have ${MOST_ROWS} rows`);
    if (row % ROWS_AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve));
  }
  if (totalRows === 0) throw new ImportRefused('import_empty', 'The file has no rows');
  const values = [
    uuidv7(),
    workspaceId,
    file.format,
    file.content,
    JSON.stringify(file.defaults),
    totalRows,
    JSON.stringify(ignored),
  ];
  return database.transaction(async (tx) => {
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
