import { existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BY_OPERATOR } from '../../../src/audit/audit-entry.ts';
import { createCallEventBus } from '../../../src/calls/call-event-bus.ts';
import { createRecordingEraser } from '../../../src/recordings/erase-recordings.ts';
import { openStores, type Stores } from '../../../src/recordings/open-stores.ts';
import { assertKeysOpen, dispositionOfRecording } from '../../../src/recordings/recording-keys.ts';
import { createRecordingLinks } from '../../../src/recordings/recording-links.ts';
import { type RecordingStore, StoreFault } from '../../../src/recordings/recording-store.ts';
import { createRecordingUploader, type RecordingUploader } from '../../../src/recordings/recording-uploader.ts';
import { type Recordings, recordingFamilies } from '../../../src/recordings/recordings.ts';
import { deleteCallParts } from '../../../src/retention/call-log-delete.ts';
import { createSealer } from '../../../src/sealing/sealer.ts';
import type { TestStore } from '../../harness/s3-server.ts';
import { factsOf, keyOfRecording, readEncrypted, toneFile, writeEncrypted } from '../../support/encrypted-recording.ts';
import { STORES } from '../../support/recording-stores.ts';
import { createHarness, type Harness, MASTER_KEY, PUBLIC_URL } from '../lifecycle/harness.ts';
import { talkingCall } from '../lifecycle/talk.ts';

const SOUND = toneFile(1);
const NO_FORMS = { forget: async () => 0, tidy: async () => {} };

