/**
 * Makes one recording of a call whose streams have left several, or whose last stream was lost: once all of them are
 * stored, it has them joined and puts the result on this node's disk, from where the uploader takes it like any other.
 * And gives up a part of which nothing has come ten minutes after its call's end: there is silence in its place then,
 * and the call says so. A part that was stored is never given up, whatever its store answers now: a folder may not be
 * mounted. All state is in the rows.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { pauseAfter } from '../../media/contract/backoff.ts';
import { EncryptedFileBroken } from '../../media/files/encrypted-file.ts';
import type { CallEventBus } from '../calls/call-event-bus.ts';
import { type CallRow, lockCall, readOwnCall } from '../calls/call-row.ts';
import type { Database, Queryable } from '../store/database.ts';
import { type DueLook, type DueQuestion, NOW } from '../store/due-look.ts';
import { createSweeper, type Sweeper } from '../store/sweeper.ts';
import { compareEncrypted } from './compare-encrypted.ts';
import { dayFolderOf } from './local-copies.ts';
import type { Stores } from './open-stores.ts';
import { OwedPauses } from './owed-pauses.ts';
import { changeRecording, lockRecorded, type RecordedCall } from './recorded-call.ts';
import { openRecordingKey } from './recording-keys.ts';
import { lockRecordings, patchRecording, type RecordingRow, readRecordings, WHOLE_EPOCH } from './recording-rows.ts';
import type { Join, JoinOrder } from './renditions.ts';
import { partFailed, type SettleDeps, settleRecording, wholeFailed } from './settle-recording.ts';
import { type JoinPlan, outlookOf, wholeOf } from './whole-recording.ts';

export interface JoinerDeps extends SettleDeps {
  database: Database;
  log: Logger;
  stores: Pick<Stores, 'of'>;
  join: Join;
  /** This node's disk. */
  node: string;
  /** Absolute. */
  dataDir: string;
  bus: Pick<CallEventBus, 'publish'>;
  webhookDispatcher: { dispatch(deliveryIds: readonly string[]): void };
  /** There is something for the uploader. */
  joined(): void;
  /** Absent: each 5 s. */
  due?: DueLook;
}

export interface Joiner extends Sweeper {
  /** One that is being joined is left where it is, due for whoever looks next. */
  close(): Promise<void>;
  /** One look by hand: how many it joined. Rejects when the database is away. */
  sweep(): Promise<number>;
}

const PAUSES = { firstMs: 2_000, longestMs: 600_000 };
/** A process that took one and died: the next takes it again after this. Longer than a rendering may take. */
const CLAIM_MS = 360_000;
const LONGEST_ERROR = 500;
/**
 * A store that is away is asked for ever, and its attempts are counted no further: the pause is at its longest then.
 */
const STORE_ATTEMPTS = 9;
/** Parts that can be read and not be joined, tried for most of a day: each attempt costs a decoder's time. */
const MOST_ATTEMPTS = STORE_ATTEMPTS + 120;
const NEVER_CAME = 'nothing was told of this stream’s recording within ten minutes of the call’s end';

