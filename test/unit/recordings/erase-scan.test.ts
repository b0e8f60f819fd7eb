/**
 * Erasing, proven by a scan: a call is planted with canaries in every column and file that Parley knows, then erased,
 * and then every table, every file of the data folder and everything in the store is searched for them: text, sound,
 * and the encrypted bytes themselves.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SegmentPlace, SegmentWriter } from '../../../media/recorder/segment-files.ts';
import type { TestStore } from '../../harness/s3-server.ts';
import { keyOfRecording, putStored, toneFile, writeEncrypted } from '../../support/encrypted-recording.ts';
import { STORES } from '../../support/recording-stores.ts';
import { type ApiFixture, createApiFixture, SEALER } from '../api/api-fixture.ts';

const CANARY = 'zyzzogeton';
const NUMBER = '+14155550777';
const SOUND = toneFile(1);
/** Of the sound before it is encrypted: what would be heard. */
const AUDIBLE = SOUND.subarray(1000, 1032);

describe.each(STORES)('erasing a call, its recordings %s', (_name, start) => {
  let api: ApiFixture;
  let where: TestStore;
  beforeAll(async () => {
    where = await start();
    api = await createApiFixture(where.settings);
  });
  afterAll(async () => {
    await api.close();
    await where.close();
  });

  const ask = (method: 'GET' | 'DELETE', path: string, headers = { authorization: `Bearer ${api.acme.key}` }) =>
    api.app.inject({ method, url: path, headers });

  /** Every row of every table, as text, by table. */
  async function database(): Promise<Map<string, string>> {
    const tables = await api.database.query<{ name: string }>(
      // Of a table with partitions the whole: each row once.
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    );
    expect(tables.length).toBeGreaterThan(20);
    const found = new Map<string, string>();
    for (const { name } of tables) {
      const rows = await api.database.query<{ text: string }>(`SELECT t::text AS text FROM "${name}" t`);
      found.set(name, rows.map(({ text }) => text).join('\n'));
    }
    return found;
  }

  /** Every file that Parley, or its store, has on this machine. */
  function files(): { path: string; bytes: Buffer }[] {
    return [api.dataDir, where.folder].flatMap((folder) =>
      folder === null
        ? []
        : readdirSync(folder, { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile())
            .map((entry) => join(entry.parentPath, entry.name))
            .map((path) => ({ path, bytes: readFileSync(path) })),
    );
  }

  const tablesWith = async (canary: string): Promise<string[]> =>
    [...(await database())].filter(([, text]) => text.includes(canary)).map(([name]) => name);
  const filesWith = (canary: Buffer | string): string[] =>
    files()
      .filter(({ bytes, path }) => bytes.includes(canary) || path.includes(String(canary)))
      .map(({ path }) => path);

  async function planted(): Promise<{ callUuid: string; keys: Buffer[]; sealedParts: Buffer[] }> {
    const callUuid = await api.insertCall(api.acme, {
      status: 'completed',
      ended_reason: 'agent_hangup',
      answered_at: '2026-11-21T10:00:00Z',
      ended_at: '2026-11-21T10:00:10Z',
      name: CANARY,
      to_number: NUMBER,
      metadata: { note: CANARY },
      lead_values: { notes: CANARY, source: CANARY },
      compliance: { permitId: callUuid0, window: `09:00-20:00 ${CANARY}` },
      checkpoint: { stepId: null, variables: { said: CANARY }, misses: 0, visits: {}, nextTurnNumber: 2, atMs: 1 },
      transcript_status: 'ready',
      analysis_status: 'ready',
      analysis: { intent: 'other', summary: CANARY, evidence: [{ turnId: 't1', quote: CANARY }] },
      idempotency_key: 'k1',
    });
    const turn = {
      turnId: 't1',
      role: 'user',
      startMs: 0,
      endMs: 9,
      text: CANARY,
      heardText: CANARY,
      interrupted: false,
    };
    await api.database.query(`INSERT INTO call_turns VALUES ($1, 't1', 1, $2)`, [callUuid, turn]);
    await api.database.query(
      `INSERT INTO call_events (call_uuid, kind, data) VALUES ($1, 'turn', $2), ($1, 'barge_in', $3), ($1, 'tool', $4)`,
      [callUuid, { turn }, { heardText: CANARY }, { name: 'look_up', arguments: { order: CANARY }, result: CANARY }],
    );
    const body = {
      event: 'call.completed',
      callUuid,
      to: NUMBER,
      name: CANARY,
      transcript: CANARY,
      summary: CANARY,
      metadata: { note: CANARY },
    };
    await api.database.query(
      `INSERT INTO webhook_events (id, workspace_id, call_uuid, event, sequence, body) VALUES ($1, $2, $3, 'call.completed', 1, $4)`,
      [`evt_${callUuid}`, api.acme.workspaceId, callUuid, JSON.stringify(body)],
    );
    await api.database.query(
      `INSERT INTO idempotency_keys (workspace_id, method_path, key, body_sha256, state, call_uuid, response_status, response_body)
       VALUES ($1, 'POST /api/outbound-call', $2, '\\x00', 'done', $3, 200, $4)`,
      [
        api.acme.workspaceId,
        callUuid,
        callUuid,
        JSON.stringify({ success: true, callUuid, call: { to: NUMBER, name: CANARY, metadata: { note: CANARY } } }),
      ],
    );
    await api.database.query(
      `INSERT INTO dial_permits (id, workspace_id, call_uuid, phone, body, signature) VALUES ($1, $2, $1, $3, $4, '\\x00')`,
      [callUuid, api.acme.workspaceId, NUMBER, JSON.stringify({ to: NUMBER, zone: CANARY })],
    );

    const into = { database: api.database, sealer: SEALER, store: api.recordings.stores.current };
    const stored = await putStored(into, { callUuid, plain: SOUND });
    // A second stream that is still segments, and one that waits for the store.
    const running = await keyOfRecording(api.database, SEALER, { callUuid, epoch: 2 });
    const day = join(api.dataDir, 'recordings', new Date().toISOString().slice(0, 10));
    segments({
      folder: join(day, `${callUuid}.2`),
      format: { codec: 'mulaw', rateHz: 8000 },
      owner: 'media-0 run-1 2',
      dataKey: running,
      firstSample: 0,
    });
    const waiting = await keyOfRecording(api.database, SEALER, { callUuid, epoch: 3 });
    writeEncrypted(join(day, `${callUuid}.3.sealed`), waiting, SOUND);
    await api.database.query(
      `UPDATE call_recordings SET state = 'spooled', next_at = now(), spool_node = 'n', spool_path = $2 WHERE call_uuid = $1 AND epoch = 3`,
      [callUuid, join(day, `${callUuid}.3.sealed`)],
    );
    mkdirSync(join(day, `${callUuid}.4.unreadable`));
    writeFileSync(join(day, `${callUuid}.4.unreadable`, '000000.sealed'), randomBytes(500));
    // And another form, made because somebody asked.
    const redirect = await ask('GET', `/api/developer/calls/${callUuid}/recording?variant=mono&part=1`);
    const address = new URL(String(redirect.headers.location));
    expect((await ask('GET', address.pathname + address.search)).statusCode).toBe(200);
    const sealedParts = files()
      .filter(({ path, bytes }) => path.includes(callUuid) && bytes.length > 200)
      .map(({ bytes }) => bytes.subarray(100, 140));
    return { callUuid, keys: [stored.dataKey, running, waiting], sealedParts };
  }

  function segments(place: SegmentPlace): void {
    const writer = new SegmentWriter(place, writeSync, () => {});
    const bytes = Buffer.concat([SOUND, Buffer.alloc(32_000 - SOUND.length)]);
    for (let at = 0; at < bytes.length; at += 6400) writer.append(bytes, at, 6400, at / 2);
    writer.close();
  }

  it('leaves not a word, not a number, not a sound, not a key and not a sealed byte of it anywhere; other calls stay whole', async () => {
    const other = await planted();
    const { callUuid, keys, sealedParts } = await planted();
    // What is looked for is really there, or the scan proves nothing.
    expect((await tablesWith(CANARY)).toSorted()).toEqual(
      [
        'call_events',
        'call_search',
        'call_turns',
        'calls',
        'dial_permits',
        'idempotency_keys',
        'webhook_events',
      ].toSorted(),
    );
    expect(await tablesWith(NUMBER)).toContain('dial_permits');
    expect(sealedParts.length).toBeGreaterThanOrEqual(5);
    for (const part of sealedParts) expect(filesWith(part).length).toBeGreaterThan(0);
    // Not even before it is erased.
    expect(filesWith(AUDIBLE)).toEqual([]);
    for (const text of [CANARY, NUMBER, 'OggS', 'RIFF']) expect(filesWith(text), text).toEqual([]);
    for (const key of keys) {
      expect(await tablesWith(key.toString('hex'))).toEqual([]);
      expect(filesWith(key)).toEqual([]);
    }

    for (const one of [callUuid, other.callUuid]) {
      const left = one === callUuid ? sealedParts : other.sealedParts;
      expect((await ask('DELETE', `/api/developer/calls/${one}?kind=all`)).json().deleted).toHaveLength(5);
      for (const part of left) expect(filesWith(part)).toEqual([]);
      expect(filesWith(one)).toEqual([]);
      const rows = await api.database.query<{ key: Buffer | null; state: string; key_: string | null }>(
        'SELECT key_sealed AS key, state, object_key AS key_ FROM call_recordings WHERE call_uuid = $1',
        [one],
      );
      expect(rows).toEqual(Array.from({ length: 3 }, () => ({ key: null, state: 'erased', key_: null })));
      // The first time the other call still has all of its own.
      if (one === callUuid) for (const part of other.sealedParts) expect(filesWith(part).length).toBeGreaterThan(0);
    }
    expect(await tablesWith(CANARY)).toEqual([]);
    expect(await tablesWith(NUMBER)).toEqual([]);
    expect(await tablesWith(NUMBER.slice(2))).toEqual([]);

    const receipts = await api.database.query<{
      kinds: string[];
      cause: string;
      actor: string;
      removed: { recordings: unknown[]; turns: number };
    }>('SELECT kinds, cause, actor, removed FROM purge_receipts WHERE call_uuid = $1', [callUuid]);
    expect(receipts).toMatchObject([{ cause: 'erase', actor: `key:${api.acme.keyId}`, removed: { turns: 1 } }]);
    expect(receipts[0]!.kinds).toHaveLength(5);
    expect(receipts[0]!.removed.recordings).toHaveLength(3);
    const replay = await api.database.query<{ body: string }>(
      'SELECT response_body AS body FROM idempotency_keys WHERE call_uuid = $1',
      [callUuid],
    );
    expect(JSON.parse(replay[0]!.body)).toMatchObject({
      success: true,
      callUuid,
      call: { to: '', name: '', metadata: {} },
    });
  });

  it('with a store that is down takes the key at once, and the sealed bytes when the store is back', async () => {
    const { callUuid, sealedParts } = await planted();
    const store = api.recordings.stores.current;
    const { remove } = store;
    store.remove = () => Promise.reject(new Error('the store is down'));
    expect((await ask('DELETE', `/api/developer/calls/${callUuid}?kind=recording`)).statusCode).toBe(200);
    expect((await ask('GET', `/api/developer/calls/${callUuid}/recording`)).json().code).toBe('recording_not_ready');
    const keys = await api.database.query(
      'SELECT 1 FROM call_recordings WHERE call_uuid = $1 AND key_sealed IS NOT NULL',
      [callUuid],
    );
    expect(keys).toEqual([]);
    store.remove = remove;
    expect(await api.recordings.eraser.sweep()).toBe(0);
    api.clock.advanceMs(61_000);
    expect(await api.recordings.eraser.sweep()).toBe(1);
    for (const part of sealedParts) expect(filesWith(part)).toEqual([]);
    expect(await api.recordings.eraser.sweep()).toBe(0);
  });
});

const callUuid0 = '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11';
