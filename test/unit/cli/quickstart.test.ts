import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runParley } from '../../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

let test: TestDatabase;
const dataDir = mkdtempSync(join(tmpdir(), 'parley-quickstart-'));
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(async () => {
  await test.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const runtime = (facts: object): void =>
  writeFileSync(
    join(dataDir, 'runtime.json'),
    JSON.stringify({ databaseUrl: test.connectionString, publicUrl: 'http://127.0.0.1:8123', port: 8123, ...facts }),
  );
const run = (...words: string[]) =>
  runParley(['quickstart', ...words], { PARLEY_DATA_DIR: dataDir, PARLEY_MASTER_KEY: 'ab'.repeat(32) });

describe('parley quickstart', () => {
  it('refuses the emulator where the service dials the real carrier, says how to start both, and makes nothing', async () => {
    runtime({ carrierApiBase: {} });
    const refused = await run();
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('CARRIER_API_BASE_PLIVO=http://127.0.0.1:4010 npm start');
    expect((await runParley(['workspace', 'list'], { DATABASE_URL: test.connectionString })).out).not.toContain('acme');
  });

  it('says how to allow the phone that it would ring, where that is in another country than its line', async () => {
    runtime({ carrierApiBase: { plivo: 'http://127.0.0.1:4010' } });
    const elsewhere = await run('elsewhere', '--to', '+37190012345');
    const advice = /npx (parley dialling elsewhere --countries LV --kinds premium)\)/.exec(elsewhere.out)?.[1];
    expect(advice).toBeDefined();
    await runParley(advice!.split(' ').slice(1), { DATABASE_URL: test.connectionString });
    expect((await run('elsewhere', '--to', '+37190012345')).out).not.toContain('not allowed yet');
  });

  it('makes all that a call needs and prints its curl; a second run makes nothing twice and says how to make another key', async () => {
    runtime({ carrierApiBase: { plivo: 'http://127.0.0.1:4010' } });
    const first = await run();
    expect([first.code, first.err]).toEqual([0, '']);
    expect(first.out.match(/made/g)).toHaveLength(4);
    const [, key] = /Authorization: Bearer (sv_live_\w+)"/.exec(first.out) ?? [];
    expect(key).toBeDefined();
    expect(first.out).toContain('curl -i -X POST http://127.0.0.1:8123/api/outbound-call');
    const body = JSON.parse(/-d '(\{.*\})'/.exec(first.out)![1]!);
    expect(body).toMatchObject({ to: '+14155550123', enterprise: 'acme' });

    const second = await run();
    expect(second.code).toBe(0);
    expect(second.out).not.toContain('(made)');
    expect(second.out).not.toContain(key);
    expect(second.out).toContain('parley key create acme --name another');
    expect(JSON.parse(/-d '(\{.*\})'/.exec(second.out)![1]!)).toEqual(body);
    for (const [list, one] of [
      ['agent', body.agentId],
      ['line', body.from],
    ]) {
      const { out } = await runParley([list, 'list', 'acme', '--json'], { DATABASE_URL: test.connectionString });
      expect(JSON.parse(out).map(({ id }: { id: string }) => id)).toEqual([one]);
    }
  });

  it('with a real carrier wants its number and a phone to ring, and takes no secret from the command line', async () => {
    const bare = await run('real', '--carrier', 'plivo');
    expect([bare.code, bare.err]).toEqual([1, expect.stringContaining('--number')]);
    const token = join(dataDir, 'token.txt');
    writeFileSync(token, 'canary-token\n');
    const to = ['real', '--carrier', 'plivo', '--number', '+14155550177', '--to', '+14155550188', '--auth-id', 'MA1'];
    expect((await run(...to, '--auth-token', 'canary-token')).err).toContain('--auth-token-file');
    const done = await run(...to, '--auth-token-file', token);
    expect([done.code, done.out.includes('"to":"+14155550188"')]).toEqual([0, true]);
    expect(done.out).not.toContain('canary-token');
    expect(done.out).not.toContain('has no credentials');
  });
});
