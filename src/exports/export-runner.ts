/**
 * Writes exports of the call log in the background, one after the other and in turns: some thousand calls of one, then
 * the next one's. Calls, progress and the place where it stands are one transaction, so an export that a process left
 * behind goes on where it stood: its lease runs out, and the next one takes it. What is past its day is deleted.
 * Created by control; whoever creates it closes it.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import type { CallFilters } from '../call-log/call-log-query.ts';
import { type CallPlace, countCalls, searchCalls } from '../call-log/call-log-search.ts';
import { inBatches } from '../store/batches.ts';
import type { Database } from '../store/database.ts';
import { isDatabaseAway } from '../store/database-away.ts';
import type { DueLook } from '../store/due-look.ts';
import { createSweeper } from '../store/sweeper.ts';
import { type ExportFormat, headOf, lineOf, type ShownCall } from './call-lines.ts';
import type { ExportMasking } from './export-store.ts';

export interface ExportRunner {
  start(): void;
  /** There is a new one. */
  nudge(): void;
  /** Works until nothing is left to write; for tests. */
  drain(): Promise<void>;
  /** Waits for the calls under way and gives the rest back. Idempotent. */
  close(): Promise<void>;
}

interface Job {
  id: string;
  workspaceId: string;
  format: ExportFormat;
  filters: CallFilters;
  masking: ExportMasking;
  totalRows: number | null;
  writtenRows: number;
  sizeBytes: number;
  after: CallPlace | null;
  epoch: number;
  parts: number;
}

export const MOST_ROWS = 100_000;
export const MOST_BYTES = 512 * 1024 * 1024;
export const KEPT_HOURS = 24;
const PAGE = 200;
/** In one turn, where others wait. */
const PAGES_A_TURN = 25;
const LEASE_SECONDS = 30;

const packed = promisify(gzip);
const LEASE_END = `clock_timestamp() + interval '${LEASE_SECONDS} seconds'`;
const EXPIRES = `clock_timestamp() + interval '${KEPT_HOURS} hours'`;

const CLAIM = `
  UPDATE call_exports SET state = 'running', lease_epoch = lease_epoch + 1, served_at = clock_timestamp(),
         lease_until = ${LEASE_END}, started_at = coalesce(started_at, clock_timestamp())
  WHERE id = (SELECT id FROM call_exports
              WHERE state IN ('queued', 'running') AND (lease_until IS NULL OR lease_until < clock_timestamp())
              ORDER BY served_at NULLS FIRST, id LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id, workspace_id AS "workspaceId", format, filters, masking, total_rows AS "totalRows",
            written_rows AS "writtenRows", size_bytes::float8 AS "sizeBytes", after_place AS after, lease_epoch AS epoch,
            (SELECT count(*)::int FROM call_export_parts p WHERE p.export_id = call_exports.id) AS parts`;

const MAY_BE_DUE_SQL = `(EXISTS (SELECT 1 FROM call_exports WHERE state IN ('queued', 'running')
    AND (lease_until IS NULL OR lease_until < clock_timestamp()))
  OR EXISTS (SELECT 1 FROM call_exports WHERE expires_at <= clock_timestamp()))`;

