import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ran, runParley } from '../../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
  await parley('workspace create acme --name Acme');
});
afterAll(() => test.close());

const parley = (words: string): Promise<Ran> =>
  runParley(words.split(' '), { DATABASE_URL: test.connectionString, PARLEY_MASTER_KEY: 'ab'.repeat(32), USER: 'ada' });

describe('parley dialling', () => {
  it('shows what a new workspace may call: nothing before its first line, then the country of it', async () => {
    expect((await parley('dialling acme')).out).toBe(
      [
        "'acme' may call the countries of its lines (none yet)",
        'kinds beside ordinary numbers: none',
        'a call lasts as long as its agent says',
        'a day: no ceiling; each key: no ceiling',
        '',
      ].join('\n'),
    );
    await parley('line add acme --number +14155550100 --carrier plivo');
    expect((await parley('dialling acme')).out).toContain("'acme' may call the countries of its lines (US)\n");
  });

  it('changes what is given and leaves the rest, with an audit row of who did', async () => {
    const set =
      '--countries gb,ie --kinds shared_cost --calls-per-day 500 --minutes-per-day 900 --key-calls-per-day 200';
    const ran = await parley(`dialling acme ${set} --max-call 600 --block-countries GG`);
    expect([ran.code, ran.err]).toEqual([0, '']);
    expect(ran.out).toContain("'acme' may call the countries of its lines (US) and GB, IE, never GG\n");
    expect(ran.out).toContain('a day: at most 500 calls and 900 minutes; each key: at most 200 calls\n');
    expect(ran.out).toMatch(/today, until .* UTC: 0 calls, 0\.0 minutes, 0\.0 held by live calls\n/);
    const changed = JSON.parse((await parley('dialling acme --minutes-per-day none --countries any --json')).out);
    expect(changed).toMatchObject({
      countries: null,
      kinds: ['shared_cost'],
      maxCallSeconds: 600,
      callsPerDay: 500,
      minutesPerDay: null,
      calledAndRefusedNow: [],
    });
    const audit = JSON.parse((await parley('audit list acme --action workspace.dial_policy_changed --json')).out);
    expect(audit).toHaveLength(2);
    expect(JSON.stringify(audit)).toContain('cli:ada');
  });

  it.each([
    ['--countries XX', /'XX' is no country like US or DE/],
    ['--kinds cheap', /Unknown kinds: cheap\. There are: premium, /],
    ['--max-call 10', /maxCallSeconds must be a whole number from 30 to 14400/],
    ['--calls-per-day many', /'many' is no whole number/],
  ])('refuses %s in a sentence', async (words, sentence) => {
    const ran = await parley(`dialling acme ${words}`);
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(sentence);
  });

  it('explains the kinds in its help', async () => {
    expect((await parley('dialling --help')).out).toMatch(/premium: premium rate, such as \+1 900/);
  });
});
