import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ran, runParley } from '../../support/command-line.ts';
import { type PlainOpenAi, startPlainOpenAi } from '../../support/providers/plain-openai.ts';
import { type ApiFixture, createApiFixture } from '../api/api-fixture.ts';

const KEY = 'sk-canary-of-a-connection';
const folder = mkdtempSync(join(tmpdir(), 'parley-connections-'));
const ran: Ran[] = [];
let api: ApiFixture;
let emulator: PlainOpenAi;
beforeAll(async () => {
  api = await createApiFixture();
  emulator = await startPlainOpenAi(KEY);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await emulator.close();
  await api.close();
});

async function parley(
  words: string | string[],
  environment: Record<string, string> = {},
  input = `${KEY}\n`,
): Promise<Ran> {
  const done = await runParley(
    typeof words === 'string' ? words.split(' ') : words,
    {
      DATABASE_URL: api.connectionString,
      PARLEY_MASTER_KEY: 'ab'.repeat(32),
      PARLEY_DATA_DIR: api.dataDir,
      MODEL_ALLOW_CIDRS: '127.0.0.0/8',
      ...environment,
    },
    input,
  );
  ran.push(done);
  return done;
}

describe('parley connection', () => {
  it('adds one with a key from standard input, shows it without, tries it, changes and removes it', async () => {
    expect((await parley('connection list acme')).out).toBe("'acme' has no connections.\n");
    const added = await parley(
      `connection add acme brain --provider openai_compatible --url ${emulator.baseUrl} --key-file - --concurrent 4`,
    );
    expect([added.code, added.err]).toEqual([0, '']);
    expect(added.out).toContain('brain, version 1: openai_compatible at');
    expect(added.out).toContain('Try it with: parley connection test acme brain');
    expect((await parley('connection list acme')).out).toMatch(/brain +openai_compatible +1 +http:\S+ +yes +4 at once/);

    expect((await parley('connection test acme brain --model emulated-1')).out).toMatch(
      /^Version 1 serves, in \d+ ms\. It has 1 models: emulated-1\.\nAsked from this command line, .*brain\/test with a key of 'acme'\.\n$/,
    );
    const unknown = await parley('connection test acme brain --model gpt-9');
    expect([unknown.code, unknown.out]).toEqual([1, expect.stringContaining('(model_unknown)')]);

    await parley('connection change acme brain --concurrent 0 --requests 60 --set organization=org-1');
    const shown = await parley('connection show acme brain');
    expect(shown.out).toContain('limits: 60 requests a minute');
    expect(shown.out).toContain('settings: organization=org-1');
    expect(shown.out).toMatch(/\n2 .*new calls use it\n1 /);
    await parley('connection change acme brain --set organization=');
    expect(JSON.parse((await parley('connection show acme brain --json')).out)).toMatchObject({
      version: 3,
      settings: {},
    });

    const wrong = join(folder, 'key.txt');
    writeFileSync(wrong, 'sk-canary-wrong\n');
    await parley(`connection change acme brain --key-file ${wrong}`);
    const refused = await parley('connection test acme brain');
    expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('(key_refused)')]);
    expect((await parley('connection remove acme brain')).out).toContain('Removed brain');
    expect((await parley('connection show acme brain')).err).toContain('see: npx parley connection list acme');
  });

  it('takes the key from the environment, and never from the command line', async () => {
    const added = await parley('connection add acme voice --provider elevenlabs', { PARLEY_CONNECTION_KEY: KEY });
    expect(added.out).toContain('elevenlabs at https://api.elevenlabs.io, with a key');
    const given = await parley('connection add acme ear --provider deepgram --api-key sk-canary-in-the-open');
    expect([given.code, given.err]).toEqual([1, expect.stringContaining('process list')]);
    expect(given.err).not.toContain('sk-canary-in-the-open');
    const short = await parley('connection add acme ear --provider deepgram --key sk-canary-in-the-open');
    expect([short.code, short.err]).toEqual([1, expect.stringContaining('--key-file')]);
    expect(short.err).not.toContain('sk-canary-in-the-open');
    await parley('connection remove acme voice');
  });

  it.each([
    [
      'connection add acme ear --provider deepgram --no-key',
      '`credentials.apiKey` is missing: the API key; give it by --key-file, - for standard input, or PARLEY_CONNECTION_KEY',
    ],
    ['connection add acme ear --provider whisper --key-file -', 'there are: deepgram'],
    ['connection add acme ear --provider deepgram --key-file /nowhere', 'cannot be read (ENOENT)'],
    ['connection add acme ear --provider deepgram --key-file - --url https://10.0.0.1', 'MODEL_ALLOW_CIDRS'],
    ['connection add acme ear --provider deepgram --key-file - --set x', 'write it like name=value'],
    [
      'connection add acme ear --provider deepgram --key-file - --tokens 5',
      '`limits.tokensPerMinute` means nothing to deepgram',
    ],
    ['connection add nobody ear --provider deepgram --key-file -', "no workspace 'nobody'"],
    ['connection test acme ear', "has no connection 'ear'"],
    ['model set acme --model m', 'Give --url URL, or --connection NAME'],
    ['model set acme --model m --connection c --no-key', 'not both'],
    ['model set acme --model m --connection c', "has no connection 'c'"],
  ])('%s: %s', async (words, problem) => {
    const done = await parley(words);
    expect([done.code, done.err]).toEqual([1, expect.stringContaining(problem)]);
  });

  it('is what reads the calls where it is named, and stays when that is taken back', async () => {
    await parley(`connection add acme reader --provider openai_compatible --url ${emulator.baseUrl} --key-file -`);
    await parley('model set acme --connection reader --model emulated-1');
    expect((await parley('model test acme')).out).toContain('confirmed');
    const kept = await parley('connection remove acme reader');
    expect([kept.code, kept.err]).toEqual([1, expect.stringContaining('the analysis of calls uses it')]);
    expect((await parley('model remove acme')).out).toContain("the connection 'reader' stays");
    expect((await parley('connection list acme')).out).toContain('reader');
    expect((await parley('connection remove acme reader --force')).code).toBe(0);
  });
});

describe('parley price', () => {
  it('sets, lists and removes what a unit costs', async () => {
    expect((await parley('price list')).out).toContain('There are no prices');
    const first = await parley('price set deepgram nova-3 listen_seconds 0.000128333333');
    expect(first.err).toContain('`currency` is missing');
    const set = await parley('price set deepgram nova-3 listen_seconds 0.000128333333 --currency USD');
    expect(set.out).toContain('0.000128333333 USD for a second of sound');
    await parley(['price', 'set', 'elevenlabs', '*', 'characters', '0.05']);
    expect((await parley('price list')).out).toMatch(/elevenlabs +\* +characters +0\.05 USD for 1,000 characters/);
    expect((await parley('price set deepgram nova-3 listen_seconds 1,5')).err).toContain('like 0.0025');
    expect((await parley('price set deepgram nova-3 listen_seconds 1 --from soon')).err).toContain('2027-01-01');
    expect((await parley('price remove deepgram nova-3 listen_seconds')).out).toContain('has no price');
    expect((await parley('price list')).out).not.toContain('deepgram');
    expect(JSON.parse((await parley('price list --history --json')).out)).toHaveLength(3);
  });
});

it('no command has shown a key, and none lies readable in the database', async () => {
  expect(ran.length).toBeGreaterThan(30);
  expect(JSON.stringify(ran)).not.toContain('sk-canary');
  for (const table of ['provider_connections', 'audit_log']) {
    expect(JSON.stringify(await api.database.query(`SELECT t::text FROM ${table} t`))).not.toContain('sk-canary');
  }
});
