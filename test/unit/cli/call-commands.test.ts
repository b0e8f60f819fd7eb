import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPatientDatabase } from '../../../bench/harness/patient-database.ts';
import { type Ran, runParley } from '../../support/command-line.ts';
import { putStored } from '../../support/encrypted-recording.ts';
import { type ApiFixture, createApiFixture, SEALER } from '../api/api-fixture.ts';

let api: ApiFixture;
let connectionString: string;
beforeAll(async () => {
  api = await createApiFixture();
  connectionString = api.connectionString;
});
afterAll(() => api.close());

async function parley(...words: string[]): Promise<Ran> {
  return runParley(words, {
    DATABASE_URL: connectionString,
    PARLEY_MASTER_KEY: 'ab'.repeat(32),
    PARLEY_DATA_DIR: api.dataDir,
  });
}

const DONE = {
  status: 'completed',
  ended_reason: 'agent_hangup',
  answered_at: '2026-11-21T10:00:00Z',
  ended_at: '2026-11-21T10:00:48Z',
};

describe('parley call', () => {
  it('lists the newest calls that fit, and only of this workspace', async () => {
    await api.insertCall(api.acme, { ...DONE, name: 'Asha', created_at: '2026-11-20T00:00:00Z' });
    await api.insertCall(api.acme, { name: 'Bela', created_at: '2026-11-21T00:00:00Z' });
    await api.insertCall(api.other, { ...DONE, name: 'Zed' });
    const all = await parley('call', 'list', 'acme');
    expect(all.code).toBe(0);
    expect(
      all.out
        .split('\n')
        .map((line) => /Asha|Bela|Zed/.exec(line)?.[0])
        .filter(Boolean),
    ).toEqual(['Bela', 'Asha']);
    const some = await parley(
      '--json',
      'call',
      'list',
      'acme',
      '--status',
      'completed',
      '--q',
      'asha',
      '--before',
      '2026-11-20T12:00:00Z',
    );
    expect(JSON.parse(some.out)).toMatchObject([{ name: 'Asha', durationSeconds: 48 }]);
    expect((await parley('call', 'list', 'acme', '--after', 'soon')).err).toContain("'soon' is no time");
    expect((await parley('call', 'list', 'nobody')).code).toBe(1);
  });

  it('shows what went wrong in a call, and what it took', async () => {
    const callUuid = await api.insertCall(api.acme, {
      ...DONE,
      status: 'failed',
      ended_reason: 'tts_error',
      error: JSON.stringify({ code: 'tts_error', message: 'it answered 401', provider: 'elevenlabs' }),
      warnings: JSON.stringify([{ code: 'tts_error', key: 'voice', count: 2 }, 'llm_lost']),
      latency: JSON.stringify({ mouthToEarMs: { p50: 800, p95: 1_200, count: 7 } }),
    });
    const { out } = await parley('call', 'show', 'acme', callUuid);
    expect(out).toContain('error     tts_error (elevenlabs): it answered 401');
    expect(out).toContain('warning   tts_error (voice), 2 times\nwarning   llm_lost\n');
    expect(out).toContain('latency   mouth to ear 800 ms (p50), 1200 ms (p95) of 7 replies');
    expect(JSON.parse((await parley('--json', 'call', 'show', 'acme', callUuid)).out)).toMatchObject({
      error: { provider: 'elevenlabs' },
      cost: null,
      recovery: [],
    });
  });

  it('shows a call with its transcript and, unlike the API, where its recording lies', async () => {
    const callUuid = await api.insertCall(api.acme, {
      ...DONE,
      metadata: { 'secret.pin': 'canary', plan: 'gold' },
    });
    await api.database.query(
      `INSERT INTO call_turns VALUES ($1, 't1', 1, '{"role":"user","text":"x","heardText":"good morning"}')`,
      [callUuid],
    );
    const into = { database: api.database, sealer: SEALER, store: api.recordings.stores.current };
    const { objectKey } = await putStored(into, { callUuid });
    const { out } = await parley('call', 'show', 'acme', callUuid);
    expect(out).toContain(`disk ${objectKey}`);
    expect(out).toContain('Customer: good morning');
    expect(JSON.parse((await parley('--json', 'call', 'show', 'acme', callUuid)).out)).toMatchObject({
      recordings: [`disk ${objectKey}`],
      metadata: { plan: 'gold' },
    });
    for (const id of [callUuid, 'call-1']) {
      expect((await parley('call', 'show', 'other', id)).err).toContain("Workspace 'other' has no call");
    }
  });

  it('asks the running service for the end of a call and tells how it ended; one that is over stays as it is', async () => {
    const callUuid = await api.insertCall(api.acme, { deadline_at: '2030-01-01T00:00:00Z' });
    const asking = parley('call', 'hangup', 'acme', callUuid);
    const service = openPatientDatabase(connectionString);
    try {
      let asked: { at: Date | null; due: boolean }[] = [];
      while (!asked[0]?.at) {
        asked = await service.query(
          'SELECT end_asked_at AS at, deadline_at <= now() AS due FROM calls WHERE call_uuid = $1',
          [callUuid],
        );
      }
      expect(asked[0]!.due).toBe(true);
      await service.query(
        `UPDATE calls SET status = 'no_answer', ended_reason = 'canceled', ended_at = now() WHERE call_uuid = $1`,
        [callUuid],
      );
    } finally {
      await service.close();
    }
    expect(await asking).toMatchObject({ code: 0, out: 'The call is over: no_answer/canceled.\n' });
    expect((await parley('call', 'hangup', 'acme', callUuid)).out).toContain('was over already');
    const [audited] = await api.database.query<{ actor: string }>('SELECT actor FROM audit_log WHERE target = $1', [
      `call:${callUuid}`,
    ]);
    expect(audited!.actor).toMatch(/^cli:/);
  });

  it('deletes parts of a finished call, and refuses a live one with the way out', async () => {
    const live = await api.insertCall(api.acme);
    expect((await parley('call', 'delete', 'acme', live, '--kind', 'all')).err).toContain('parley call hangup acme');
    const done = await api.insertCall(api.acme, { ...DONE, name: 'Gone', recording_status: 'failed' });
    expect((await parley('call', 'delete', 'acme', done, '--kind', 'recording,metadata')).out).toContain(
      'recording, metadata',
    );
    const [row] = await api.database.query('SELECT name, recording_status FROM calls WHERE call_uuid = $1', [done]);
    expect(row).toEqual({ name: '', recording_status: 'deleted' });
    expect((await parley('call', 'delete', 'acme', done, '--kind', 'everything')).err).toContain('--kind takes');
  });
});