export function createExportRunner(deps: {
  database: Database;
  clock: Clock;
  log: Logger;
  /** The calls as their maker sees them, without what opens sound; those that are gone are left out. */
  shown(workspaceId: string, callUuids: readonly string[], masking: ExportMasking): Promise<readonly ShownCall[]>;
  /** Absent: each 5 s. */
  due?: DueLook;
}): ExportRunner {
  const { database, clock, log, due } = deps;
  let closed = false;
  let working: Promise<void> | null = null;

  /** With its parts, which are up to half a gigabyte of text: one a statement. */
  async function removeExpired(limit: number): Promise<number> {
    const gone = await database.query(
      `DELETE FROM call_exports WHERE id IN (
         SELECT id FROM call_exports WHERE expires_at <= clock_timestamp() LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING id`,
      [limit],
    );
    return gone.length;
  }

  async function work(): Promise<void> {
    await inBatches(1, removeExpired, () => closed);
    while (!closed) {
      const [job] = await database.query<Job>(CLAIM);
      if (job === undefined) return;
      try {
        await writeTurn(job);
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        log.error({ exportId: job.id, err: error }, 'an export was given up');
        await giveUp(job);
      }
    }
  }

  async function writeTurn(job: Job): Promise<void> {
    const { workspaceId, filters } = job;
    if (job.totalRows === null) {
      const totalRows = await countCalls(database, { workspaceId, filters }, MOST_ROWS + 1);
      await database.query('UPDATE call_exports SET total_rows = $3 WHERE id = $1 AND lease_epoch = $2', [
        job.id,
        job.epoch,
        totalRows,
      ]);
    }
    for (let page = 0; page < PAGES_A_TURN && !closed; page++) {
      const limit = Math.min(PAGE, MOST_ROWS - job.writtenRows);
      const found = await searchCalls(database, { workspaceId, filters, after: job.after, limit });
      const calls = await deps.shown(workspaceId, found.callUuids, job.masking);
      if (!(await store(job, calls, found.next))) return;
    }
    await database.query('UPDATE call_exports SET lease_until = NULL WHERE id = $1 AND lease_epoch = $2', [
      job.id,
      job.epoch,
    ]);
  }

  /**
   * One page, and the end with the last one. False: nothing is left to do here, because it has ended, another one has
   * it, or nobody wants it any more.
   */
  async function store(job: Job, calls: readonly ShownCall[], next: CallPlace | null): Promise<boolean> {
    const head = job.parts === 0 ? headOf(job.format) : '';
    const text = Buffer.from(head + calls.map((call) => lineOf(job.format, call)).join(''));
    const content = await packed(text);
    const isFull = job.writtenRows + calls.length >= MOST_ROWS || job.sizeBytes + text.length >= MOST_BYTES;
    const hasEnded = next === null || isFull;
    const isOurs = await database.transaction(async (tx) => {
      const owned = await tx.query(
        `UPDATE call_exports SET written_rows = written_rows + $3, size_bytes = size_bytes + $4, after_place = $5,
                state = $6, is_cut = $7, lease_until = CASE WHEN $8 THEN NULL ELSE ${LEASE_END} END,
                finished_at = CASE WHEN $8 THEN clock_timestamp() END, expires_at = CASE WHEN $8 THEN ${EXPIRES} END
         WHERE id = $1 AND lease_epoch = $2 AND state = 'running' RETURNING 1 AS one`,
        [
          job.id,
          job.epoch,
          calls.length,
          text.length,
          next && JSON.stringify(next),
          hasEnded ? 'completed' : 'running',
          isFull && next !== null,
          hasEnded,
        ],
      );
      if (owned.length === 0) return false;
      if (text.length > 0) {
        await tx.query('INSERT INTO call_export_parts (export_id, position, content) VALUES ($1, $2, $3)', [
          job.id,
          job.parts,
          content,
        ]);
      }
      return true;
    });
    job.parts += text.length > 0 ? 1 : 0;
    job.writtenRows += calls.length;
    job.sizeBytes += text.length;
    job.after = next;
    return isOurs && !hasEnded;
  }

  async function giveUp(job: Job): Promise<void> {
    await database.query(
      `UPDATE call_exports SET state = 'failed', error = 'internal_error', lease_until = NULL,
              finished_at = clock_timestamp(), expires_at = ${EXPIRES}
       WHERE id = $1 AND lease_epoch = $2`,
      [job.id, job.epoch],
    );
  }

  function workOnce(): Promise<void> {
    working ??= work().finally(() => {
      working = null;
    });
    return working;
  }

  const sweeper = createSweeper({
    clock,
    sweep: workOnce,
    ...(due && { due: { look: due, sql: () => MAY_BE_DUE_SQL } }),
    failed: (err) => log.warn({ err }, 'an export could not go on; it is tried again when its lease is over'),
  });
  return {
    start: () => sweeper.start(),
    nudge: sweeper.nudge,
    drain: workOnce,
    async close() {
      closed = true;
      await sweeper.close();
      await working?.catch(() => {});
    },
  };
}
