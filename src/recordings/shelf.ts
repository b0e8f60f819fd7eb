/**
 * Takes finished recordings from this node's disk to the store: put, read back whole, compare with what media measured, and only then say
 * `recording.ready`. A sweep every few seconds and a bell after each message; all state is in the rows, so a restart forgets nothing.
 * A store that is down, slow or full is tried again with growing pauses, for ever: the file stays on the disk until it is verified.
 * A file that is itself damaged or gone ends in `failed` with a warning on the call.
 */
import { open, rm, stat } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import { SealBroken } from '../../media/sealed/sealed-file.ts';
import type { CallEvent, CallEventBus } from '../api/call-event-bus.ts';
import { appendCallLog } from '../calls/call-log.ts';
import { RECORDING_FAILED } from '../calls/call-record.ts';
import { type LiveCall, lockCall, patchCall } from '../calls/live-call.ts';
import { recordingEventFields } from '../calls/recording-event.ts';
import { isTerminal } from '../calls/state-machine.ts';
import type { RecordCallEvent } from '../calls/transition.ts';
import type { Database } from '../store/database.ts';
import type { Sealer } from '../store/secrets.ts';
import { compareSealed } from './compare-sealed.ts';
import { openRecordingKey, RecordingKeyLost } from './recording-keys.ts';
import type { RecordingLinks } from './recording-links.ts';
import { lockRecordings, patchRecording, type RecordingRow, readRecordings } from './recording-rows.ts';
import { objectKeyOf, type RecordingStore } from './recording-store.ts';
import { markFailed } from './told-recording.ts';

export interface ShelfDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  sealer: Sealer;
  /** Where new recordings go. */
  store: RecordingStore;
  /** This node's disk. */
  node: string;
  bus: Pick<CallEventBus, 'publish'>;
  bell: { ring(deliveryIds: readonly string[]): void };
  recordCallEvent: RecordCallEvent;
  links: RecordingLinks;
}

export interface ShelfFigures {
  stored: number;
  failed: number;
  /** Attempts that the store did not take. */
  retries: number;
}

export interface Shelf {
  start(): void;
  /** Something may be due: look now. */
  nudge(): void;
  /** One look by hand: how many it stored. Rejects when the database is away. */
  sweep(): Promise<number>;
  readonly figures: Readonly<ShelfFigures>;
  /** Resolves when what is in hand is done. */
  close(): Promise<void>;
}

const SWEEP_EVERY_MS = 5_000;
const AT_ONCE = 4;
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 600_000;
/** A process that took one and died: the next takes it again after this. */
const CLAIM_MS = 120_000;
const LONGEST_ERROR = 500;

/** What is on the disk is not what media wrote: trying again is no use. */
class SpoolDamaged extends Error {}

