/**
 * Erases recordings for good. First, in the caller's transaction, the data keys: from the commit on no copy can be read
 * by anybody, backups included. Then the bytes: store objects, spool, segments, other forms. What cannot be removed now
 * (a store that is down) stays on the row and is removed by a later sweep.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { Database, Queryable } from '../store/database.ts';
import { removeLocalCopies } from './local-copies.ts';
import type { Stores } from './open-stores.ts';
import { lockRecordings, patchRecording, readRecordings } from './recording-rows.ts';
import { objectKeyOf } from './recording-store.ts';
import type { Renditions } from './renditions.ts';

export interface RecordingEraser {
  /** Forgets the keys; returns what each recording was, for the receipt. The call's row is locked. */
  forgetKeys(tx: Queryable, callUuid: string): Promise<{ epoch: number; sha256: string | null }[]>;
  /**
   * After the commit: removes the bytes. False when some are left for a later sweep. Rejects when the database is away.
   */
  removeBytes(callUuid: string): Promise<boolean>;
  /**
   * Removes what earlier attempts could not, and forms that nobody has asked for lately: how many calls are done now.
   */
  sweep(): Promise<number>;
}

export interface EraserDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  stores: Stores;
  renditions: Pick<Renditions, 'forget' | 'tidy'>;
  /** Absolute. */
  dataDir: string;
}

const RETRY_MS = 60_000;
const BATCH = 50;

export function createRecordingEraser(deps: EraserDeps): RecordingEraser {
  const { database, clock, log, stores } = deps;

  async function removeBytes(callUuid: string): Promise<boolean> {
    let isDone = true;
    await deps.renditions.forget(callUuid);
    for (const row of await readRecordings(database, callUuid)) {
      if (row.state !== 'erased') continue;
      try {
        await removeLocalCopies(deps.dataDir, callUuid, row.createdAt);
        // One that was being stored when a process died has no name in its row, and lies where new ones go.
        const isNamed = row.objectKey !== null;
        const store = isNamed ? stores.of(row.store) : stores.current;
        if (isNamed || row.nextAt !== null)
          await store.remove(row.objectKey ?? objectKeyOf(row.callUuid, row.epoch, row.createdAt));
        await patchRecording(database, row, {
          objectKey: null,
          store: null,
          spoolPath: null,
          nextAt: null,
          lastError: null,
        });
      } catch (error) {
        isDone = false;
        const why = error instanceof Error ? error.message : String(error);
        log.warn({ callUuid, epoch: row.epoch, why }, 'an erased recording’s sealed bytes are still to be removed');
        await patchRecording(database, row, {
          nextAt: new Date(clock.epochMs() + RETRY_MS),
          lastError: why.slice(0, 500),
        });
      }
    }
    return isDone;
  }

  return {
    async forgetKeys(tx, callUuid) {
      const rows = (await lockRecordings(tx, callUuid)).filter(({ state }) => state !== 'erased');
      for (const row of rows) {
        const erasedAt = new Date(clock.epochMs());
        // Due for removal until it is confirmed.
        await patchRecording(tx, row, { state: 'erased', keySealed: null, facts: null, erasedAt, nextAt: erasedAt });
      }
      return rows.map(({ epoch, facts }) => ({ epoch, sha256: facts?.sha256 ?? null }));
    },
    removeBytes,
    async sweep() {
      await deps.renditions.tidy();
      const due = await database.query<{ callUuid: string }>(
        `SELECT DISTINCT call_uuid AS "callUuid" FROM call_recordings WHERE state = 'erased' AND next_at <= $1 LIMIT ${BATCH}`,
        [new Date(clock.epochMs())],
      );
      let done = 0;
      for (const { callUuid } of due) if (await removeBytes(callUuid)) done++;
      return done;
    },
  };
}
