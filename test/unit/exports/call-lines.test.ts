import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headOf, lineOf } from '../../../src/exports/call-lines.ts';

const rowsOf = (...calls: Record<string, unknown>[]): Record<string, string>[] =>
  parse(headOf('csv') + calls.map((call) => lineOf('csv', call)).join(''), { columns: true });

describe('a call as a line of CSV', () => {
  it('is read back as it was, whatever strangers wrote', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), (name, transcript) => {
        const [row] = rowsOf({ callUuid: '1', name, transcript, metadata: { name } });
        const bare = (text: string): string => text.replaceAll("'", '');
        expect([bare(row!['name']!), bare(row!['transcript']!)]).toEqual([bare(name), bare(transcript)]);
        expect(JSON.parse(row!['metadata']!)).toEqual({ name });
      }),
    );
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '  =1', '\r\n=1', '＝1', '\u00a0@x'])(
    'makes text of what a spreadsheet would compute: %j',
    (formula) => {
      const [row] = rowsOf({ name: formula, summary: formula });
      expect(row!['name']).toMatch(/^'/);
      expect(row!['name']!.replaceAll("'", '')).toBe(formula);
      expect(row!['summary']).toBe(row!['name']);
    },
  );

  it('also for whoever cuts at semicolons, tabs or the ends of lines, as Excel does in many countries', () => {
    const names = ['x;=1+1', 'x; +49 30', 'x\t@SUM(A1)', 'x\n=HYPERLINK("http://evil.example")', '"\r\n=1', 'x;＝1'];
    for (const name of names) {
      const line = lineOf('csv', { name, metadata: { [name]: name } });
      for (const field of line.split(/[;\t\r\n]/)) expect(field.trimStart(), line).not.toMatch(/^[=+\-@＝＠]/);
      expect(JSON.parse(rowsOf({ metadata: { name } })[0]!['metadata']!)).toEqual({ name });
    }
    const list = 'They asked for:\n- the price\n- the way; then a - b';
    expect(rowsOf({ summary: list })[0]!['summary']).toBe(list);
  });

  it('leaves numbers and times as they are, also what is below nothing', () => {
    const call = { durationSeconds: -1.5, createdAt: new Date(0), latency: { mouthToEarMs: { p95: 740 } }, cost: null };
    expect(rowsOf({ agentName: 'Dana', disposition: 'confirmed' })[0]).toMatchObject({
      ...{ agentName: 'Dana', disposition: 'confirmed' },
    });
    expect(rowsOf(call)[0]).toMatchObject({
      durationSeconds: '-1.5',
      createdAt: '1970-01-01T00:00:00.000Z',
      replyP95Ms: '740',
      cost: '',
    });
  });
});

it('a call as a line of NDJSON is one line', () => {
  expect(headOf('ndjson')).toBe('');
  expect(lineOf('ndjson', { name: 'a\nb' })).toBe('{"name":"a\\nb"}\n');
});
