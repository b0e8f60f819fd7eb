import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkRecordingStore, checkWaitingRecordings } from '../../../src/doctor/recording-checks.ts';
import { type Ran, runParley } from '../../support/command-line.ts';
import { putStored, toneFile } from '../../support/encrypted-recording.ts';
import { type ApiFixture, createApiFixture, SEALER } from '../api/api-fixture.ts';

const SOUND = toneFile(1);
const DONE = { status: 'completed', ended_reason: 'agent_hangup', ended_at: '2026-11-21T10:00:48Z' };

let api: ApiFixture;
const folder = mkdtempSync(join(tmpdir(), 'parley-get-'));
beforeAll(async () => {
  api = await createApiFixture();
});
afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true });
});

async function parley(words: string[], more: Record<string, string> = {}): Promise<Ran> {
  return runParley(words, {
    DATABASE_URL: api.connectionString,
    PARLEY_MASTER_KEY: 'ab'.repeat(32),
    PARLEY_DATA_DIR: api.dataDir,
    ...more,
  });
}

async function recorded(): Promise<{ callUuid: string; objectKey: string }> {
  const callUuid = await api.insertCall(api.acme, DONE);
  const into = { database: api.database, sealer: SEALER, store: api.recordings.stores.current };
  return { callUuid, ...(await putStored(into, { callUuid, plain: SOUND })) };
}

describe('parley recording', () => {
  it('lists where recordings lie, and gets one decrypted into a file that only its owner can read', async () => {
    const { callUuid, objectKey } = await recorded();
    const list = await parley(['recording', 'list', 'acme']);
    expect(list.out).toContain(`stored  1 s     disk ${objectKey}`);
    expect((await parley(['--json', 'recording', 'list'])).out).not.toContain('keySealed');
    const output = join(folder, 'one.ogg');
    const got = await parley(['recording', 'get', callUuid, '--output', output]);
    expect([got.code, got.out]).toEqual([0, `${output}: ${SOUND.length} bytes\n`]);
    expect(readFileSync(output).equals(SOUND)).toBe(true);
    expect(statSync(output).mode & 0o077).toBe(0);
    for (const [words, why] of [
      [['get', 'call-1', '--output', output], "'call-1' is no call's id"],
      [['get', callUuid.replace(/^./, 'f'), '--output', output], 'There is no such recording'],
      [['get', callUuid, '--output', output, '--variant', 'left'], '--variant takes stereo, mono, caller, agent'],
      [['get', callUuid, '--output', output, '--part', '2'], 'There is no such recording'],
    ] as const) {
      expect((await parley(['recording', ...words])).err).toContain(why);
    }
  });

  it('verifies what is stored: whole, missing, damaged, and under another master key', async () => {
    await api.database.query('DELETE FROM call_recordings');
    const [good, lost] = [await recorded(), await recorded()];
    expect(await parley(['recording', 'verify'])).toMatchObject({ code: 0, out: '2 of 2 are as they should be.\n' });
    await api.recordings.stores.current.remove(lost.objectKey);
    const bad = await parley(['recording', 'verify', 'acme']);
    expect([bad.code, bad.out.includes(`${lost.callUuid} 1  missing: `)]).toEqual([1, true]);
    const other = await parley(['--json', 'recording', 'verify'], { PARLEY_MASTER_KEY: 'cd'.repeat(32) });
    const verdicts = JSON.parse(other.out).recordings.map((one: { verdict: string }) => one.verdict);
    expect(verdicts.toSorted()).toEqual(['missing', 'unreadable'].toSorted().map(() => 'unreadable'));
    expect(good.callUuid).not.toBe(lost.callUuid);
  });

  it('erases one, or all that nobody can read any more', async () => {
    await api.database.query('DELETE FROM call_recordings');
    const [one, two] = [await recorded(), await recorded()];
    expect((await parley(['recording', 'erase', one.callUuid])).out).toContain('Erased 1 of 1.');
    expect(await api.recordings.stores.current.size(one.objectKey)).toBeNull();
    expect((await parley(['recording', 'erase', '--unreadable'])).out).toContain('Erased 0 of 0.');
    const lost = await parley(['recording', 'erase', '--unreadable'], { PARLEY_MASTER_KEY: 'cd'.repeat(32) });
    expect(lost.out).toContain('Erased 1 of 1.');
    expect(await api.recordings.stores.current.size(two.objectKey)).toBeNull();
    const live = await api.insertCall(api.acme);
    expect((await parley(['recording', 'erase', live])).out).toContain('parley call hangup');
  });

  it('says which settings of the store are wrong', async () => {
    const { err } = await parley(['recording', 'verify'], { RECORDING_STORE: 's3' });
    for (const name of ['RECORDING_S3_BUCKET', 'RECORDING_S3_ACCESS_KEY_ID', 'RECORDING_S3_SECRET_ACCESS_KEY'])
      expect(err).toContain(name);
  });
});