describe.each(STORES)('the uploader, with its store %s', (_name, start) => {
  let h: Harness;
  let where: TestStore;
  let stores: Stores;
  let uploader: RecordingUploader;
  /** Between the uploader and the store: what a test wants it to suffer. */
  let trouble: Partial<RecordingStore> = {};

  beforeAll(async () => {
    [h, where] = await Promise.all([createHarness(), start()]);
    stores = openStores(where.settings, h.dataDir);
    const store = new Proxy(stores.current, {
      get: (target, name) =>
        (trouble as never)[name] ?? Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name),
    });
    uploader = createRecordingUploader({
      database: h.database,
      clock: h.clock,
      log: h.placement.log,
      sealer: h.sealer,
      store,
      node: 'node-1',
      bus: createCallEventBus(),
      webhookDispatcher: { dispatch: (ids) => void h.dispatched.push(...ids) },
      links: createRecordingLinks(MASTER_KEY, PUBLIC_URL, h.clock),
    });
  });
  afterAll(async () => {
    await uploader.close();
    await stores.close();
    await h.close();
    await where.close();
  });

  async function finished(): Promise<{ callUuid: string; path: string }> {
    trouble = {};
    const callUuid = await talkingCall(h, { guardDuplicates: false });
    await h.transitions.apply(callUuid, { type: 'finish', reason: 'user_hangup', hangupBy: 'caller' });
    const path = join(h.dataDir, 'recordings', '2026-11-21', `${callUuid}.sealed`);
    writeEncrypted(path, await keyOfRecording(h.database, h.sealer, { callUuid, epoch: 1 }), SOUND);
    const recording = factsOf(path, SOUND, 1000);
    await h.messages.handle([{ type: 'recording', callUuid, epoch: 1, recording, error: null }]);
    return { callUuid, path };
  }

  const row = async (callUuid: string) =>
    (
      await h.database.query<{ state: string; attempts: number; error: string | null; key: string | null }>(
        `SELECT state, attempts, last_error AS error, object_key AS key FROM call_recordings WHERE call_uuid = $1`,
        [callUuid],
      )
    )[0]!;

  it('stores a finished recording, reads it back, tells it once, and takes it off the disk', async () => {
    const { callUuid, path } = await finished();
    expect(await uploader.sweep()).toBe(1);
    expect(await h.call(callUuid)).toMatchObject({ recordingStatus: 'ready', recording: { sizeBytes: SOUND.length } });
    expect(await h.webhooks(callUuid)).toEqual(['call.completed', 'recording.ready']);
    expect(existsSync(path)).toBe(false);
    const { key, state } = await row(callUuid);
    expect(state).toBe('stored');
    const size = (await stores.current.size(key!))!;
    const copy = join(h.dataDir, 'copy.sealed');
    writeFileSync(copy, await stores.current.read(key!, 0, size));
    expect(
      (await readEncrypted(copy, await keyOfRecording(h.database, h.sealer, { callUuid, epoch: 1 }))).equals(SOUND),
    ).toBe(true);
    expect(await uploader.sweep()).toBe(0);
  });

  it('keeps it on the disk while the store is down or full, with growing pauses, and stores it when the store is back', async () => {
    const { callUuid, path } = await finished();
    const retries = uploader.figures.retries;
    trouble = { put: () => Promise.reject(new StoreFault('the object store is full')) };
    const tried: number[] = [];
    const startMs = h.clock.nowMs();
    while (tried.length < 6) {
      await uploader.sweep();
      const { attempts } = await row(callUuid);
      if (attempts > tried.length) tried.push(Math.round((h.clock.nowMs() - startMs) / 1000));
      h.clock.advanceMs(1000);
    }
    expect(tried).toEqual([0, 2, 6, 14, 30, 62]);
    expect(uploader.figures.retries - retries).toBe(6);
    expect(await row(callUuid)).toMatchObject({ state: 'spooled', error: 'the object store is full' });
    expect((await h.call(callUuid)).recordingStatus).toBe('pending');
    expect(await h.webhooks(callUuid)).toEqual(['call.completed']);
    expect(existsSync(path)).toBe(true);
    const families = await recordingFamilies(h.database, uploader.figures, { removedParts: 0, putOff: 0, failed: 0 });
    const text = JSON.stringify(families);
    expect(text).toContain('parley_recordings_spooled');
    expect(text).toContain('parley_recording_store_retries_total');
    trouble = {};
    h.clock.advanceMs(70_000);
    expect(await uploader.sweep()).toBe(1);
    expect((await h.call(callUuid)).recordingStatus).toBe('ready');
  });

  it('does not believe a store that gives back something else than was put: it puts it again', async () => {
    const { callUuid } = await finished();
    trouble = {
      read: async (key, start, end) => {
        const bytes = Buffer.from(await stores.current.read(key, start, end));
        if (start > 0) bytes[10] = bytes[10]! ^ 1;
        return bytes;
      },
    };
    expect(await uploader.sweep()).toBe(0);
    expect((await row(callUuid)).error).toMatch(/damaged/);
    expect((await h.call(callUuid)).recordingStatus).toBe('pending');
    trouble = {};
    h.clock.advanceMs(3_000);
    expect(await uploader.sweep()).toBe(1);
  });

  it.each([
    [
      'damaged on the disk',
      (path: string) => writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from('x')])),
    ],
    ['gone from the disk', (path: string) => rmSync(path)],
  ])('ends one that is %s as failed, with a warning on the call and a line in its log', async (what, harm) => {
    const { callUuid, path } = await finished();
    harm(path);
    expect(await uploader.sweep()).toBe(0);
    expect(await h.call(callUuid)).toMatchObject({ recordingStatus: 'failed', warnings: ['recording_failed'] });
    const failed = (await h.log(callUuid)).findLast(({ kind }) => kind === 'recording');
    expect(failed!.data).toMatchObject({
      status: 'failed',
      epoch: 1,
      error: expect.stringContaining(what.split(' ')[0]!),
    });
    expect(await h.webhooks(callUuid)).toEqual(['call.completed']);
  });

  it('keeps one whose disk does not answer: what cannot be looked at is not gone', async () => {
    const { callUuid, path } = await finished();
    renameSync(path, `${path}.away`);
    // Looking at it ends in ELOOP.
    symlinkSync(path, path);
    expect(await uploader.sweep()).toBe(0);
    expect(await row(callUuid)).toMatchObject({
      state: 'spooled',
      attempts: 1,
      error: expect.stringContaining('ELOOP'),
    });
    renameSync(`${path}.away`, path);
    h.clock.advanceMs(3_000);
    expect(await uploader.sweep()).toBe(1);
    expect((await h.call(callUuid)).recordingStatus).toBe('ready');
  });

  it('does not take another sound for it, though it is sealed under the same key and opens', async () => {
    const { callUuid, path } = await finished();
    writeEncrypted(
      path,
      await keyOfRecording(h.database, h.sealer, { callUuid, epoch: 1 }),
      Buffer.from(SOUND).fill(7, 500, 600),
    );
    expect(await uploader.sweep()).toBe(0);
    expect(await row(callUuid)).toMatchObject({ state: 'failed', error: expect.stringContaining('not the file') });
  });

  it('leaves what lies on another node’s disk to that node', async () => {
    const { callUuid } = await finished();
    await h.database.query(`UPDATE call_recordings SET spool_node = 'node-2' WHERE call_uuid = $1`, [callUuid]);
    expect(await uploader.sweep()).toBe(0);
    expect((await row(callUuid)).state).toBe('spooled');
  });

  it('erased after a process died between storing it and saying so leaves nothing in the store', async () => {
    const { callUuid } = await finished();
    const { workspaceId } = await h.call(callUuid);
    trouble = {
      put: async (key, path) => {
        await stores.current.put(key, path);
        throw new Error('killed');
      },
    };
    await uploader.sweep();
    trouble = {};
    expect((await stores.current.list('')).filter((key) => key.includes(callUuid))).toHaveLength(1);
    // The command line and the API look into every store that is set up.
    const eraser = createRecordingEraser({ ...h.deletion, ...h, log: h.placement.log, stores, renditions: NO_FORMS });
    await deleteCallParts({ ...h.deletion, eraser }, { workspaceId, callUuid, parts: ['recording'], by: BY_OPERATOR });
    expect((await stores.current.list('')).filter((key) => key.includes(callUuid))).toEqual([]);
  });

  it('stored meanwhile by another process that had taken it is left in the store', async () => {
    const { callUuid } = await finished();
    let puts = 0;
    trouble = {
      put: async (key, path) => {
        await stores.current.put(key, path);
        if (++puts > 1) return;
        // This one was so slow that its claim ran out.
        h.clock.advanceMs(121_000);
        expect(await uploader.sweep()).toBe(1);
      },
    };
    await uploader.sweep();
    trouble = {};
    expect(puts).toBe(2);
    expect((await row(callUuid)).state).toBe('stored');
    expect((await stores.current.list('')).filter((key) => key.includes(callUuid))).toHaveLength(1);
    expect(await h.webhooks(callUuid)).toEqual(['call.completed', 'recording.ready']);
  });

  it('erased while it is being stored leaves nothing in the store', async () => {
    const { callUuid } = await finished();
    const { workspaceId } = await h.call(callUuid);
    trouble = {
      put: async (key, path) => {
        await stores.current.put(key, path);
        await deleteCallParts(h.deletion, { workspaceId, callUuid, parts: ['recording'], by: BY_OPERATOR });
      },
    };
    await uploader.sweep();
    trouble = {};
    h.clock.advanceMs(700_000);
    await uploader.sweep();
    expect((await stores.current.list('')).filter((key) => key.includes(callUuid))).toEqual([]);
    expect((await h.call(callUuid)).recordingStatus).toBe('deleted');
    expect(await h.webhooks(callUuid)).toEqual(['call.completed']);
  });
});

