/**
 * Reads a file of leads row by row, pure: CSV with a header, or one JSON object a line. What is wrong with a row is that row's
 * fault and harms no other: a quote that is never closed costs one line, not the rest of the file. Used to look at a file when
 * it comes and again by the job that stores it; both see the same rows.
 */
import { parse } from 'csv-parse/sync';
import { isTooDeep } from '../../media/contract/json-depth.ts';

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
  readonly code: 'import_empty' | 'import_no_phone_column' | 'import_duplicate_column' | 'import_too_many_rows';

  constructor(code: ImportRefused['code'], message: string) {
    super(message);
    this.code = code;
  }
}

export const MOST_ROWS = 10_000;
const MOST_ROW_CHARACTERS = 64 * 1024;
/** A quoted field may hold line breaks; a quote that is open for longer was never meant. */
const MOST_LINES_OF_A_ROW = 100;
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

/** UTF-8, or UTF-16 with a byte order mark. What is neither comes out as U+FFFD, which the rows that hold it are refused for. */
export function decodeImport(content: Uint8Array): string {
  const [first, second] = content;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(content);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(content);
  return new TextDecoder('utf-8').decode(content);
}

/** Throws `ImportRefused`. */
export function ignoredColumns(text: string, format: ImportFormat): string[] {
  if (format === 'ndjson') return [];
  return headerOf(linesOf(text)).columns.flatMap(({ field, name }) => (field === null && name !== '' ? [name] : []));
}

export function* readRows(text: string, format: ImportFormat): Generator<ImportRow> {
  yield* format === 'csv' ? csvRows(linesOf(text)) : jsonRows(linesOf(text));
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}

function* jsonRows(lines: readonly string[]): Generator<ImportRow> {
  let row = 0;
  for (const [index, text] of lines.entries()) {
    if (text.trim() !== '') yield { row: ++row, line: index + 1, read: readJson(text) };
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
  delimiter: string;
  /** Index of the first line after it. */
  next: number;
}

function headerOf(lines: readonly string[]): Header {
  const at = lines.findIndex((line) => line.trim() !== '');
  if (at < 0) throw new ImportRefused('import_empty', 'The file is empty');
  const delimiter = delimiterOf(lines[at]!);
  const cells = joinedRecord(lines, at, delimiter, null)?.cells ?? [];
  const columns = cells.map((cell) => ({ name: cell.trim(), field: fieldOf(cell.trim()) }));
  const fields = columns.flatMap(({ field }) => (field === null ? [] : [field]));
  const twice = fields.find((field, index) => fields.indexOf(field) !== index);
  if (twice !== undefined) {
    throw new ImportRefused('import_duplicate_column', `Two columns of the header are '${twice}'`);
  }
  if (!PHONE_COLUMNS.some((field) => fields.includes(field))) {
    const message = "The first line must name the columns, and one of them must be 'phone', 'phone_number' or 'mobile'";
    throw new ImportRefused('import_no_phone_column', message);
  }
  return { columns, delimiter, next: at + 1 };
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

function* csvRows(lines: readonly string[]): Generator<ImportRow> {
  const { columns, delimiter, next } = headerOf(lines);
  let row = 0;
  for (let at = next; at < lines.length; ) {
    const text = lines[at]!;
    if (text.trim() === '') {
      at++;
      continue;
    }
    const record = joinedRecord(lines, at, delimiter, columns.length);
    const read = record === null ? fault('broken_quoting', 'A quote is opened and never closed') : record;
    if (!('cells' in read)) yield { row: ++row, line: at + 1, read };
    else if (read.cells.some((cell) => cell.trim() !== '')) {
      yield { row: ++row, line: at + 1, read: readCells(read.cells, columns) };
    }
    at += record?.lines ?? 1;
  }
}

/** The record that begins at a line. Null: it has no end, or the lines that a quote ties together are not one row. */
function joinedRecord(
  lines: readonly string[],
  at: number,
  delimiter: string,
  columns: number | null,
): { cells: string[]; lines: number } | null {
  let text = '';
  for (let count = 1; count <= MOST_LINES_OF_A_ROW && at + count <= lines.length; count++) {
    text = count === 1 ? lines[at]! : `${text}\n${lines[at + count - 1]!}`;
    if (text.length > MOST_ROW_CHARACTERS) return count === 1 ? { cells: [text], lines: 1 } : null;
    // Without a quote there is nothing to parse, and nothing that could go on.
    if (count === 1 && !text.includes('"')) return { cells: text.split(delimiter), lines: 1 };
    if (count > 1 && !lines[at + count - 1]!.includes('"')) continue;
    const cells = parseRecord(text, delimiter);
    if (cells === 'open') continue;
    if (cells === 'broken') return null;
    return count > 1 && columns !== null && cells.length !== columns ? null : { cells, lines: count };
  }
  return null;
}

function parseRecord(text: string, delimiter: string, relaxed = false): string[] | 'open' | 'broken' {
  try {
    const [cells] = parse(text, { delimiter, relax_quotes: relaxed, relax_column_count: true }) as string[][];
    return cells ?? [''];
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'CSV_QUOTE_NOT_CLOSED') return 'open';
    // A quote inside a cell that does not begin with one, such as 5" pipe, stands for itself.
    return code === 'INVALID_OPENING_QUOTE' && !relaxed ? parseRecord(text, delimiter, true) : 'broken';
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
