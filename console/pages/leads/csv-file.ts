/** The head of a CSV file as people have it: which columns, with what in them, in how many rows. Pure. */

export interface CsvHead {
  delimiter: string;
  columns: string[];
  rows: string[][];
  /** Where the rows begin in the text. */
  bodyAt: number;
}

/** Records until `most` are read; a quoted field may hold anything. */
function recordsOf(text: string, delimiter: string, most: number): { fields: string[]; endsAt: number }[] {
  const records: { fields: string[]; endsAt: number }[] = [];
  let fields: string[] = [];
  let field = '';
  let isQuoted = false;
  for (let at = 0; at <= text.length && records.length < most; at++) {
    const sign = text[at];
    if (isQuoted && sign !== undefined) {
      if (sign !== '"') field += sign;
      else if (text[at + 1] === '"') field += text[++at];
      else isQuoted = false;
    } else if (sign === '"' && field === '') isQuoted = true;
    else if (sign === delimiter) {
      fields.push(field);
      field = '';
    } else if (sign === '\n' || sign === '\r' || sign === undefined) {
      if (sign === '\r' && text[at + 1] === '\n') at++;
      fields.push(field);
      if (fields.length > 1 || fields[0] !== '') records.push({ fields, endsAt: at + 1 });
      fields = [];
      field = '';
    } else field += sign;
  }
  return records;
}

export function headOf(text: string): CsvHead | null {
  const first = text.slice(0, text.search(/\r|\n|$/));
  const delimiter = [',', ';', '\t'].toSorted((a, b) => first.split(b).length - first.split(a).length)[0]!;
  const records = recordsOf(text, delimiter, Number.POSITIVE_INFINITY);
  const head = records[0];
  if (head === undefined) return null;
  return {
    delimiter,
    columns: head.fields.map((name) => name.trim()),
    rows: records.slice(1).map(({ fields }) => fields),
    bodyAt: head.endsAt,
  };
}

const SEPARATORS = /[\s()\p{Pd}\p{Cf}]/gu;

/** In international form, as the service wants it; it reads the number again. */
export const looksLikeNumber = (text: string): boolean => /^\+[1-9]\d{6,14}$/.test(text.replace(SEPARATORS, ''));

/** How many of these numbers stand there more than once, in whatever way they are written; what is none counts not. */
export function countTwice(numbers: readonly string[]): number {
  const times = new Map<string, number>();
  for (const number of numbers.filter(looksLikeNumber)) {
    const plain = number.replace(SEPARATORS, '');
    times.set(plain, (times.get(plain) ?? 0) + 1);
  }
  return [...times.values()].filter((count) => count > 1).reduce((sum, count) => sum + count, 0);
}

/** A field of a file that a spreadsheet opens: text of whoever wrote the file, and no formula. */
export function csvText(text: string): string {
  const plain = /^\s*[=+\-@＝＋－＠]/.test(text) ? `'${text}` : text;
  return `"${plain.replaceAll('"', '""')}"`;
}

/** The file with other names of its columns; the rows are as they were. */
export function renamed(text: string, head: CsvHead, names: readonly string[]): string {
  const cells = names.map((name) => (/["\r\n]|[,;\t]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name));
  return `${cells.join(head.delimiter)}\n${text.slice(head.bodyAt)}`;
}
