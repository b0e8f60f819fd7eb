/**
 * What is done with a file of leads before a row is stored, pure: it is looked through when it comes, and its rows are
 * made leads or faults, in groups. It costs what a stranger's file costs, so it runs in a thread (`import-thread.ts`);
 * what leaves it is no larger than leads are.
 */
import { factsOf } from '../errors/error-codes.ts';
import {
  decodeImport,
  type ImportFormat,
  ImportRefused,
  type ImportRow,
  ignoredColumns,
  type RowFault,
  readRows,
} from './import-reader.ts';
import { type LeadInput, readNewLead } from './lead-fields.ts';

export interface ImportFile {
  content: Uint8Array;
  format: ImportFormat;
}

export interface ImportSummary {
  totalRows: number;
  /** Columns of the header that are no field of a lead. */
  ignoredColumns: string[];
}

/** Of rows that name none. */
export interface ImportDefaults {
  agentId: string | null;
  source: string | null;
}

export interface RowsOrder extends ImportFile {
  /** What was stored before; 0 begins. */
  afterRow: number;
  /** Of the workspace. */
  slug: string;
  defaults: ImportDefaults;
}

export interface LeadRow {
  row: number;
  line: number;
  read: { ok: true; input: LeadInput } | { ok: false; fault: RowFault };
}

export const MOST_ROWS = 10_000;
const ROWS_OF_A_GROUP = 250;

/** Throws `ImportRefused` for a file that cannot be imported at all. */
export function summaryOf({ content, format }: ImportFile): ImportSummary {
  const text = decodeImport(content);
  const ignored = ignoredColumns(text, format);
  let totalRows = 0;
  for (const { row } of readRows(text, format)) {
    totalRows = row;
    if (row > MOST_ROWS) throw new ImportRefused('import_too_many_rows', `A file may have ${MOST_ROWS} rows`);
  }
  if (totalRows === 0) throw new ImportRefused('import_empty', 'The file has no rows');
  return { totalRows, ignoredColumns: ignored };
}

export function* groupsOf(order: RowsOrder): Generator<LeadRow[]> {
  let group: LeadRow[] = [];
  for (const row of readRows(decodeImport(order.content), order.format)) {
    if (row.row <= order.afterRow) continue;
    group.push({ row: row.row, line: row.line, read: leadOf(row, order) });
    if (group.length < ROWS_OF_A_GROUP) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

function leadOf(row: ImportRow, { slug, defaults }: RowsOrder): LeadRow['read'] {
  if (!row.read.ok) return row.read;
  const { given } = row.read;
  const enterprise = given['enterprise'] ?? slug;
  if (enterprise !== slug) {
    const message = 'The row names another workspace';
    return { ok: false, fault: { field: 'enterprise', code: 'other_workspace', message } };
  }
  const read = readNewLead({
    ...given,
    enterprise,
    agentId: given['agentId'] ?? defaults.agentId,
    source: given['source'] ?? defaults.source,
  });
  if (read.ok) return { ok: true, input: read.value };
  const { field, code } = read.fault;
  return { ok: false, fault: { field, code, message: factsOf(code).message } };
}
