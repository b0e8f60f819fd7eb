import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeImport, type ImportRow, ignoredColumns, readRows } from '../../../src/leads/import-reader.ts';

const csv = (text: string): ImportRow[] => [...readRows(text, 'csv')];
const given = (text: string): unknown[] => csv(text).map(({ read }) => (read.ok ? read.given : `${read.fault.code}`));

/** As a careful writer writes it. */
const cell = (text: string): string => (/[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

describe('a CSV file', () => {
  it('gives back what a careful writer wrote, with any of three delimiters and three line ends, with and without a last one', () => {
    const text = fc
      .string({ unit: fc.constantFrom('a', 'é', '😀', '"', ',', ';', '\t', '\n', ' ', '|') })
      .map((value) => `x${value}y`);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 12 }),
        fc.constantFrom(',', ';', '\t'),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.boolean(),
        (rows, delimiter, end, closing) => {
          const lines = [['phone', 'name'], ...rows].map((row) => row.map(cell).join(delimiter));
          const read = given(lines.join(end) + (closing ? end : ''));
          expect(read).toEqual(rows.map(([phone, name]) => ({ phone, name })));
        },
      ),
    );
  });

  it('never throws on any text with a header, and numbers its rows 1, 2, 3 …', () => {
    const noise = fc.string({
      unit: fc.constantFrom('a', '"', '""', ',', '\n', '\r', '\u0000', '\ufffd', '{', '1'),
      maxLength: 80,
    });
    fc.assert(
      fc.property(noise, (text) => {
        const rows = csv(`phone,name\n${text}`);
        expect(rows.map(({ row }) => row)).toEqual(rows.map((_row, index) => index + 1));
      }),
    );
  });

  it('knows columns in any case and spelling, puts metadata.* together, and says which it does not know', () => {
    const text =
      'Phone Number;EXTERNAL_ID;metadata.plan;metadata;Consent Type;consent.at;Favourite colour;;name\n' +
      '+1;e1;gold;"{""tier"":2}";written;2026-01-01T00:00:00Z;blue;;Asha\n';
    expect(given(text)).toEqual([
      {
        phone_number: '+1',
        externalId: 'e1',
        name: 'Asha',
        metadata: { plan: 'gold', tier: 2 },
        consent: { type: 'written', at: '2026-01-01T00:00:00Z' },
      },
    ]);
    expect(ignoredColumns(text, 'csv')).toEqual(['Favourite colour']);
  });

  it('does not let a stray quote swallow the rows up to the next one', () => {
    const text = 'phone,name\n+1,"Asha\n+2,Bela\n+3,"Chen\n+4,Dana\n';
    expect(given(text)).toEqual([
      'broken_quoting',
      { phone: '+2', name: 'Bela' },
      'broken_quoting',
      { phone: '+4', name: 'Dana' },
    ]);
    expect(csv('phone,name\n+1,"Asha\n+2,Bela",x\n+3,Chen\n').map(({ line, read }) => [line, read.ok])).toEqual([
      [2, false],
      [3, false],
      [4, true],
    ]);
  });

  it('loses one row to a quote that is never closed, and none to a quote inside a cell', () => {
    const rows = csv('phone,name\n+1,a\n+2,"b\n+3,5" pipe\n+4,d\n+5,"two\nlines"\n+6,f\n');
    expect(rows.map(({ row, line, read }) => [row, line, read.ok ? read.given['name'] : read.fault.code])).toEqual([
      [1, 2, 'a'],
      [2, 3, 'broken_quoting'],
      [3, 4, '5" pipe'],
      [4, 5, 'd'],
      [5, 6, 'two\nlines'],
      [6, 8, 'f'],
    ]);
  });

  it('refuses rows with too few or too many cells, no UTF-8, NUL or 64 K characters, and passes over blank ones', () => {
    const latin1 = Buffer.from('phone,name\n+1,Jos\u00e9\n', 'latin1');
    expect(given(decodeImport(latin1))).toEqual(['bad_encoding']);
    expect(given('phone,name\n\n+1\n,,\n  \n+2,b,c\n+3,c,,\n+4,a\u0000b\n')).toEqual([
      'column_count',
      'column_count',
      { phone: '+3', name: 'c' },
      'bad_encoding',
    ]);
    expect(given(`phone,name\n+1,${'x'.repeat(70_000)}\n+2,b`)).toEqual(['row_too_long', { phone: '+2', name: 'b' }]);
    expect(given(`phone,name\n+1,"${'x'.repeat(70_000)}"\n+2,b`)).toEqual(['row_too_long', { phone: '+2', name: 'b' }]);
  });

  it.each<[string, string | Buffer]>([
    ['UTF-8 with a byte order mark', Buffer.from('\ufeffphone,name\r\n+1,José\r\n')],
    ['UTF-16 little endian', Buffer.from('\ufeffphone,name\n+1,José\n', 'utf16le')],
    ['UTF-16 big endian', Buffer.from('\ufeffphone,name\n+1,José\n', 'utf16le').swap16()],
  ])('is read as %s', (_what, content) => {
    expect(given(decodeImport(Buffer.from(content)))).toEqual([{ phone: '+1', name: 'José' }]);
  });

  it.each([
    ['import_empty', ''],
    ['import_empty', ' \n\r\n'],
    ['import_no_phone_column', '+14155550123,Asha\n+14155550124,Bo\n'],
    ['import_no_phone_column', 'name,notes\na,b\n'],
    ['import_duplicate_column', 'phone,Name,name\n+1,a,b\n'],
    ['import_no_phone_column', Buffer.from('phone\n+1\n', 'utf16le').toString('latin1')],
  ])('as a whole is refused: %s (%#)', (code, text) => {
    expect(() => csv(text)).toThrow(expect.objectContaining({ code }));
  });
});

describe('a file of JSON lines', () => {
  it('gives each line its object or its fault', () => {
    const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`;
    const text = `{"phone":"+1"}\r\n\n{"phone":\n[1]\nnull\n"x"\n${deep}\n{"phone":"\\u0000"}\n{"a":"\ufffd"}`;
    const rows = [...readRows(text, 'ndjson')];
    expect(rows.map(({ line, read }) => [line, read.ok ? read.given['phone'] : read.fault.code])).toEqual([
      [1, '+1'],
      [3, 'invalid_json'],
      [4, 'invalid_json'],
      [5, 'invalid_json'],
      [6, 'invalid_json'],
      [7, 'invalid_json'],
      [8, '\u0000'],
      [9, 'bad_encoding'],
    ]);
  });
});
