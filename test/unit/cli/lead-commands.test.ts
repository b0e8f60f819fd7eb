import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { createWorkspace } from '../../../src/workspaces/workspaces.ts';
import { type Ran, runParley } from '../../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

let test: TestDatabase;
let folder: string;
beforeAll(async () => {
  test = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'parley-leads-'));
  const database = openPatientDatabase(test.connectionString);
  await createWorkspace(database, { slug: 'acme', name: 'Acme' });
  await database.close();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await test.close();
});

async function parley(words: string[], input = ''): Promise<Ran> {
  return runParley(words, { DATABASE_URL: test.connectionString }, input);
}

// biome-ignore lint/suspicious/noExplicitAny: a command's JSON is what is under test
const json = async (...words: string[]): Promise<any> => JSON.parse((await parley([...words, '--json'])).out);

describe('parley lead', () => {
  it('adds, lists, changes by external id and removes', async () => {
    const words = ['lead', 'add', 'acme', '--phone', '+1 415 555-0123', '--name', 'Asha', '--external-id', 'e1'];
    const added = await json(...words);
    expect(added).toMatchObject({ phone: '+14155550123', name: 'Asha', externalId: 'e1', status: 'new' });
    expect((await json('lead', 'add', 'acme', '--phone', '+14155550124', '--external-id', 'e1')).id).toBe(added.id);
    expect((await parley(['lead', 'list', 'acme'])).out).toMatch(/LEAD +PHONE[\s\S]*\+14155550124 +Asha +new +0 +e1/);
    expect((await parley(['lead', 'add', 'acme', '--phone', '0415'])).err).toContain("Invalid 'phone' format");
    expect((await parley(['lead', 'add', 'acme', '--phone', '+14155550125', '--agent', added.id])).err).toContain(
      'no agent',
    );
    expect((await parley(['lead', 'remove', 'acme', added.id])).out).toContain('is deleted');
    expect((await parley(['lead', 'remove', 'acme', added.id])).err).toContain(`no lead '${added.id}'`);
    expect((await parley(['lead', 'list', 'acme'])).out).toBe("'acme' has no such leads.\n");
  });

  it('imports a file to its end and names the lines that were refused', async () => {
    const file = join(folder, 'leads.csv');
    writeFileSync(file, '\ufeffphone;name;colour\r\n+14155550123;Asha;red\r\n0415;Bo;\r\n');
    const { out, code } = await parley(['lead', 'import', 'acme', file, '--source', 'fair']);
    expect([code, out]).toEqual([
      0,
      "2 rows: 1 new leads, 0 changed, 1 refused.\nColumns that are no field of a lead: colour\n  line 3: Invalid 'phone' format\n",
    ]);
    const [lead] = await json('lead', 'list', 'acme');
    expect(lead).toMatchObject({ name: 'Asha', source: 'fair' });
    const lines = await parley(['lead', 'import', 'acme', '-', '--format', 'ndjson'], '{"phone":"+14155550177"}\n');
    expect(lines.out).toContain('1 rows: 1 new leads');
    writeFileSync(file, 'name\nx\n');
    expect((await parley(['lead', 'import', 'acme', file])).err).toContain('must name the columns');
    expect((await parley(['lead', 'import', 'acme', join(folder, 'none.csv')])).err).toContain('ENOENT');
  });
});

describe('parley suppression', () => {
  it('adds, imports, lists and removes numbers, and changes nothing when one of them is none', async () => {
    expect(
      (await parley(['suppression', 'add', 'acme', '+14155550123', '+1 415 555 0124', '--reason', 'mail'])).out,
    ).toBe('2 of 2 are new on the list.\n');
    const bad = await parley(['suppression', 'add', 'acme', '+14155550125', '0415']);
    expect([bad.code, bad.err]).toEqual([1, "No numbers in international form: '0415'. Nothing was changed.\n"]);
    expect(
      (await parley(['suppression', 'import', 'acme', '-'], '\ufeff+14155550123\r\n\r\n+14155550126\r\n')).out,
    ).toBe('1 of 2 are new on the list.\n');
    expect((await json('suppression', 'list', 'acme')).map((one: { phone: string }) => one.phone)).toEqual([
      '+14155550126',
      '+14155550124',
      '+14155550123',
    ]);
    expect((await parley(['suppression', 'remove', 'acme', '+14155550126', '+14155550199'])).out).toBe(
      '1 of 2 were on the list.\n',
    );
    expect((await parley(['suppression', 'list', 'acme'])).out).toMatch(/\+14155550124 +operator +mail/);
  });
});

describe('parley calling', () => {
  it('shows the defaults, changes what is given and refuses what is not the workspace’s', async () => {
    expect(await json('calling', 'acme')).toEqual({
      window: null,
      allowedCountries: null,
      blockedCountries: [],
      guardCalls: false,
      guardLeads: true,
      defaultAgentId: null,
      defaultLineId: null,
    });
    expect(await json('calling', 'acme', '--guard-calls', 'on')).toMatchObject({ guardCalls: true, guardLeads: true });
    expect(await json('calling', 'acme', '--guard-leads', 'off')).toMatchObject({
      guardCalls: true,
      guardLeads: false,
    });
    expect((await parley(['calling', 'acme', '--default-agent', 'x'])).err).toContain("no agent 'x'");
    const windowed = await json(
      'calling',
      'acme',
      '--window',
      '09:00-20:00',
      '--days',
      '1-5',
      '--allow-countries',
      'us,CA',
    );
    expect(windowed).toMatchObject({
      window: { start: '09:00', end: '20:00', days: [1, 2, 3, 4, 5], timezone: 'recipient' },
      allowedCountries: ['US', 'CA'],
      guardCalls: true,
    });
    expect((await parley(['calling', 'acme', '--block-countries', 'GB'])).out).toContain(
      "'acme' calls 09:00-20:00 recipient, days 1, 2, 3, 4, 5; US, CA, not GB",
    );
    const none = ['--window', 'none', '--allow-countries', 'any', '--block-countries', 'none'];
    expect(await json('calling', 'acme', ...none)).toMatchObject({
      window: null,
      allowedCountries: null,
      blockedCountries: [],
    });
    for (const bad of [
      ['--window', '20:00-09:00'],
      ['--window', '9-17'],
      ['--window', '09:00-17:00', '--days', '0-5'],
      ['--window', '09:00-17:00', '--timezone', '+01:00'],
      ['--allow-countries', 'XX'],
    ]) {
      expect((await parley(['calling', 'acme', ...bad])).code, bad.join(' ')).toBe(1);
    }
    expect((await parley(['agent', 'line', 'acme', 'x', 'none'])).err).toContain("no agent 'x'");
  });
});