describe('parley retention', () => {
  it('shows and sets days, holds and releases, purges, and shows receipts', async () => {
    expect((await parley(['retention', 'show', 'acme'])).out).toMatch(/recording +365/);
    expect((await parley(['retention', 'set', 'acme', '--recording', '30', '--events', '0'])).out).toMatch(
      /recording +30/,
    );
    expect((await parley(['retention', 'set', 'acme', '--agent', api.acme.agentId, '--recording', '1'])).out).toMatch(
      /recording +1\n/,
    );
    expect((await parley(['retention', 'set', 'acme', '--recording', 'default'])).out).toMatch(/recording +365/);
    expect((await parley(['retention', 'set', 'acme', '--recording', '9999'])).err).toContain('from 0 to 3650');
    expect((await parley(['retention', 'set', 'acme'])).err).toContain('--recording 30');
    const callUuid = await api.insertCall(api.acme, { ...DONE, ended_at: '2020-01-01T00:00:00Z' });
    const held = await parley(['--json', 'retention', 'hold', 'acme', callUuid, '--reason', 'case 7']);
    expect((await parley(['retention', 'holds', 'acme'])).out).toContain('case 7');
    expect((await parley(['retention', 'purge', 'acme'])).out).not.toContain(callUuid);
    expect((await parley(['retention', 'receipts', 'acme', callUuid])).out).toContain('Nothing of');
    expect((await parley(['retention', 'release', 'acme', JSON.parse(held.out).id])).out).toBe('Released.\n');
    expect((await parley(['retention', 'purge', 'acme'])).out).toContain('metadata: removed of ');
    expect((await parley(['retention', 'receipts', 'acme', callUuid])).out).toContain('system:retention');
  });
});

describe('parley doctor, of recordings', () => {
  it('writes to the store and reads from it, and says what to do when it cannot', async () => {
    const disk = { settings: { kind: 'disk', s3: null }, faults: [] } as const;
    const here = { dataDir: api.dataDir, recordingStore: null };
    expect(await checkRecordingStore(disk, here)).toMatchObject([{ level: 'ok', name: 'recording store' }]);
    expect(await api.recordings.stores.current.list('doctor/')).toEqual([]);
    const s3 = {
      endpoint: 'http://127.0.0.1:1',
      bucket: 'b-1',
      region: 'r',
      accessKeyId: 'k',
      secretAccessKey: 's',
      prefix: '',
    };
    const down = await checkRecordingStore({ settings: { kind: 's3', s3 }, faults: [] }, here);
    expect(down).toMatchObject([
      {
        level: 'fail',
        detail: expect.stringContaining('does not answer'),
        wayOut: expect.stringContaining('wait on the disk'),
      },
    ]);
    expect(
      await checkRecordingStore({ ...disk, faults: ['  RECORDING_STORE must be disk or s3'] }, here),
    ).toMatchObject([{ level: 'fail' }]);
    expect(await checkRecordingStore(disk, { ...here, recordingStore: 's3' })).toMatchObject([
      {
        level: 'warn',
        detail: expect.stringContaining('the running service stores in s3'),
        wayOut: expect.stringContaining('RECORDING_S3_'),
      },
    ]);
    expect(await checkWaitingRecordings(api.database)).toMatchObject([{ level: 'ok' }]);
  });
});
