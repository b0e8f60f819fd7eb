/**
 * One recording of a call that came back: by the clock of the call, with silence where the line was dead, whatever
 * comes late or never.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadOpusCodec } from '../../../media/audio/opus-codec.ts';
import { joinSound } from '../../../media/recorder/join-sound.ts';
import { BY_OPERATOR } from '../../../src/audit/audit-entry.ts';
import { createCallEventBus } from '../../../src/calls/call-event-bus.ts';
import { resumeFrom } from '../../../src/lifecycle/claimed-stream.ts';
import { createJoiner, type Joiner, type JoinerDeps } from '../../../src/recordings/joiner.ts';
import { createRecordingLinks } from '../../../src/recordings/recording-links.ts';
import { createRenditions, joinInThread } from '../../../src/recordings/renditions.ts';
import { createSoundFiles } from '../../../src/recordings/sound-files.ts';
import { deleteCallParts } from '../../../src/retention/call-log-delete.ts';
import type { Database } from '../../../src/store/database.ts';
import { factsOf, keyOfRecording, toneFile, writeEncrypted } from '../../support/encrypted-recording.ts';
import { decodeRecording } from '../../support/recording-audio.ts';
import { createHarness, type Harness, MASTER_KEY, PUBLIC_URL } from '../lifecycle/harness.ts';
import { talkingCall } from '../lifecycle/talk.ts';
import { soundsIn, toneDbfs } from '../media/recorder/recording-harness.ts';

describe('the recording of a call whose media process died', () => {
  let h: Harness;
  beforeEach(async () => {
    h = await createHarness();
  });
  afterEach(() => h.close());

  /**
   * A call whose first stream began now; a second one begins `afterMs` later. Nothing is told of their recordings yet.
   */
  async function cameBack(afterMs: number): Promise<string> {
    const callUuid = await talkingCall(h);
    await began(callUuid, 1);
    h.clock.advanceMs(afterMs);
    await comesBack(callUuid, 2);
    return callUuid;
  }

  async function comesBack(callUuid: string, epoch: number): Promise<void> {
    await h.database.query('UPDATE calls SET epoch = $2, media_stopped_at = NULL WHERE call_uuid = $1', [
      callUuid,
      epoch,
    ]);
    await keyOfRecording(h.database, h.sealer, { callUuid, epoch });
    await began(callUuid, epoch);
  }

  async function began(callUuid: string, epoch: number): Promise<void> {
    await h.database.query('UPDATE call_recordings SET stream_started_at = $3 WHERE call_uuid = $1 AND epoch = $2', [
      callUuid,
      epoch,
      new Date(h.clock.epochMs()),
    ]);
  }

  async function neverBegan(callUuid: string, epoch: number): Promise<void> {
    await h.database.query('UPDATE call_recordings SET stream_started_at = NULL WHERE call_uuid = $1 AND epoch = $2', [
      callUuid,
      epoch,
    ]);
  }

  async function recorded(callUuid: string, epoch: number, seconds: number, hz: [number, number]): Promise<void> {
    const sound = toneFile(seconds, ...hz);
    const path = join(h.dataDir, 'recordings', '2026-11-22', `${callUuid}.${epoch}.sealed`);
    writeEncrypted(path, await keyOfRecording(h.database, h.sealer, { callUuid, epoch }), sound);
    const recording = factsOf(path, sound, seconds * 1000);
    await h.messages.handle([{ type: 'recording', callUuid, epoch, recording, error: null }]);
  }

  async function stopped(callUuid: string, epoch: number): Promise<void> {
    const why = 'socket_closed' as const;
    await h.messages.handle([{ type: 'media.stopped', callUuid, epoch, why, durationMs: 1000, latencies: [] }]);
  }

  async function ends(callUuid: string): Promise<void> {
    await h.transitions.apply(callUuid, { type: 'finish', reason: 'user_hangup', hangupBy: 'caller' });
  }

  async function sweepAll(): Promise<void> {
    await h.uploader.sweep();
    await h.joiner.sweep();
    await h.uploader.sweep();
  }

  async function heard(callUuid: string, part: number | null = null) {
    const sound = (await h.recordings.sounds.open({ callUuid, part, variant: 'stereo', format: 'ogg' }))!;
    const pieces: Buffer[] = [];
    for await (const piece of sound.range(0, sound.sizeBytes)) pieces.push(piece);
    return { ...(await decodeRecording(Buffer.concat(pieces))), sound };
  }

  const inTenths = (samples: Int16Array) =>
    soundsIn(samples, 16_000).map((ends) => ends.map((ms) => Math.round(ms / 100)));

  it('is one file as long as the call, each part at its place and silence between, told once with the figures of the whole', async () => {
    const callUuid = await cameBack(7000);
    await recorded(callUuid, 1, 3, [440, 880]);
    h.clock.advanceMs(4000);
    await stopped(callUuid, 2);
    await ends(callUuid);
    await recorded(callUuid, 2, 4, [600, 1200]);
    await sweepAll();
    const { left, right, durationMs, sound } = await heard(callUuid);
    expect(durationMs).toBe(11_000);
    expect(inTenths(left)).toEqual([
      [0, 30],
      [70, 110],
    ]);
    expect(inTenths(right)).toEqual(inTenths(left));
    expect(toneDbfs(left.subarray(8000, 40_000), 16_000, 440)).toBeGreaterThan(-15);
    expect(toneDbfs(right.subarray(120_000, 168_000), 16_000, 1200)).toBeGreaterThan(-15);
    const call = await h.call(callUuid);
    expect(call).toMatchObject({ recordingStatus: 'ready', warnings: [] });
    expect(call.recording).toMatchObject({ durationMs: 11_000, sizeBytes: sound.sizeBytes, sha256: sound.sha256 });
    expect(call.recordings).toMatchObject([
      { epoch: 1, startMs: 0, durationMs: 3000 },
      { epoch: 2, startMs: 7000, durationMs: 4000 },
    ]);
    expect((await heard(callUuid, 1)).durationMs).toBe(3000);
    expect((await heard(callUuid, 2)).durationMs).toBe(4000);
    expect(await h.webhooks(callUuid)).toEqual(['call.completed', 'recording.ready']);
    await sweepAll();
    expect(await h.webhooks(callUuid)).toEqual(['call.completed', 'recording.ready']);
  });

  it('is not ready before a part that is finished late, and then holds it', async () => {
    const callUuid = await cameBack(5000);
    h.clock.advanceMs(2000);
    await stopped(callUuid, 2);
    await ends(callUuid);
    await recorded(callUuid, 2, 2, [600, 1200]);
    await sweepAll();
    h.clock.advanceMs(60_000);
    await sweepAll();
    expect((await h.call(callUuid)).recordingStatus).toBe('pending');
    expect(await h.recordings.sounds.open({ callUuid, part: null, variant: 'stereo', format: 'ogg' })).toBeNull();
    await recorded(callUuid, 1, 3, [440, 880]);
    await sweepAll();
    expect(inTenths((await heard(callUuid)).left)).toEqual([
      [0, 30],
      [50, 70],
    ]);
  });

  it('has silence in the place of a part that never comes, ten minutes after the call, and says so; one that comes after all is joined in and not told again', async () => {
    const callUuid = await cameBack(5000);
    h.clock.advanceMs(2000);
    await stopped(callUuid, 2);
    await ends(callUuid);
    await recorded(callUuid, 2, 2, [600, 1200]);
    h.clock.advanceMs(590_000);
    await sweepAll();
    expect((await h.call(callUuid)).recordingStatus).toBe('pending');
    h.clock.advanceMs(11_000);
    await h.joiner.sweep();
    await sweepAll();
    const first = await h.call(callUuid);
    expect(first).toMatchObject({ recordingStatus: 'ready', warnings: ['recording_incomplete'] });
    expect(first.recording!.durationMs).toBe(7000);
    expect(inTenths((await heard(callUuid)).left)).toEqual([[50, 70]]);
    const lost = (await h.log(callUuid)).find(({ data }) => data['status'] === 'failed')!;
    expect(lost.data).toMatchObject({ epoch: 1, error: expect.stringContaining('ten minutes') });
    await recorded(callUuid, 1, 3, [440, 880]);
    await sweepAll();
    const second = await h.call(callUuid);
    expect(second).toMatchObject({ recordingStatus: 'ready', warnings: [] });
    expect(second.recording!.sha256).not.toBe(first.recording!.sha256);
    expect(inTenths((await heard(callUuid)).left)).toEqual([
      [0, 30],
      [50, 70],
    ]);
    expect(await h.webhooks(callUuid)).toEqual(['call.completed', 'recording.ready']);
  });

  /** Two parts in the store, and the whole to be joined. */
  async function bothStored(): Promise<string> {
    const callUuid = await cameBack(5000);
    await recorded(callUuid, 1, 3, [440, 880]);
    h.clock.advanceMs(2000);
    await stopped(callUuid, 2);
    await ends(callUuid);
    await recorded(callUuid, 2, 2, [600, 1200]);
    await h.uploader.sweep();
    return callUuid;
  }

  const states = async (callUuid: string) =>
    (
      await h.database.query<{ state: string }>(
        'SELECT state FROM call_recordings WHERE call_uuid = $1 AND epoch > 0 ORDER BY epoch',
        [callUuid],
      )
    ).map(({ state }) => state);

  it('waits for a store that says for hours that a stored part is not there, keeps the part, and says so once', async () => {
    const callUuid = await bothStored();
    const folder = h.recordings.stores.current.place;
    renameSync(folder, `${folder}.away`);
    for (let tries = 0; tries < 40; tries++) {
      expect(await h.joiner.sweep()).toBe(0);
      h.clock.advanceMs(400_000);
    }
    expect(await states(callUuid)).toEqual(['stored', 'stored']);
    expect(await h.call(callUuid)).toMatchObject({ recordingStatus: 'pending', warnings: [] });
    const said = h.logged.filter((line) => line['msg'] === 'a recording waits to be joined');
    expect(said).toEqual([expect.objectContaining({ callUuid, why: expect.stringContaining('has no') })]);
    renameSync(`${folder}.away`, folder);
    h.clock.advanceMs(600_000);
    await sweepAll();
    expect(await h.call(callUuid)).toMatchObject({ recordingStatus: 'ready', warnings: [] });
    expect((await heard(callUuid)).durationMs).toBe(7000);
  });

  it('is joined by the node on whose disk its parts are stored, and left alone by others', async () => {
    const callUuid = await bothStored();
    await h.database.query(`UPDATE call_recordings SET spool_node = 'node-2' WHERE call_uuid = $1 AND epoch > 0`, [
      callUuid,
    ]);
    h.clock.advanceMs(700_000);
    expect(await h.joiner.sweep()).toBe(0);
    const [whole] = await h.database.query(
      'SELECT state, attempts FROM call_recordings WHERE call_uuid = $1 AND epoch = 0',
      [callUuid],
    );
    expect(whole).toEqual({ state: 'recording', attempts: 0 });
    await h.database.query(`UPDATE call_recordings SET spool_node = 'node-1' WHERE call_uuid = $1`, [callUuid]);
    expect(await h.joiner.sweep()).toBe(1);
  });

  /** Another joiner on the harness's disk, with what a test wants otherwise. */
  function anotherJoiner(changes: Partial<JoinerDeps>): Joiner {
    return createJoiner({
      database: h.database,
      clock: h.clock,
      log: h.placement.log,
      sealer: h.sealer,
      links: createRecordingLinks(MASTER_KEY, PUBLIC_URL, h.clock),
      stores: h.recordings.stores,
      join: (order) => joinSound(order, loadOpusCodec(), writeSync),
      node: 'node-1',
      dataDir: h.dataDir,
      bus: createCallEventBus(),
      webhookDispatcher: { dispatch() {} },
      joined() {},
      ...changes,
    });
  }

  it('is joined though its last part is stored in the very moment in which the joiner finds that there is nothing to join', async () => {
    const callUuid = await cameBack(5000);
    await recorded(callUuid, 1, 3, [440, 880]);
    h.clock.advanceMs(2000);
    await stopped(callUuid, 2);
    await ends(callUuid);
    await h.uploader.sweep();
    await h.messages.handle([{ type: 'recording', callUuid, epoch: 2, recording: null, error: 'no room' }]);
    // Due without it; now it comes after all, and is on its way to the store when the joiner looks.
    await recorded(callUuid, 2, 2, [600, 1200]);
    let reads = 0;
    const query: Database['query'] = async (text, values) => {
      const rows = await h.database.query<never>(text, values);
      if (text.includes('FROM call_recordings WHERE call_uuid') && ++reads === 2) await h.uploader.sweep();
      return rows;
    };
    expect(await anotherJoiner({ database: { ...h.database, query } }).sweep()).toBe(1);
    expect(reads).toBeGreaterThan(2);
    await h.uploader.sweep();
    expect(await h.call(callUuid)).toMatchObject({ recordingStatus: 'ready', recording: { durationMs: 7000 } });
  });

  it('is heard in other forms, too, with a part that was joined in after such a form had been made', async () => {
    const made: string[] = [];
    const renditions = createRenditions({
      folder: join(h.dataDir, 'recordings', 'forms'),
      clock: h.clock,
      async render({ source, dataKey, targetPath, format }) {
        made.push(format);
        writeEncrypted(targetPath, dataKey, createHash('sha256').update(source).digest());
      },
    });
    const sounds = createSoundFiles({ ...h, stores: h.recordings.stores, renditions });
    const wav = async (callUuid: string) => {
      const sound = (await sounds.open({ callUuid, part: null, variant: 'mono', format: 'wav' }))!;
      const pieces: Buffer[] = [];
      for await (const piece of sound.range(0, sound.sizeBytes)) pieces.push(piece);
      await sound.close();
      return Buffer.concat(pieces).toString('hex');
    };
    const callUuid = await cameBack(5000);
    h.clock.advanceMs(2000);
    await stopped(callUuid, 2);
    await ends(callUuid);
    await recorded(callUuid, 2, 2, [600, 1200]);
    h.clock.advanceMs(601_000);
    await sweepAll();
    const first = await wav(callUuid);
    expect(await wav(callUuid)).toBe(first);
    expect(made).toEqual(['wav']);
    await recorded(callUuid, 1, 3, [440, 880]);
    await sweepAll();
    expect(await wav(callUuid)).not.toBe(first);
    expect(made).toEqual(['wav', 'wav']);
    expect(await renditions.forget(callUuid)).toBe(2);
  });

  it('stays due when the service is stopped while it is being joined, which waits for no decoder', async () => {
    const callUuid = await bothStored();
    const entry = join(h.dataDir, 'busy.mjs');
    writeFileSync(entry, 'for (;;);');
    const inThread = joinInThread(() => entry);
    let joining = (): void => {};
    const isJoining = new Promise<void>((resolve) => {
      joining = resolve;
    });
    const joiner = anotherJoiner({
      join(order, signal) {
        joining();
        return inThread(order, signal);
      },
    });
    joiner.start();
    await isJoining;
    await joiner.close();
    const due = await h.database.query(
      'SELECT state, attempts, next_at AS at FROM call_recordings WHERE call_uuid = $1 AND epoch = 0',
      [callUuid],
    );
    expect(due).toEqual([{ state: 'recording', attempts: 0, at: new Date(h.clock.epochMs()) }]);
    expect(await h.joiner.sweep()).toBe(1);
  });

  it('is given up when its parts can be read and not be joined for most of a day; they can be had, and a store that was away counts for nothing', async () => {
    const callUuid = await bothStored();
    const folder = h.recordings.stores.current.place;
    let joins = 0;
    const joiner = anotherJoiner({
      async join() {
        joins++;
        throw new Error('no such packet');
      },
    });
    const tries = async (count: number) => {
      for (let n = 0; n < count; n++) {
        expect(await joiner.sweep()).toBe(0);
        h.clock.advanceMs(600_000);
      }
    };
    renameSync(folder, `${folder}.away`);
    await tries(30);
    renameSync(`${folder}.away`, folder);
    await tries(100);
    expect(await h.call(callUuid)).toMatchObject({ recordingStatus: 'pending', warnings: [] });
    await tries(30);
    expect(joins).toBe(120);
    expect(await h.call(callUuid)).toMatchObject({ recordingStatus: 'failed', warnings: ['recording_failed'] });
    expect((await h.log(callUuid)).at(-1)!.data).toMatchObject({ status: 'failed', error: 'no such packet' });
    expect(await states(callUuid)).toEqual(['stored', 'stored']);
    expect((await heard(callUuid, 1)).durationMs).toBe(3000);
  });

  it('is as long as the call though its only stream was lost and never came back', async () => {
    const callUuid = await talkingCall(h);
    await began(callUuid, 1);
    h.clock.advanceMs(37_000);
    await ends(callUuid);
    expect((await h.call(callUuid)).recordingStatus).toBe('failed');
    await recorded(callUuid, 1, 3, [440, 880]);
    await sweepAll();
    expect((await h.call(callUuid)).recording!.durationMs).toBe(37_000);
    expect(inTenths((await heard(callUuid)).left)).toEqual([[0, 30]]);
  });

  it('is the stream’s own file where there was one stream, to its end', async () => {
    const callUuid = await talkingCall(h);
    await began(callUuid, 1);
    h.clock.advanceMs(3000);
    await recorded(callUuid, 1, 3, [440, 880]);
    await sweepAll();
    expect((await h.call(callUuid)).recordingStatus).toBe('pending');
    await stopped(callUuid, 1);
    await ends(callUuid);
    const call = await h.call(callUuid);
    expect(call).toMatchObject({ recordingStatus: 'ready', recording: { durationMs: 3000 } });
    expect(await h.webhooks(callUuid)).toEqual(['call.completed', 'recording.ready']);
    const rows = await h.database.query('SELECT 1 FROM call_recordings WHERE call_uuid = $1', [callUuid]);
    expect(rows.length).toBe(1);
  });

  it('does not wait for a stream whose process died between the claim and its beginning', async () => {
    const callUuid = await cameBack(5000);
    await recorded(callUuid, 1, 3, [440, 880]);
    await neverBegan(callUuid, 2);
    await ends(callUuid);
    await sweepAll();
    expect(await h.call(callUuid)).toMatchObject({ recordingStatus: 'ready', recording: { durationMs: 5000 } });
  });

  it('takes no notice of a claim whose stream never began', async () => {
    const callUuid = await cameBack(5000);
    await recorded(callUuid, 1, 5, [440, 880]);
    await neverBegan(callUuid, 2);
    await stopped(callUuid, 2);
    await ends(callUuid);
    await sweepAll();
    expect(await h.call(callUuid)).toMatchObject({
      recordingStatus: 'ready',
      warnings: [],
      recording: { durationMs: 5000 },
    });
  });

  it.each([
    ['before', 'is stored before the call ends'],
    ['after', 'comes after the call’s end'],
  ])(
    'can be had, and is told once, where the first claim’s process died and the second stream’s part %s',
    async (when) => {
      const callUuid = await talkingCall(h);
      await neverBegan(callUuid, 1);
      h.clock.advanceMs(2000);
      await comesBack(callUuid, 2);
      h.clock.advanceMs(3000);
      const part = async (): Promise<void> => {
        await recorded(callUuid, 2, 3, [440, 880]);
        await sweepAll();
      };
      if (when === 'before') await part();
      await stopped(callUuid, 2);
      await ends(callUuid);
      if (when === 'after') await part();
      expect(await h.call(callUuid)).toMatchObject({ recordingStatus: 'ready', recording: { durationMs: 3000 } });
      expect((await heard(callUuid)).durationMs).toBe(3000);
      h.clock.advanceMs(700_000);
      await sweepAll();
      const error = 'nothing of it lies on the disk';
      await h.messages.handle([{ type: 'recording', callUuid, epoch: 1, recording: null, error }]);
      expect((await h.call(callUuid)).recordingStatus).toBe('ready');
      expect((await h.webhooks(callUuid)).filter((event) => event === 'recording.ready')).toHaveLength(1);
    },
  );

  it('is finished though its process says after the call’s end that it was not lost', async () => {
    const callUuid = await talkingCall(h);
    await began(callUuid, 1);
    h.clock.advanceMs(3000);
    await recorded(callUuid, 1, 3, [440, 880]);
    await h.uploader.sweep();
    h.clock.advanceMs(2500);
    await ends(callUuid);
    expect((await h.call(callUuid)).recordingStatus).toBe('pending');
    await stopped(callUuid, 1);
    await sweepAll();
    expect(await h.call(callUuid)).toMatchObject({ recordingStatus: 'ready', recording: { durationMs: 5500 } });
    expect(await h.webhooks(callUuid)).toEqual(['call.completed', 'recording.ready']);
  });

  it('goes with its parts when it is erased, file and key, wherever it has come to', async () => {
    const callUuid = await cameBack(5000);
    await recorded(callUuid, 1, 3, [440, 880]);
    await stopped(callUuid, 2);
    await ends(callUuid);
    await recorded(callUuid, 2, 2, [600, 1200]);
    await h.uploader.sweep();
    await h.joiner.sweep();
    const files = () =>
      readdirSync(join(h.dataDir, 'recordings'), { recursive: true }).filter((name) => String(name).includes(callUuid));
    // Joined, and on its way to the store.
    expect(files().filter((name) => String(name).endsWith('.whole.sealed'))).toHaveLength(1);
    const { workspaceId } = await h.call(callUuid);
    await deleteCallParts(h.deletion, { workspaceId, callUuid, parts: ['recording'], by: BY_OPERATOR });
    expect(files()).toEqual([]);
    await sweepAll();
    expect(files()).toEqual([]);
    const keys = await h.database.query(
      'SELECT 1 FROM call_recordings WHERE call_uuid = $1 AND key_sealed IS NOT NULL',
      [callUuid],
    );
    expect(keys).toEqual([]);
    expect((await h.call(callUuid)).recordingStatus).toBe('deleted');
    expect(existsSync(join(h.dataDir, 'recordings', 'store'))).toBe(true);
  });

  it('lies on the same time line as the transcript: a stream that comes back goes on where the call is by now', async () => {
    const callUuid = await cameBack(9000);
    const checkpoint = { stepId: 'a', variables: {}, misses: 0, visits: {}, nextTurnNumber: 2, atMs: 2500 };
    const turn = {
      turnId: 't1',
      role: 'agent',
      startMs: 0,
      endMs: 2500,
      text: 'x',
      heardText: 'x',
      interrupted: false,
    };
    await h.database.query('INSERT INTO call_turns (call_uuid, turn_id, position, turn) VALUES ($1, $2, 1, $3)', [
      callUuid,
      't1',
      JSON.stringify(turn),
    ]);
    const call = { ...(await h.call(callUuid)), checkpoint };
    const from = await resumeFrom(h.database, call, h.clock.epochMs());
    expect(from).toMatchObject({ stepId: 'a', nextTurnNumber: 2, atMs: 9000 });
  });
});
