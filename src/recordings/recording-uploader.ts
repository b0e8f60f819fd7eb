/**
 * Takes finished recordings from this node's disk to the store: put, read back whole, compare with what media measured,
 * and only then say `recording.ready`. A sweep every few seconds and a nudge after each message; all state is in the
 * rows, so a restart forgets nothing. A store that is down, slow or full is tried again with growing pauses, for ever:
 * the file stays on the disk until it is verified. A file that is itself damaged or gone ends in `failed` with a
 * warning on the call.
 */
import { open, rm, stat } from 'node:fs/promises';
import type { Logger } from 'pino';
import { pauseAfter } from '../../media/contract/backoff.ts';
import type { Clock } from '../../media/contract/clock.ts';
import { EncryptedFileBroken } from '../../media/files/encrypted-file.ts';
import type { CallChange } from '../calls/call-change.ts';
import type { CallEventBus } from '../calls/call-event-bus.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database } from '../store/database.ts';
import { type DueLook, type DueQuestion, NOW } from '../store/due-look.ts';
import { createSweeper, type Sweeper } from '../store/sweeper.ts';
import { compareEncrypted } from './compare-encrypted.ts';
import { OwedPauses } from './owed-pauses.ts';
import { changeRecording, lockRecorded } from './recorded-call.ts';
import { openRecordingKey, RecordingKeyLost } from './recording-keys.ts';
import type { RecordingLinks } from './recording-links.ts';
import { type RecordingRow, takeRecordings, WHOLE_EPOCH } from './recording-rows.ts';
import { objectKeyOf, type RecordingStore } from './recording-store.ts';
import { partFailed, settleRecording } from './settle-recording.ts';
import { wholeOf } from './whole-recording.ts';

export interface RecordingUploaderDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  sealer: Sealer;
  /** Where new recordings go. */
  store: RecordingStore;
  /** This node's disk. */
  node: string;
  bus: Pick<CallEventBus, 'publish'>;
  webhookDispatcher: { dispatch(deliveryIds: readonly string[]): void };
  links: RecordingLinks;
  /** A recording of a whole call is to be made of its parts, perhaps. */
  nudgeJoiner?(): void;
  /** Absent: each 5 s. */
  due?: DueLook;
}

export interface UploadFigures {
  stored: number;
  failed: number;
  /** Attempts that the store did not take. */
  retries: number;
}

export interface RecordingUploader extends Sweeper {
  /**
   * Takes a recording that has just been finished, if it has room: whoever writes its row has it due at that time, and
   * hands it over by `take` when that is committed. Null: it is due at once, and a nudge finds it.
   */
  offer(): { dueAt: Date; take(row: RecordingRow): void } | null;
  /** One look by hand: how many it stored. Rejects when the database is away. */
  sweep(): Promise<number>;
  readonly figures: Readonly<UploadFigures>;
}

const AT_ONCE = 4;
const PAUSES = { firstMs: 2_000, longestMs: 600_000 };
/** A process that took one and died: the next takes it again after this. */
const CLAIM_MS = 120_000;
/** The same of one that it was offered: most are stored within the second. */
const OFFERED_MS = 15_000;
const LONGEST_ERROR = 500;

/** What is on the disk is not what media wrote: trying again is no use. */
class SpoolDamaged extends Error {}

