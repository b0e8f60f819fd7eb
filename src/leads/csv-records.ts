/**
 * Finds where the records of a CSV file end, in one pass: a quoted cell may hold line breaks, so a record may have many
 * lines, and a quote that is never closed must not cost the file. Each line is looked through once as the beginning of
 * a record and once as the inside of a quote, however often a record begins again; only what is a record is then taken
 * apart, by `csv-parse`.
 */
import { parse } from 'csv-parse/sync';
import { type FileLines, LINES_KEPT } from './file-lines.ts';

export const MOST_ROW_CHARACTERS = 64 * 1024;
/** A quoted field may hold line breaks; a quote that is open for longer was never meant. */
const MOST_LINES_OF_A_ROW = 100;
const QUOTE = 0x22;

export interface CsvRecord {
  cells: string[];
  /** How many lines it has. */
  lines: number;
}

/** What a line is, read from its beginning. */
interface LineScan {
  /**
   * `open`: the quote goes on in the next line. `broken`: a quote is closed in front of
   * something else than a delimiter.
   */
  end: 'record' | 'open' | 'broken';
  /**
   * A quote inside a cell that does not begin with one, such as 5" pipe, stands for itself, and
   * so does each that comes after it.
   */
  relaxed: boolean;
  delimiters: number;
}

export class CsvRecords {
  readonly #lines: FileLines;
  readonly #delimiter: string;
  readonly #blank: RegExp;
  /** Of lines that begin inside a quote: two a line, the second one relaxed. */
  readonly #inside: ({ line: number; scan: LineScan } | undefined)[] = [];

  /** `delimiter`: one character. */
  constructor(lines: FileLines, delimiter: string) {
    this.#lines = lines;
    this.#delimiter = delimiter;
    const space = delimiter === '\t' ? '[^\\S\\t]*' : '\\s*';
    const cell = `(?:"${space}"|${space})`;
    this.#blank = new RegExp(`^${cell}(?:${delimiter}${cell})*$`);
  }

  /**
   * The record that begins at a line. Null: it has no end, or the lines that a quote ties together are not one row:
   * they do not have `columns` cells, where that is given. A line that is too long comes back whole, as one cell.
   */
  at(index: number, columns: number | null): CsvRecord | null {
    const first = this.#lines.at(index) ?? '';
    if (first.length > MOST_ROW_CHARACTERS) return { cells: [first], lines: 1 };
    if (!first.includes('"')) return { cells: first.split(this.#delimiter), lines: 1 };
    let scan = scanLine(first, this.#delimiter, { inside: false, relaxed: false });
    let { length } = first;
    let { delimiters } = scan;
    let lines = 1;
    for (; scan.end === 'open'; lines++) {
      const next = lines < MOST_LINES_OF_A_ROW ? this.#lines.at(index + lines) : undefined;
      if (next === undefined) return null;
      length += 1 + next.length;
      if (length > MOST_ROW_CHARACTERS) return null;
      scan = this.#scanInside(index + lines, next, scan.relaxed);
      delimiters += scan.delimiters;
    }
    if (scan.end === 'broken') return null;
    if (lines > 1 && columns !== null && delimiters + 1 !== columns) return null;
    return { cells: this.#cellsOf(index, lines, scan.relaxed), lines };
  }

  #scanInside(line: number, text: string, relaxed: boolean): LineScan {
    const place = 2 * (line % LINES_KEPT) + (relaxed ? 1 : 0);
    const known = this.#inside[place];
    if (known?.line === line) return known.scan;
    const scan = scanLine(text, this.#delimiter, { inside: true, relaxed });
    this.#inside[place] = { line, scan };
    return scan;
  }

  #cellsOf(index: number, lines: number, relaxed: boolean): string[] {
    let text = this.#lines.at(index) ?? '';
    for (let at = 1; at < lines; at++) text += `\n${this.#lines.at(index + at)}`;
    // Blank ones are no rows and are not counted, so there may be millions of them.
    if (this.#blank.test(text)) return [''];
    const options = { delimiter: this.#delimiter, relax_quotes: relaxed, relax_column_count: true };
    const [cells] = parse(text, options) as string[][];
    return cells ?? [''];
  }
}

/** The rules of `csv-parse`, without the cells. */
function scanLine(text: string, delimiter: string, from: { inside: boolean; relaxed: boolean }): LineScan {
  const separator = delimiter.charCodeAt(0);
  let { inside, relaxed } = from;
  let delimiters = 0;
  let isCellEmpty = true;
  for (let at = 0; at < text.length; ) {
    if (inside) {
      const quote = text.indexOf('"', at);
      if (quote < 0) break;
      at = quote + 1;
      const after = at < text.length ? text.charCodeAt(at) : separator;
      if (after === QUOTE) at++;
      // To `csv-parse` a NUL is an end too; its row is refused for it.
      else if (after === separator || after === 0) inside = false;
      else if (relaxed) {
        inside = false;
        isCellEmpty = false;
      } else return { end: 'broken', relaxed, delimiters };
      continue;
    }
    const character = text.charCodeAt(at++);
    if (character === separator) {
      delimiters++;
      isCellEmpty = true;
    } else if (character !== QUOTE) isCellEmpty = false;
    else if (isCellEmpty) inside = true;
    else relaxed = true;
  }
  return { end: inside ? 'open' : 'record', relaxed, delimiters };
}
