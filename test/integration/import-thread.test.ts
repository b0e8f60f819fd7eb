/**
 * The thread that reads files of leads, as it is built: what it answers, and that nobody waits for it who has nothing
 * to do with it.
 */
import { describe, expect, test } from 'vitest';
import { HOSTILE_FILES } from '../../bench/siege/csv.ts';
import { systemClock } from '../../media/contract/clock.ts';
import { builtEntry } from '../../src/config/built-entry.ts';
import { createImportReading, ImportsBusy, READING_HERE } from '../../src/leads/import-reading.ts';
import type { LeadRow, RowsOrder } from '../../src/leads/import-rows.ts';

const reading = createImportReading({ clock: systemClock, entry: () => builtEntry('src/leads/import-thread.js') });
const fileOf = (text: string) => ({ content: Buffer.from(text), format: 'csv' as const });
const text = `phone,name,notes,colour\n${'+14155550123,Asha,"two\nlines",blue\nx,"open,,\n'.repeat(400)}`;

async function all(groups: AsyncIterable<LeadRow[]>): Promise<LeadRow[][]> {
  const found: LeadRow[][] = [];
  for await (const group of groups) found.push(group);
  return found;
}

describe('the thread that reads imports', () => {
  test('sees what a reader in this process sees, from any row on', async () => {
    const file = fileOf(text);
    expect(await reading.summary('w', file)).toEqual(await READING_HERE.summary('w', file));
    const order: RowsOrder = { ...file, afterRow: 123, slug: 'acme', defaults: { agentId: null, source: 'fair' } };
    const groups = await all(reading.groups(order));
    expect(groups).toEqual(await all(READING_HERE.groups(order)));
    expect(groups.map(({ length }) => length)).toEqual([250, 250, 177]);
  });

  test('refuses a file as it is refused in this process', async () => {
    await expect(reading.summary('w', fileOf('name\nAsha\n'))).rejects.toMatchObject({
      code: 'import_no_phone_column',
    });
  });

  test('lets this process go on while it reads 10 MB of quotes; one workspace has one file read at a time', async () => {
    const file = fileOf(HOSTILE_FILES.longQuotes());
    const order: string[] = [];
    const asked = ['w', 'w'].map((workspace, index) =>
      reading.summary(workspace, file).catch((error: { code: string }) => order.push(`${index} ${error.code}`)),
    );
    let turns = 0;
    let isOver = false;
    void Promise.all(asked).then(() => {
      isOver = true;
    });
    for (; !isOver; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual([0, 1].map((index) => `${index} import_too_many_rows`));
    expect(turns).toBeGreaterThan(100);
  });

  test.each([
    ['memory', { answerMs: 60_000, heapMb: 4 }],
    ['time', { answerMs: 1, heapMb: 256 }],
  ])('refuses what would take more %s than it may, and reads the next file', async (_what, budget) => {
    const tight = createImportReading({
      clock: systemClock,
      entry: () => builtEntry('src/leads/import-thread.js'),
      budget,
    });
    const file = fileOf(HOSTILE_FILES.oneLine());
    await expect(tight.summary('w', file)).rejects.toMatchObject({ code: 'import_too_costly' });
    expect(await reading.summary('w', fileOf(text))).toMatchObject({ totalRows: 800 });
  });

  test('refuses whom it has no time for, at once', async () => {
    const file = fileOf(text);
    const asked = Array.from({ length: 14 }, (_none, index) =>
      reading.summary(`w${index}`, file).then(
        () => 'read',
        (error: unknown) => (error instanceof ImportsBusy ? 'busy' : String(error)),
      ),
    );
    const said = await Promise.all(asked);
    expect([...new Set(said)].toSorted()).toEqual(['busy', 'read']);
    expect(said.slice(0, 2)).toEqual(['read', 'read']);
  });
});