export function createRecordingUploader(deps: RecordingUploaderDeps): RecordingUploader {
  const { database, clock, log, store } = deps;
  const figures: UploadFigures = { stored: 0, failed: 0, retries: 0 };
  let closed = false;
  const offered = new Set<Promise<boolean>>();

  const pauses = new OwedPauses(database);

  async function sweep(): Promise<number> {
    let stored = 0;
    await pauses.settle();
    for (;;) {
      const due = await takeDue();
      const results = await Promise.all(due.map((row) => upload(row)));
      stored += results.filter((done) => done).length;
      if (due.length < AT_ONCE || closed) return stored;
    }
  }

  async function takeDue(): Promise<RecordingRow[]> {
    const nowEpochMs = clock.epochMs();
    return takeRecordings(
      database,
      `SELECT call_uuid, epoch FROM call_recordings WHERE state = 'spooled' AND spool_node = $1 AND next_at <= $2
        ORDER BY next_at LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED`,
      '$3',
      [deps.node, new Date(nowEpochMs), new Date(nowEpochMs + CLAIM_MS)],
    );
  }

  async function upload(row: RecordingRow): Promise<boolean> {
    try {
      const dataKey = openRecordingKey(deps.sealer, row);
      const encryptedBytes = await verifySpool(row, dataKey);
      const objectKey = objectKeyOf(row.callUuid, row.epoch, row.createdAt);
      await store.put(objectKey, row.spoolPath ?? '');
      await verifyStored(row, dataKey, objectKey, encryptedBytes);
      await settle(row, objectKey, encryptedBytes);
      return true;
    } catch (error) {
      if (error instanceof SpoolDamaged) await giveUp(row, error.message);
      else await postpone(row, error);
      return false;
    }
  }

  async function verifySpool(row: RecordingRow, dataKey: Uint8Array): Promise<number> {
    const path = row.spoolPath ?? '';
    const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
      // A disk that does not answer may do so again; only a file that is not there is gone.
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
      throw error;
    });
    if (found === null) throw new SpoolDamaged(`the finished recording is gone from the disk (${path})`);
    const file = await open(path, 'r');
    try {
      await compareEncrypted(row.facts, dataKey, found.size, async (start, end) => {
        const bytes = new Uint8Array(end - start);
        return bytes.subarray(0, (await file.read(bytes, 0, bytes.length, start)).bytesRead);
      });
    } catch (error) {
      // A key that does not open is no fault of the file.
      if (error instanceof EncryptedFileBroken)
        throw new SpoolDamaged(`the finished recording was damaged on the disk: ${error.message}`);
      throw error;
    } finally {
      await file.close();
    }
    return found.size;
  }

  async function verifyStored(
    row: RecordingRow,
    dataKey: Uint8Array,
    objectKey: string,
    encryptedBytes: number,
  ): Promise<void> {
    const size = await store.size(objectKey);
    if (size !== encryptedBytes)
      throw new Error(`${store.place} holds ${size} bytes of a recording of ${encryptedBytes}`);
    await compareEncrypted(row.facts, dataKey, encryptedBytes, (start, end) => store.read(objectKey, start, end));
  }

  async function settle(row: RecordingRow, objectKey: string, encryptedBytes: number): Promise<void> {
    let isAlone = false;
    const done = await database.transaction(async (tx) => {
      const recorded = await lockRecorded(tx, row.callUuid);
      const all = (await recorded?.recordings()) ?? [];
      isAlone = all.length === 1;
      const now = all.find((one) => one.epoch === row.epoch);
      if (recorded === undefined || now === undefined || now.state === 'erased') return 'erased';
      // Stored by a process that took it after this one, or a whole that is to be made again: the object is theirs.
      if (now.state !== 'spooled') return 'changed';
      const { change } = recorded;
      changeRecording(change, now, {
        state: 'stored',
        store: store.kind,
        objectKey,
        encryptedBytes,
        storedAt: now.storedAt ?? new Date(clock.epochMs()),
        nextAt: null,
        lastError: null,
        spoolPath: null,
      });
      if (row.epoch !== WHOLE_EPOCH) addPart(change, row, wholeOf(all));
      await settleRecording(deps, tx, recorded);
      await change.write(tx);
      return change;
    });
    if (done === 'changed') return;
    if (done === 'erased') {
      // What was just stored must not outlive it.
      await store.remove(objectKey);
      return;
    }
    figures.stored++;
    await rm(row.spoolPath ?? '', { force: true });
    tell(done);
    if (!isAlone) deps.nudgeJoiner?.();
  }

  function tell({ events, deliveryIds }: CallChange): void {
    for (const event of events) deps.bus.publish(event);
    if (deliveryIds.length > 0) deps.webhookDispatcher.dispatch(deliveryIds);
  }

  /** Of a call's streams, as it is stored. A recording of the whole that was made without it is made again. */
  function addPart(change: CallChange, { epoch, facts }: RecordingRow, whole: RecordingRow | undefined): void {
    if (facts === null) return;
    const others = change.call.recordings.filter((one) => one.epoch !== epoch);
    change.set({ recordings: [...others, { ...facts, epoch }].sort((a, b) => a.epoch - b.epoch) });
    if (whole === undefined || whole.state === 'erased') return;
    changeRecording(change, whole, { state: 'recording', attempts: 0, nextAt: new Date(clock.epochMs()) });
  }

  async function giveUp(row: RecordingRow, why: string): Promise<void> {
    log.error({ callUuid: row.callUuid, epoch: row.epoch, why }, 'a recording is lost');
    const done = await database.transaction(async (tx) => {
      const recorded = await lockRecorded(tx, row.callUuid);
      const rows = (await recorded?.recordings()) ?? [];
      const now = rows.find((one) => one.epoch === row.epoch);
      if (recorded === undefined || now?.state !== 'spooled') return null;
      figures.failed++;
      const { change } = recorded;
      const lastError = why.slice(0, LONGEST_ERROR);
      if (row.epoch === WHOLE_EPOCH) {
        // Its parts are still there: it is made again.
        const nextAt = new Date(clock.epochMs() + PAUSES.firstMs);
        changeRecording(change, now, { state: 'recording', nextAt, lastError });
      } else {
        changeRecording(change, now, { state: 'failed', nextAt: null, lastError });
        partFailed(change, rows, { epoch: row.epoch, error: why, nowEpochMs: clock.epochMs() });
        await settleRecording(deps, tx, recorded);
      }
      await change.write(tx);
      return change;
    });
    if (done !== null) tell(done);
    deps.nudgeJoiner?.();
  }

  async function postpone(row: RecordingRow, error: unknown): Promise<void> {
    figures.retries++;
    const why = error instanceof Error ? error.message : String(error);
    const pauseMs = pauseAfter(row.attempts, PAUSES);
    const level = error instanceof RecordingKeyLost ? 'error' : 'warn';
    if (row.attempts === 0 || row.lastError !== why.slice(0, LONGEST_ERROR)) {
      log[level]({ callUuid: row.callUuid, why, pauseMs }, 'a recording waits on this disk for its store');
    }
    await pauses.postpone(row, {
      attempts: row.attempts + 1,
      nextAt: new Date(clock.epochMs() + pauseMs),
      lastError: why.slice(0, LONGEST_ERROR),
    });
  }

  function offer(): ReturnType<RecordingUploader['offer']> {
    if (closed || offered.size >= AT_ONCE) return null;
    return {
      dueAt: new Date(clock.epochMs() + OFFERED_MS),
      take(row) {
        if (closed) return;
        // What could not be told of it now is due by its row.
        const stored = upload(row)
          .catch(() => false)
          .finally(() => offered.delete(stored));
        offered.add(stored);
      },
    };
  }

  const mayBeDue: DueQuestion['sql'] = (place) =>
    `EXISTS (SELECT 1 FROM call_recordings WHERE state = 'spooled' AND spool_node = ${place(deps.node)} AND next_at <= ${NOW})`;
  const sweeper = createSweeper({
    clock,
    sweep,
    ...(deps.due && { due: { look: deps.due, sql: mayBeDue, also: () => pauses.areOwed } }),
    failed: (err) => log.warn({ err }, 'recordings wait for the database'),
  });
  return {
    ...sweeper,
    figures,
    sweep,
    offer,
    async close() {
      closed = true;
      await sweeper.close();
      await Promise.allSettled([...offered]);
    },
  };
}
