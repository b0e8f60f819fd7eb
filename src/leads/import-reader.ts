/**
 * Reads a file of leads row by row, pure: CSV with a header, or one JSON object a line. What is wrong with a row is
 * that row's fault and harms no other: a quote that is never closed costs one line, not the
 * rest of the file. Used by `import-rows.ts`.
 */
import { isTooDeep } from '../../media/contract/json-depth.ts';
import { CsvRecords, MOST_ROW_CHARACTERS } from './csv-records.ts';
import { FileLines } from './file-lines.ts';

export type ImportFormat = 'csv' | 'ndjson';

export interface RowFault {
  field: string | null;
  code: string;
  message: string;
}

export interface ImportRow {
  /** 1 is the first row of data; blank ones are not counted. */
  row: number;
  /** In the file, from 1. */
  line: number;
  read: { ok: true; given: Record<string, unknown> } | { ok: false; fault: RowFault };
}

/** The file as a whole cannot be imported. */
export class ImportRefused extends Error {
  readonly code:
    | 'import_empty'
    | 'import_no_phone_column'
    | 'import_duplicate_column'
    | 'import_too_many_rows'
    | 'import_too_costly';

  constructor(code: ImportRefused['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const REPLACEMENT = '\ufffd';

/** Column names, letters and digits only, by the field they fill. */
const COLUMNS: Readonly<Record<string, string>> = {
  enterprise: 'enterprise',
  phone: 'phone',
  phonenumber: 'phone_number',
  mobile: 'mobile',
  name: 'name',
  notes: 'notes',
  source: 'source',
  agentid: 'agentId',
  externalid: 'externalId',
  timezone: 'timezone',
  metadata: 'metadata',
  consenttype: 'consent.type',
  consentsource: 'consent.source',
  consentat: 'consent.at',
  consentproofurl: 'consent.proofUrl',
};
const PHONE_COLUMNS = ['phone', 'phone_number', 'mobile'];

/**
 * UTF-8, or UTF-16 with a byte order mark. What is neither comes out as U+FFFD, which the rows
 * that hold it are refused for.
 */
export function decodeImport(content: Uint8Array): string {
  const [first, second] = content;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(content);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(content);
  return new TextDecoder('utf-8').decode(content);
}

/** Throws `ImportRefused`. */
export function ignoredColumns(text: string, format: ImportFormat): string[] {
  if (format === 'ndjson') return [];
  return headerOf(new FileLines(text)).columns.flatMap(({ field, name }) =>
    field === null && name !== '' ? [name] : [],
  );
}

export function* readRows(text: string, format: ImportFormat): Generator<ImportRow> {
  const lines = new FileLines(text);
  yield* format === 'csv' ? csvRows(lines) : jsonRows(lines);
}

function* jsonRows(lines: FileLines): Generator<ImportRow> {
  let row = 0;
  for (let at = 0, text = lines.at(at); text !== undefined; text = lines.at(++at)) {
    if (text.trim() !== '') yield { row: ++row, line: at + 1, read: readJson(text) };
  }
}

function readJson(text: string): ImportRow['read'] {
  const unreadable = faultOfText(text);
  if (unreadable !== null) return { ok: false, fault: unreadable };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fault('invalid_json', 'The line is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isTooDeep(value)) {
    return fault('invalid_json', 'The line is not a JSON object');
  }
  return { ok: true, given: value as Record<string, unknown> };
}

interface Column {
  name: string;
  /** Null: nothing that a lead has. */
  field: string | null;
}

interface Header {
  columns: Column[];
  records: CsvRecords;
  /** Index of the first line after it. */
  next: number;
}

function headerOf(lines: FileLines): Header {
  let at = 0;
  let line = lines.at(at);
  while (line !== undefined && line.trim() === '') line = lines.at(++at);
  if (line === undefined) throw new ImportRefused('import_empty', 'The file is empty');
  const records = new CsvRecords(lines, delimiterOf(line));
  const cells = records.at(at, null)?.cells ?? [];
  const columns = cells.map((cell) => ({ name: cell.trim(), field: fieldOf(cell.trim()) }));
  const fields = columns.flatMap(({ field }) => (field === null ? [] : [field]));
  const seen = new Set<string>();
  const twice = fields.find((field) => seen.size === seen.add(field).size);
  if (twice !== undefined) {
    throw new ImportRefused('import_duplicate_column', `Two columns of the header are '${twice}'`);
  }
  if (!PHONE_COLUMNS.some((field) => seen.has(field))) {
    const message = "The first line must name the columns, and one of them must be 'phone', 'phone_number' or 'mobile'";
    throw new ImportRefused('import_no_phone_column', message);
  }
  return { columns, records, next: at + 1 };
}

function fieldOf(name: string): string | null {
  if (faultOfText(name) !== null) return null;
  if (name.startsWith('metadata.') && name.length > 'metadata.'.length) return name;
  const key = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return Object.hasOwn(COLUMNS, key) ? COLUMNS[key]! : null;
}

/** Comma, semicolon (what spreadsheets of half of Europe write) or tab: what the header has most of. */
function delimiterOf(header: string): string {
  const bare = header.replace(/"[^"]*"/g, '');
  const count = (delimiter: string): number => bare.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best));
}

function* csvRows(lines: FileLines): Generator<ImportRow> {
  const { columns, records, next } = headerOf(lines);
  let row = 0;
  for (let at = next, text = lines.at(at); text !== undefined; text = lines.at(at)) {
    if (text.trim() === '') {
      at++;
      continue;
    }
    const record = records.at(at, columns.length);
    const read = record === null ? fault('broken_quoting', 'A quote is opened and never closed') : record;
    if (!('cells' in read)) yield { row: ++row, line: at + 1, read };
    else if (read.cells.some((cell) => cell.trim() !== '')) {
      yield { row: ++row, line: at + 1, read: readCells(read.cells, columns) };
    }
    at += record?.lines ?? 1;
  }
}

function readCells(cells: readonly string[], columns: readonly Column[]): ImportRow['read'] {
  for (const cell of cells) {
    const unreadable = faultOfText(cell);
    if (unreadable !== null) return { ok: false, fault: unreadable };
  }
  const extra = cells.slice(columns.length).some((cell) => cell.trim() !== '');
  if (cells.length < columns.length || extra) {
    return fault('column_count', `The row has ${cells.length} columns, the header ${columns.length}`);
  }
  const given: Record<string, unknown> = {};
  const metadata: Record<string, unknown> = {};
  const consent: Record<string, unknown> = {};
  for (const [index, { field }] of columns.entries()) {
    const value = cells[index]!.trim();
    if (field === null || value === '') continue;
    if (field === 'metadata') {
      const parsed = readJson(value);
      if (!parsed.ok) return fault('invalid_metadata', "The column 'metadata' must hold a JSON object", 'metadata');
      Object.assign(metadata, parsed.given);
    } else if (field.startsWith('metadata.')) metadata[field.slice('metadata.'.length)] = value;
    else if (field.startsWith('consent.')) consent[field.slice('consent.'.length)] = value;
    else given[field] = value;
  }
  if (Object.keys(metadata).length > 0) given['metadata'] = metadata;
  if (Object.keys(consent).length > 0) given['consent'] = consent;
  return { ok: true, given };
}

function faultOfText(text: string): RowFault | null {
  if (text.length > MOST_ROW_CHARACTERS) {
    return { field: null, code: 'row_too_long', message: `A row may have ${MOST_ROW_CHARACTERS} characters` };
  }
  if (text.includes(REPLACEMENT) || text.includes('\u0000')) {
    return { field: null, code: 'bad_encoding', message: 'The row is not UTF-8 text' };
  }
  return null;
}

function fault(code: string, message: string, field: string | null = null): { ok: false; fault: RowFault } {
  return { ok: false, fault: { field, code, message } };
}
