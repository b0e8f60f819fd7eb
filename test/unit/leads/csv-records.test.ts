import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { CsvRecords } from '../../../src/leads/csv-records.ts';
import { FileLines } from '../../../src/leads/file-lines.ts';
import { readRows } from '../../../src/leads/import-reader.ts';

/**
 * How many rows a file has, and how often the parser made a buffer for them: a number of times each time it is asked.
 */
function reading(text: string): { rows: number; buffers: number } {
  const made = vi.spyOn(Buffer, 'from');
  try {
    return { rows: [...readRows(text, 'csv')].length, buffers: made.mock.calls.length };
  } finally {
    made.mockRestore();
  }
}

/** The same by trying: a line more, and one more, until `csv-parse` takes them. */
function byTrying(lines: readonly string[], delimiter: string, columns: number | null): object | null {
  let text = lines[0] ?? '';
  for (let count = 1; ; count++) {
    const cells = tried(text, delimiter, false);
    if (cells === 'broken') return null;
    if (cells !== 'open')
      return count > 1 && columns !== null && cells.length !== columns ? null : { cells, lines: count };
    if (count >= lines.length) return null;
    text += `\n${lines[count]}`;
  }
}

function tried(text: string, delimiter: string, relaxed: boolean): string[] | 'open' | 'broken' {
  try {
    const [cells] = parse(text, { delimiter, relax_quotes: relaxed, relax_column_count: true }) as string[][];
    return cells ?? [''];
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'CSV_QUOTE_NOT_CLOSED') return 'open';
    return code === 'INVALID_OPENING_QUOTE' && !relaxed ? tried(text, delimiter, true) : 'broken';
  }
}

const blankAsOne = (record: ReturnType<CsvRecords['at']>) =>
  record?.cells.every((cell) => cell.trim() === '') ? { ...record, cells: [''] } : record;

describe('the records of a CSV file', () => {
  it('are those that a parser finds that is given one line more until it takes them', () => {
    const piece = fc.constantFrom('a', '"', '"', '""', ',', ';', '\n', ' ', '\u0000', 'é', '",', '""\n');
    fc.assert(
      fc.property(fc.string({ unit: piece, maxLength: 40 }), fc.constantFrom(1, 2, 3, null), (text, columns) => {
        const lines = text.split('\n');
        const records = new CsvRecords(new FileLines(text), ',');
        for (const at of lines.keys()) {
          const expected = byTrying(lines.slice(at), ',', columns) as ReturnType<CsvRecords['at']>;
          expect(blankAsOne(records.at(at, columns))).toEqual(blankAsOne(expected));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('ask the parser once each, and what is none asks it never', () => {
    // 7 KB: each line opens a quote or closes it in front of nothing.
    expect(reading(`phone,name\n${'"\n'.repeat(3_500)}`)).toEqual({ rows: 3_500, buffers: 0 });
    expect(reading(`phone,name\n${`"${'x"",'.repeat(150)}\n`.repeat(200)}`)).toEqual({ rows: 200, buffers: 0 });
    expect(reading(`phone,name\n${'"",""\n'.repeat(1_000)}`)).toEqual({ rows: 0, buffers: 0 });
    const row = '"+1","two\nlines"\n';
    const once = reading(`phone,name\n${row}`);
    expect(once.buffers).toBeGreaterThan(0);
    expect(reading(`phone,name\n${row.repeat(500)}`)).toEqual({ rows: 500, buffers: 500 * once.buffers });
  });

  it('look through a line once as a beginning and once as an inside, however often a record begins again', () => {
    let looked = 0;
    // From its beginning and from the inside of a quote, each line ends inside of one: every
    // record goes on for a hundred lines.
    const text = `phone,name\n${'x",",y\n'.repeat(2_000)}`;
    const indexOf = vi.spyOn(String.prototype, 'indexOf').mockImplementation(function (this: string, found, from = 0) {
      if (found === '"') looked++;
      for (let at = from; at < this.length; at++) if (this.startsWith(found, at)) return at;
      return -1;
    });
    try {
      expect([...readRows(text, 'csv')]).toHaveLength(2_000);
    } finally {
      indexOf.mockRestore();
    }
    expect(looked).toBeLessThanOrEqual(5 * 2_000);
  });
});