export function createJoiner(deps: JoinerDeps): Joiner {
  const { database, clock, log } = deps;
  const closing = new AbortController();
  const pauses = new OwedPauses(database);

  async function sweep(): Promise<number> {
    let made = 0;
    await pauses.settle();
    while (!closing.signal.aborted) {
      const row = await takeDue();
      if (row === undefined) break;
      if (row.epoch !== WHOLE_EPOCH) await giveUp(row);
      else if (await makeWhole(row)) made++;
    }
    if (made > 0) deps.joined();
    return made;
  }

  /** Parts in a store on a node's disk can be read there alone: their whole is left to that node. */
  async function takeDue(): Promise<RecordingRow | undefined> {
    const nowEpochMs = clock.epochMs();
    const [taken] = await database.query<{ call_uuid: string; epoch: number }>(
      `UPDATE call_recordings SET next_at = $2
        WHERE (call_uuid, epoch) IN (
          SELECT call_uuid, epoch FROM call_recordings due WHERE state = 'recording' AND next_at <= $1
             AND (epoch <> ${WHOLE_EPOCH} OR coalesce((
               SELECT bool_or(part.spool_node = $3) FROM call_recordings part
                WHERE part.call_uuid = due.call_uuid AND part.epoch <> due.epoch
                  AND part.state = 'stored' AND part.store = 'disk'), true))
           ORDER BY next_at LIMIT 1 FOR UPDATE OF due SKIP LOCKED)
        RETURNING call_uuid, epoch`,
      [new Date(nowEpochMs), new Date(nowEpochMs + CLAIM_MS), deps.node],
    );
    if (taken === undefined) return undefined;
    return (await readRecordings(database, taken.call_uuid)).find(({ epoch }) => epoch === taken.epoch);
  }

  async function makeWhole(row: RecordingRow): Promise<boolean> {
    let hasParts = false;
    const temporary = join(deps.dataDir, 'recordings', 'forms', `.${randomUUID()}.part`);
    try {
      const call = await readOwnCall(database, row.callUuid);
      const outlook = call === undefined ? null : outlookOf(call, await readRecordings(database, row.callUuid));
      if (outlook?.kind !== 'joined' || row.keySealed === null) {
        await putAside(row);
        return false;
      }
      const { plan } = outlook;
      // One after the other: of several that are missing it is the same one that is told of each time.
      const parts: JoinOrder['parts'] = [];
      for (const part of plan.parts) {
        parts.push(await sourceOf(part));
        closing.signal.throwIfAborted();
      }
      await mkdir(dirname(temporary), { recursive: true, mode: 0o700 });
      hasParts = true;
      const {
        path: _path,
        sound: _sound,
        ...facts
      } = await deps.join(
        {
          callUuid: row.callUuid,
          parts,
          totalMs: plan.totalMs,
          dataKey: openRecordingKey(deps.sealer, row),
          targetPath: temporary,
        },
        closing.signal,
      );
      const path = join(dayFolderOf(deps.dataDir, row.createdAt), `${row.callUuid}.whole.sealed`);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(temporary, path);
      const isKept = await spool(row, plan, path, facts);
      if (!isKept) await rm(path, { force: true });
      return isKept;
    } catch (error) {
      await rm(temporary, { force: true });
      if (closing.signal.aborted) await patchRecording(database, row, { nextAt: new Date(clock.epochMs()) });
      else if (hasParts && row.attempts + 1 >= MOST_ATTEMPTS) await giveUpWhole(row, error);
      else await postpone(row, error, hasParts ? MOST_ATTEMPTS : STORE_ATTEMPTS);
      return false;
    }
  }

  /**
   * Nothing is to be joined now: a part has come back to be stored, say. What came while that was found out makes it
   * due at once.
   */
  function putAside(row: RecordingRow): Promise<void> {
    return database.transaction(async (tx) => {
      const call = await lockCall(tx, row.callUuid);
      const rows = await lockRecordings(tx, row.callUuid);
      if (call === undefined || wholeOf(rows)?.state !== 'recording') return;
      await patchRecording(tx, row, { nextAt: dueBy(call, rows) });
    });
  }

  /** Null: when a part is stored that is still to come, the uploader makes it due. */
  function dueBy(call: CallRow, rows: RecordingRow[]): Date | null {
    return outlookOf(call, rows).kind === 'joined' ? new Date(clock.epochMs()) : null;
  }

  /** Rejects when the part is not there, is not what was stored, or as the store does. */
  async function sourceOf({ row, startMs }: JoinPlan['parts'][number]) {
    const store = deps.stores.of(row.store);
    const objectKey = row.objectKey ?? '';
    const size = await store.size(objectKey);
    if (size === null)
      throw new Error(`${store.place} has no ${objectKey}: is it the store (folder, bucket) that this was put into?`);
    const source = await store.read(objectKey, 0, size);
    const dataKey = openRecordingKey(deps.sealer, row);
    try {
      await compareEncrypted(row.facts, dataKey, size, async (start, end) => source.subarray(start, end));
    } catch (error) {
      if (error instanceof EncryptedFileBroken) throw new Error(`${objectKey} in ${store.place}: ${error.message}`);
      throw error;
    }
    return { source, dataKey, startMs };
  }

  /** False: it was erased, or a part has come meanwhile. */
  function spool(row: RecordingRow, plan: JoinPlan, path: string, facts: NonNullable<RecordingRow['facts']>) {
    return database.transaction(async (tx) => {
      const call = await lockCall(tx, row.callUuid);
      const rows = await lockRecordings(tx, row.callUuid);
      if (call === undefined || wholeOf(rows)?.state !== 'recording') return false;
      const outlook = outlookOf(call, rows);
      const isSame = outlook.kind === 'joined' && sayingOf(outlook.plan) === sayingOf(plan);
      const nextAt = dueBy(call, rows);
      await patchRecording(
        tx,
        row,
        isSame
          ? { state: 'spooled', facts, spoolNode: deps.node, spoolPath: path, attempts: 0, nextAt, lastError: null }
          : { nextAt },
      );
      return isSame;
    });
  }

  /** Only a part of which nothing was told: one that came meanwhile is not touched. */
  async function giveUp(part: RecordingRow): Promise<void> {
    const done = await database.transaction(async (tx) => {
      const recorded = await lockRecorded(tx, part.callUuid);
      const rows = (await recorded?.recordings()) ?? [];
      const now = rows.find(({ epoch }) => epoch === part.epoch);
      if (recorded === undefined || now?.state !== 'recording') return null;
      log.error({ callUuid: part.callUuid, epoch: part.epoch, why: NEVER_CAME }, 'a part of a recording is lost');
      await loseOne(tx, recorded, now, NEVER_CAME);
      return recorded.change;
    });
    if (done === null) return;
    for (const event of done.events) deps.bus.publish(event);
    if (done.deliveryIds.length > 0) deps.webhookDispatcher.dispatch(done.deliveryIds);
  }

  async function loseOne(tx: Queryable, recorded: RecordedCall, part: RecordingRow, why: string): Promise<void> {
    const { change } = recorded;
    const rows = await recorded.recordings();
    changeRecording(change, part, { state: 'failed', nextAt: null, lastError: why });
    const whole = wholeOf(rows);
    if (whole?.state === 'recording') changeRecording(change, whole, { nextAt: null });
    partFailed(change, rows, { epoch: part.epoch, error: why, nowEpochMs: clock.epochMs() });
    await settleRecording(deps, tx, recorded);
    await change.write(tx);
  }

  /** Its parts stay as they are, and can be had one by one; a part that comes yet has it joined anew. */
  async function giveUpWhole(row: RecordingRow, error: unknown): Promise<void> {
    const why = sentenceOf(error);
    const done = await database.transaction(async (tx) => {
      const recorded = await lockRecorded(tx, row.callUuid);
      const whole = wholeOf((await recorded?.recordings()) ?? []);
      if (recorded === undefined || whole?.state !== 'recording') return null;
      log.error({ callUuid: row.callUuid, why }, 'the parts of a recording cannot be joined');
      const { change } = recorded;
      changeRecording(change, whole, { state: 'failed', nextAt: null, lastError: why });
      wholeFailed(change, { error: why, nowEpochMs: clock.epochMs() });
      await change.write(tx);
      return change;
    });
    for (const event of done?.events ?? []) deps.bus.publish(event);
  }

  async function postpone(row: RecordingRow, error: unknown, mostAttempts: number): Promise<void> {
    const why = sentenceOf(error);
    const pauseMs = pauseAfter(row.attempts, PAUSES);
    if (row.lastError !== why) log.warn({ callUuid: row.callUuid, why, pauseMs }, 'a recording waits to be joined');
    const nextAt = new Date(clock.epochMs() + pauseMs);
    await pauses.postpone(row, { attempts: Math.min(row.attempts + 1, mostAttempts), nextAt, lastError: why });
  }

  const mayBeDue: DueQuestion['sql'] = () =>
    `EXISTS (SELECT 1 FROM call_recordings WHERE state = 'recording' AND next_at <= ${NOW})`;
  const sweeper = createSweeper({
    clock,
    sweep,
    ...(deps.due && { due: { look: deps.due, sql: mayBeDue, also: () => pauses.areOwed } }),
    failed: (err) => log.warn({ err }, 'recordings to be joined wait for the database'),
  });
  return {
    ...sweeper,
    sweep,
    async close() {
      closing.abort();
      await sweeper.close();
    },
  };
}

function sentenceOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, LONGEST_ERROR);
}

/** Two plans that say the same make the same sound. */
function sayingOf({ totalMs, parts, isIncomplete }: JoinPlan): string {
  return JSON.stringify([
    totalMs,
    isIncomplete,
    parts.map(({ row, startMs }) => [row.epoch, startMs, row.facts?.sha256]),
  ]);
}
