import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ran, runParley } from '../../support/command-line.ts';
import { type PlainOpenAi, startPlainOpenAi } from '../../support/providers/plain-openai.ts';
import { type ApiFixture, createApiFixture } from '../api/api-fixture.ts';

const KEY = 'sk-canary-123';
let api: ApiFixture;
let emulator: PlainOpenAi;
beforeAll(async () => {
  api = await createApiFixture();
  emulator = await startPlainOpenAi(KEY);
});
afterAll(async () => {
  await emulator.close();
  await api.close();
});

async function parley(words: string, environment: Record<string, string> = {}): Promise<Ran> {
  return runParley(
    words.split(' '),
    {
      DATABASE_URL: api.connectionString,
      PARLEY_MASTER_KEY: 'ab'.repeat(32),
      PARLEY_DATA_DIR: api.dataDir,
      MODEL_ALLOW_CIDRS: '127.0.0.0/8',
      ...environment,
    },
    `${KEY}\n`,
  );
}

describe('parley model', () => {
  it('is not set at first, and says how to', async () => {
    expect((await parley('model show acme')).err).toContain('parley model set acme');
    expect((await parley('model test acme')).code).toBe(1);
  });

  it('refuses what would never be asked, each with the way out', async () => {
    const refused = async (url: string, environment?: Record<string, string>) =>
      (await parley(`model set acme --url ${url} --model m --no-key`, environment)).err;
    expect(await refused('ftp://llm.example/v1')).toContain('must begin with https://');
    expect(await refused('http://127.0.0.1:1/v1', { MODEL_ALLOW_CIDRS: '' })).toContain('MODEL_ALLOW_CIDRS');
    expect(await refused('https://169.254.169.254/v1')).toContain('MODEL_ALLOW_CIDRS');
    expect(await refused('https://llm.example/v1?key=x')).toContain('must not have a query');
    expect(
      (await parley('model set acme --url https://llm.example/v1 --model m', { PARLEY_MODEL_KEY: 'a b' })).err,
    ).toContain('printable ASCII');
  });

  it('is set with a key from standard input, which nobody sees again, tried, and removed', async () => {
    const set = await parley(
      `model set acme --url ${emulator.baseUrl}/chat/completions --model emulated-1 --key-file -`,
    );
    expect([set.code, set.err]).toEqual([0, '']);
    const show = await parley('model show acme');
    expect(show.out).toBe(`emulated-1 at ${emulator.baseUrl}, with a key\n`);
    const tried = await parley('model test acme --json');
    expect(JSON.parse(tried.out)).toMatchObject({ ok: true, format: 'json_schema', intent: 'confirmed' });
    const stored = await api.database.query('SELECT * FROM provider_connections');
    const audited = await api.database.query(`SELECT * FROM audit_log WHERE action LIKE 'model.%'`);
    expect(audited).toHaveLength(1);
    for (const text of [set.out, show.out, tried.out, JSON.stringify(audited), JSON.stringify(stored)]) {
      expect(text).not.toContain(KEY);
    }
    // Another model of the same server: its key stays. Another server: the key is not for it.
    await parley(`model set acme --url ${emulator.baseUrl} --model emulated-refuses`);
    expect((await parley('model test acme')).out).toContain('It did not serve (refused)');
    await parley('model set acme --url https://llm.example/v1 --model m');
    expect((await parley('model show acme')).out).toContain('without a key');
    expect((await parley('model remove acme')).out).toContain('asked no more');
    expect((await parley('model show acme')).code).toBe(1);
  });
});

describe('parley analysis', () => {
  const DONE = {
    status: 'completed',
    ended_reason: 'agent_hangup',
    answered_at: '2026-11-21T10:00:00Z',
    ended_at: '2026-11-21T10:00:48Z',
    transcript_status: 'ready',
  };

  it('reads a call again, by the heuristic or the model, stores it and sends nothing', async () => {
    const callUuid = await api.insertCall(api.acme, { ...DONE, name: 'Asha' });
    const turn = {
      turnId: 't1',
      role: 'user',
      startMs: 0,
      endMs: 900,
      text: 'x',
      heardText: 'stop calling me',
      kind: 'speech',
    };
    await api.database.query(`INSERT INTO call_turns VALUES ($1, 't1', 1, $2)`, [callUuid, JSON.stringify(turn)]);
    expect((await parley(`analysis show acme ${callUuid}`)).out).toBe('analysis none\n');
    const run = await parley(`analysis run acme ${callUuid} --heuristic`);
    expect([run.code, run.err]).toEqual([0, '']);
    expect(run.out).toContain('read by parley-heuristic-1');
    await parley(`model set acme --url ${emulator.baseUrl} --model emulated-1 --key-file -`);
    expect((await parley(`analysis run acme ${callUuid}`)).out).toContain('The caller said: stop calling me');
    const shown = await parley(`analysis show acme ${callUuid} --json`);
    expect(JSON.parse(shown.out)).toMatchObject({
      analysisStatus: 'ready',
      analysis: { model: 'emulated-1', evidence: [{ turnId: 't1', quote: 'stop calling me' }] },
    });
    expect(await api.database.query('SELECT 1 AS one FROM webhook_events WHERE call_uuid = $1', [callUuid])).toEqual(
      [],
    );
    const found = await api.database.query(
      `SELECT 1 AS one FROM call_search WHERE call_uuid = $1 AND document @@ 'stop & calling'::tsquery`,
      [callUuid],
    );
    expect(found).toHaveLength(1);
  });

  it('refuses calls that cannot be read', async () => {
    const live = await api.insertCall(api.acme, { status: 'in_progress', answered_at: '2026-11-21T10:00:00Z' });
    expect((await parley(`analysis run acme ${live}`)).err).toContain('has not ended');
    const unanswered = await api.insertCall(api.acme, {
      status: 'no_answer',
      ended_reason: 'busy',
      ended_at: '2026-11-21T10:00:00Z',
    });
    expect((await parley(`analysis run acme ${unanswered}`)).err).toContain('Nobody answered');
    const foreign = await api.insertCall(api.other, DONE);
    expect((await parley(`analysis show acme ${foreign}`)).err).toContain('has no call');
  });
});