describe('the key of a recording', () => {
  let h: Harness;
  let recordings: Recordings;
  beforeAll(async () => {
    h = await createHarness();
    recordings = h.recordings;
  });
  afterAll(() => h.close());

  it('is another one for each stream, and lies nowhere in the clear', async () => {
    const [first, second] = [await talkingCall(h), await talkingCall(h, { to: '+14155550199' })];
    const keys = await Promise.all(
      [first, second].map((callUuid) => keyOfRecording(h.database, h.sealer, { callUuid, epoch: 1 })),
    );
    expect(keys[0]!.equals(keys[1]!)).toBe(false);
    const dump = await h.database.query<{ text: string }>('SELECT r::text AS text FROM call_recordings r');
    for (const key of keys) expect(JSON.stringify(dump)).not.toContain(key.toString('hex'));
  });

  it('is told to media for what it left behind: to finish, to remove, or to keep and say why', async () => {
    const callUuid = await talkingCall(h, { to: '+14155550198' });
    const stream = { callUuid, epoch: 1 };
    const key = await keyOfRecording(h.database, h.sealer, stream);
    expect(await dispositionOfRecording(h.database, h.sealer, stream)).toEqual({
      kind: 'open',
      keyHex: key.toString('hex'),
    });
    expect(await dispositionOfRecording(h.database, h.sealer, { callUuid, epoch: 9 })).toMatchObject({
      kind: 'unknown',
    });
    const other = createSealer('cd'.repeat(32));
    expect(await dispositionOfRecording(h.database, other, stream)).toMatchObject({
      kind: 'unknown',
      why: expect.stringContaining('PARLEY_MASTER_KEY'),
    });
    await h.transitions.apply(callUuid, { type: 'finish', reason: 'user_hangup', hangupBy: 'caller' });
    const { workspaceId } = await h.call(callUuid);
    await deleteCallParts(h.deletion, { workspaceId, callUuid, parts: ['recording'], by: BY_OPERATOR });
    expect(await dispositionOfRecording(h.database, h.sealer, stream)).toEqual({ kind: 'settled' });
  });

  it('under another master key stops the start with a sentence that says what to do; the right one starts', async () => {
    await talkingCall(h, { to: '+14155550197' });
    await assertKeysOpen(h.database, h.sealer);
    await expect(assertKeysOpen(h.database, createSealer('cd'.repeat(32)))).rejects.toThrow(
      /Start with the former key.*parley recording erase --unreadable/,
    );
    expect(recordings.stores.current.kind).toBe('disk');
  });
});