export function createShelf(deps: ShelfDeps): Shelf {
  const { database, clock, log, store } = deps;
  const figures: ShelfFigures = { stored: 0, failed: 0, retries: 0 };
  let running: Promise<number> | null = null;
  let again = false;
  let cancel = (): void => {};
  let started = false;
  let closed = false;
  let wasAway = false;

  async function sweep(): Promise<number> {
    let stored = 0;
    for (;;) {
      const due = await takeDue();
      const results = await Promise.all(due.map((row) => shelve(row)));
      stored += results.filter((done) => done).length;
      if (due.length < AT_ONCE || closed) return stored;
    }
  }

  async function takeDue(): Promise<RecordingRow[]> {
    const nowEpochMs = clock.epochMs();
    const taken = await database.query<{ call_uuid: string; epoch: number }>(
      `UPDATE call_recordings SET next_at = $3
        WHERE (call_uuid, epoch) IN (
          SELECT call_uuid, epoch FROM call_recordings WHERE state = 'spooled' AND spool_node = $1 AND next_at <= $2
           ORDER BY next_at LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED)
        RETURNING call_uuid, epoch`,
      [deps.node, new Date(nowEpochMs), new Date(nowEpochMs + CLAIM_MS)],
    );
    const rows = await Promise.all(
      taken.map(async ({ call_uuid, epoch }) =>
        (await readRecordings(database, call_uuid)).find((row) => row.epoch === epoch && row.state === 'spooled'),
      ),
    );
    return rows.filter((row) => row !== undefined);
  }

  async function shelve(row: RecordingRow): Promise<boolean> {
    try {
      const dataKey = openRecordingKey(deps.sealer, row.keySealed ?? Buffer.alloc(0));
      const sealedBytes = await verifySpool(row, dataKey);
      const objectKey = objectKeyOf(row.callUuid, row.epoch, row.createdAt);
      await store.put(objectKey, row.spoolPath ?? '');
      await verifyStored(row, dataKey, objectKey, sealedBytes);
      await settle(row, objectKey, sealedBytes);
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
      await compareSealed(row.facts, dataKey, found.size, async (start, end) => {
        const bytes = new Uint8Array(end - start);
        return bytes.subarray(0, (await file.read(bytes, 0, bytes.length, start)).bytesRead);
      });
    } catch (error) {
      // A key that does not open is no fault of the file.
      if (error instanceof SealBroken)
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
    sealedBytes: number,
  ): Promise<void> {
    const size = await store.size(objectKey);
    if (size !== sealedBytes) throw new Error(`${store.place} holds ${size} bytes of a recording of ${sealedBytes}`);
    await compareSealed(row.facts, dataKey, sealedBytes, (start, end) => store.read(objectKey, start, end));
  }

  async function settle(row: RecordingRow, objectKey: string, sealedBytes: number): Promise<void> {
    const done = await database.transaction(async (tx) => {
      const call = await lockCall(tx, row.callUuid);
      const now = (await lockRecordings(tx, row.callUuid)).find((one) => one.epoch === row.epoch);
      if (call === undefined || now?.state !== 'spooled') return null;
      await patchRecording(tx, row, {
        state: 'stored',
        store: store.kind,
        objectKey,
        sealedBytes,
        storedAt: new Date(clock.epochMs()),
        nextAt: null,
        lastError: null,
        spoolPath: null,
      });
      return announce(tx, call, row);
    });
    if (done === null) {
      // Erased meanwhile; what was just stored must not outlive it.
      await store.remove(objectKey);
      return;
    }
    figures.stored++;
    await rm(row.spoolPath ?? '', { force: true });
    for (const event of done.events) deps.bus.publish(event);
    if (done.deliveryIds.length > 0) deps.bell.ring(done.deliveryIds);
  }

  async function announce(
    tx: Parameters<Parameters<Database['transaction']>[0]>[0],
    call: LiveCall,
    { epoch, facts }: RecordingRow,
  ): Promise<{ events: CallEvent[]; deliveryIds: string[] }> {
    if (facts === null) return { events: [], deliveryIds: [] };
    const recordings = [...call.recordings.filter((one) => one.epoch !== epoch), { ...facts, epoch }].sort(
      (a, b) => a.epoch - b.epoch,
    );
    const warnings = call.warnings.filter((code) => code !== RECORDING_FAILED);
    const patch = { recordingStatus: 'ready' as const, recordings, recording: recordings[0] ?? null, warnings };
    await patchCall(tx, call.callUuid, patch);
    const { durationMs, sizeBytes } = facts;
    const data = { status: 'ready', durationMs, sizeBytes, epoch };
    const events = await appendCallLog(tx, call.callUuid, [{ kind: 'recording', data, atEpochMs: clock.epochMs() }]);
    // Before the terminal event it waits: that one has the lowest sequence, and takes this one along.
    if (!isTerminal(call.status)) return { events, deliveryIds: [] };
    const changed: LiveCall = { ...call, ...patch };
    const fields = recordingEventFields(deps.links, changed);
    return { events, deliveryIds: await deps.recordCallEvent(tx, changed, 'recording.ready', fields, clock) };
  }

  async function giveUp(row: RecordingRow, why: string): Promise<void> {
    log.error({ callUuid: row.callUuid, epoch: row.epoch, why }, 'a recording is lost');
    const events = await database.transaction(async (tx) => {
      const call = await lockCall(tx, row.callUuid);
      const now = (await lockRecordings(tx, row.callUuid)).find((one) => one.epoch === row.epoch);
      if (call === undefined || now?.state !== 'spooled') return [];
      figures.failed++;
      await patchRecording(tx, row, { state: 'failed', nextAt: null, lastError: why.slice(0, LONGEST_ERROR) });
      return markFailed(tx, call, { epoch: row.epoch, error: why, nowEpochMs: clock.epochMs() });
    });
    for (const event of events) deps.bus.publish(event);
  }

  async function postpone(row: RecordingRow, error: unknown): Promise<void> {
    figures.retries++;
    const why = error instanceof Error ? error.message : String(error);
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(row.attempts, 20));
    const level = error instanceof RecordingKeyLost ? 'error' : 'warn';
    if (row.attempts === 0 || row.lastError !== why.slice(0, LONGEST_ERROR)) {
      log[level]({ callUuid: row.callUuid, why, pauseMs }, 'a recording waits on this disk for its store');
    }
    await patchRecording(database, row, {
      attempts: row.attempts + 1,
      nextAt: new Date(clock.epochMs() + pauseMs),
      lastError: why.slice(0, LONGEST_ERROR),
    });
  }

  function look(): void {
    if (closed) return;
    if (running !== null) {
      again = true;
      return;
    }
    cancel();
    running = sweep()
      .then(
        (stored) => {
          wasAway = false;
          return stored;
        },
        (error: unknown) => {
          if (!wasAway) log.warn({ err: error }, 'recordings wait for the database');
          wasAway = true;
          return 0;
        },
      )
      .finally(() => {
        running = null;
        if (closed) return;
        const soon = again && !wasAway;
        again = false;
        if (soon) look();
        else if (started) cancel = clock.after(SWEEP_EVERY_MS, look);
      });
  }

  return {
    figures,
    sweep,
    nudge() {
      if (started) look();
    },
    start() {
      started = true;
      look();
    },
    async close() {
      closed = true;
      cancel();
      await running;
    },
  };
}
