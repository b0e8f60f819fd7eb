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
const runWith = (environment: Record<string, string>, ...words: string[]) =>
  runParley(['quickstart', ...words], {
    PARLEY_DATA_DIR: dataDir,
    PARLEY_MASTER_KEY: 'ab'.repeat(32),
    ...environment,
  });
const run = (...words: string[]) => runWith({}, ...words);

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

  describe('--agent cascade', () => {
    /** A server of one's own, so that no name has to be looked up. */
    const SERVERS = {
      DEEPGRAM_BASE_URL: 'http://127.0.0.1:1',
      OPENAI_BASE_URL: 'http://127.0.0.1:2/v1',
      ELEVENLABS_BASE_URL: 'http://127.0.0.1:3',
      MODEL_ALLOW_CIDRS: '127.0.0.0/8',
    };

    it('names the keys that it wants, and makes nothing without them', async () => {
      runtime({ carrierApiBase: {} });
      const { code, err } = await runWith({ OPENAI_API_KEY: 'canary-2' }, 'free', '--agent', 'cascade');
      expect(code).toBe(1);
      for (const way of ['DEEPGRAM_API_KEY', 'OPENAI_BASE_URL', 'DEEPGRAM_API_KEY_FILE', 'npm run demo'])
        expect(err).toContain(way);
      const bare = await runWith({ DEEPGRAM_API_KEY_FILE: join(dataDir, 'none') }, 'free', '--agent', 'cascade');
      expect(bare.err).toContain('DEEPGRAM_API_KEY_FILE: ');
      expect((await runParley(['workspace', 'list'], { DATABASE_URL: test.connectionString })).out).not.toContain(
        'free',
      );
    });

    it('names the variable of an address that is refused, and that the service needs the setting too', async () => {
      const { MODEL_ALLOW_CIDRS: _none, ...servers } = SERVERS;
      const keys = { DEEPGRAM_API_KEY: 'canary-1', OPENAI_API_KEY: 'canary-2' };
      const { err } = await runWith({ ...keys, ...servers }, 'shut', '--agent', 'cascade');
      expect(err).toContain('DEEPGRAM_BASE_URL (http://127.0.0.1:1): ');
    });

    it('makes connections, the agent and a page to talk at, shows no key, and makes nothing twice', async () => {
      const file = join(dataDir, 'ears.txt');
      writeFileSync(file, 'canary-1\n');
      const keys = { DEEPGRAM_API_KEY_FILE: file, OPENAI_API_KEY: 'canary-2', ELEVENLABS_API_KEY: 'canary-3' };
      const first = await runWith({ ...keys, ...SERVERS }, 'free', '--agent', 'cascade');
      expect([first.code, first.err]).toEqual([0, '']);
      expect(first.out).not.toContain('canary');
      expect(first.out).not.toContain('curl');
      const [, agentId] = /http:\/\/127\.0\.0\.1:8123\/talk\/pk_\w+\/([0-9a-f-]{36})\n/.exec(first.out)!;
      const connections = await runParley(['connection', 'list', 'free', '--json'], {
        DATABASE_URL: test.connectionString,
      });
      expect(JSON.parse(connections.out)).toMatchObject([
        { name: 'brain', provider: 'openai_compatible', baseUrl: 'http://127.0.0.1:2/v1', hasCredentials: true },
        { name: 'ears', provider: 'deepgram', hasCredentials: true },
        { name: 'voice', provider: 'elevenlabs', hasCredentials: true },
      ]);
      const shown = await runParley(['agent', 'show', 'free', agentId!, '--json'], {
        DATABASE_URL: test.connectionString,
      });
      expect(JSON.parse(shown.out).definition).toMatchObject({
        kind: 'cascade',
        think: [{ connection: 'brain' }],
        speak: [{ connection: 'voice', engine: 'elevenlabs' }],
      });
      const second = await runWith({ ...keys, ...SERVERS }, 'free', '--agent', 'cascade');
      expect(second.code).toBe(0);
      expect(second.out).not.toContain('made)');
      expect(second.out).toContain(
        'connection ears was left as it is; change it: npx parley connection change free ears',
      );
      expect(second.out).toContain(`npx parley agent import free <file> --id ${agentId}`);
      expect(second.out).not.toContain('the environment names');
      const third = await runWith({ ...keys, ...SERVERS, OPENAI_MODEL: 'other-1' }, 'free', '--agent', 'cascade');
      expect(third.out).toContain('it thinks with gpt-4.1-mini; the environment names other-1');
      expect(second.out).toContain(/\/talk\/.*/.exec(first.out)![0]);
    });

    it('speaks with the local voice where there is no key for another; a carrier’s line makes it ring too', async () => {
      runtime({ carrierApiBase: { plivo: 'http://127.0.0.1:4010' } });
      const keys = { ...SERVERS, DEEPGRAM_API_KEY: 'canary-1' };
      const done = await runWith(keys, 'own', '--agent', 'cascade', '--carrier', 'emulator');
      expect([done.code, done.err]).toEqual([0, '']);
      expect(done.out).toContain('/api/outbound-call');
      const [, agentId] = /\/talk\/pk_\w+\/([0-9a-f-]{36})\n/.exec(done.out)!;
      const shown = await runParley(['agent', 'show', 'own', agentId!, '--json'], {
        DATABASE_URL: test.connectionString,
      });
      expect(JSON.parse(shown.out).definition.speak).toEqual([{ engine: 'local', voice: 'slt' }]);
    });
  });
});
