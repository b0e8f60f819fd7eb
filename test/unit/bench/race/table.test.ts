import { describe, expect, it } from 'vitest';
import { tablesOf, withTables } from '../../../../bench/race/table.ts';
import { result } from './result.ts';

/** The cells of the rows below a head that begins so. */
function rowsBelow(tables: string, head: string): Record<string, string>[] {
  const lines = tables.split('\n');
  const at = lines.findIndex((line) => line.startsWith(head));
  const cells = (line: string): string[] => line.slice(2, -2).split(' | ');
  const names = cells(lines[at]!);
  const end = lines.findIndex((line, index) => index > at && !line.startsWith('|'));
  return lines
    .slice(at + 2, end)
    .map((line) => Object.fromEntries(cells(line).map((cell, index) => [names[index], cell])));
}

const replying = (repliesMs: number[], repetition: number) => {
  const { heard } = result(10);
  return result(10, { repetition, heard: { ...heard, repliesMs } });
};

describe('the tables of the race', () => {
  it('tell what a reply takes beyond the work of the providers', () => {
    const tables = tablesOf([replying([900, 905, 910], 1), replying([915], 2)], []);
    // Words 150, the first of 14 tokens 300, the others 15 each, sound 120.
    expect(tables).toContain('The providers alone take 965: their work 765,');
    const [row] = rowsBelow(tables, '| subject | at once | reply p50');
    expect(row).toMatchObject({ 'reply p50': '905 [905–915]', 'own p50': '140 [140–150]', replies: '4' });
  });

  it('leave out what is void where there are others', () => {
    const isVoid = { cpuMs: 9, voidBecause: 'others took 20 % of the core' };
    const head = '| subject | at once | CPU';
    expect(rowsBelow(tablesOf([result(10), result(10, isVoid)], []), head)).toMatchObject([
      { 'at once': '10', 'CPU ms a conversation-second': '1.00' },
    ]);
    expect(rowsBelow(tablesOf([result(10, isVoid)], []), head)).toMatchObject([{ 'at once': '10 (void)' }]);
  });

  it('tell runs at rest apart from a rung of as many', () => {
    const head = '| subject | at once | CPU';
    const rows = rowsBelow(tablesOf([result(3), result(6, { cpuMs: 2, isAtRest: true }), result(6)], []), head);
    expect(rows.map((row) => [row['at once'], row['CPU ms a conversation-second']])).toEqual([
      ['6, at rest', '2.00'],
      ['3', '1.00'],
      ['6', '1.00'],
    ]);
  });

  it('say where nothing broke that at least so many were carried', () => {
    const climbs = [
      { subject: 'one', repetition: 1, carried: 25, brokeBy: 'late at 30', endedBy: null },
      { subject: 'one', repetition: 2, carried: 30, brokeBy: null, endedBy: 'the other core was 95 % busy at 40' },
    ];
    expect(rowsBelow(tablesOf([result(10)], climbs), '| subject | conversations a core')).toEqual([
      {
        subject: 'one',
        'conversations a core': 'at least 25 [25–30]',
        'broke by': 'late at 30; the other core was 95 % busy at 40',
      },
    ]);
  });

  it('take the place of what is between the marks of a page', () => {
    const page = 'before\n<!-- tables of the race -->\nold\n<!-- end of the tables -->\nafter';
    expect(withTables(page, 'new\n')).toBe(
      'before\n<!-- tables of the race -->\n\nnew\n<!-- end of the tables -->\nafter',
    );
    expect(() => withTables('no marks', 'new')).toThrow('needs the lines');
  });
});
