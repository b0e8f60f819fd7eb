/**
 * The rows of `media_runs`: which runs of media processes there are, on which node, and how long ago each was heard of.
 * Each statement goes by the database's clock, so that nodes need not agree about the time. A run that was fenced is
 * dead for good: it keeps no lease, and the calls that it had are without an owner from the same commit on.
 * `run-keeper.ts` is the only caller.
 */
import type { Database, Queryable } from '../store/database.ts';
import { DATABASE_EPOCH_MS } from './shared-clock.ts';

/** A node, as its runs are registered. */
export interface NodeName {
  name: string;
  /** Where it runs, machine and data folder: two nodes with one name have two places. */
  home: string;
  /** Where other nodes ask whether the machine lives, `http://10.0.0.5:8080`; null: nowhere. */
  address: string | null;
  /** Where its streams are opened, `wss://voice.example.com/n/a`; null: at the public address, like everybody's. */
  streamBase: string | null;
}

/** A media process's run, by its own word. */
export interface MediaRun {
  runId: string;
  /** Like `media-0`. */
  slot: string;
  capacityCalls: number;
  liveCalls: number;
  /** By what it measures; null: not known. */
  moreCalls: number | null;
  isDraining: boolean;
}

/** One of another process of the cluster, or one that is gone. */
export interface OtherRun extends MediaRun {
  node: string;
  address: string | null;
  streamBase: string | null;
  silentMs: number;
  leaseMs: number;
}

export interface Heard {
  /** Of those that beat. The others are dead. */
  kept: string[];
  others: OtherRun[];
  databaseEpochMs: number;
}

const KEPT_DEAD = '7 days';
const SILENT_MS = '(extract(epoch FROM clock_timestamp() - beat_at) * 1000)::float8';

/** False: it was fenced. A run that was registered before, by an earlier run of control, is the same. */
export async function registerRun(
  database: Queryable,
  node: NodeName,
  run: MediaRun,
  leaseMs: number,
): Promise<boolean> {
  await database.query(`DELETE FROM media_runs WHERE dead_at < clock_timestamp() - interval '${KEPT_DEAD}'`);
  const rows = await database.query(
    `INSERT INTO media_runs
       (run_id, node, home, slot, address, stream_base, lease_ms, capacity_calls, live_calls, is_draining)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     ON CONFLICT (run_id) DO UPDATE SET beat_at = clock_timestamp() WHERE media_runs.dead_at IS NULL
     RETURNING 1 AS one`,
    [
      run.runId,
      node.name,
      node.home,
      run.slot,
      node.address,
      node.streamBase,
      leaseMs,
      run.capacityCalls,
      run.liveCalls,
      run.isDraining,
    ],
  );
  return rows.length > 0;
}

/** All of a node beat together, and hear in the same statement who else there is. */
export async function beatRuns(database: Queryable, runs: readonly MediaRun[], leaseMs: number): Promise<Heard> {
  const [heard] = await database.query<Heard>(
    `WITH mine AS (
       UPDATE media_runs r
          SET beat_at = clock_timestamp(), lease_ms = $2, capacity_calls = said.capacity, live_calls = said.live,
              more_calls = said.more, is_draining = said.draining
         FROM unnest($1::text[], $3::int[], $4::int[], $5::int[], $6::bool[])
           AS said (run_id, capacity, live, more, draining)
        WHERE r.run_id = said.run_id AND r.dead_at IS NULL
       RETURNING r.run_id)
     SELECT array(SELECT run_id FROM mine) AS kept, ${DATABASE_EPOCH_MS} AS "databaseEpochMs",
            coalesce((SELECT jsonb_agg(jsonb_build_object('runId', run_id, 'node', node, 'slot', slot,
                'address', address, 'streamBase', stream_base, 'leaseMs', lease_ms, 'silentMs', ${SILENT_MS},
                'capacityCalls', capacity_calls, 'moreCalls', more_calls,
                'liveCalls', live_calls, 'isDraining', is_draining))
              FROM media_runs WHERE dead_at IS NULL AND NOT run_id = ANY ($1)), '[]') AS others`,
    [
      runs.map(({ runId }) => runId),
      leaseMs,
      runs.map(({ capacityCalls }) => capacityCalls),
      runs.map(({ liveCalls }) => liveCalls),
      runs.map(({ moreCalls }) => moreCalls),
      runs.map(({ isDraining }) => isDraining),
    ],
  );
  return heard as Heard;
}

/** Of a node's process: the runs that are not among those known to its control any more, and so are gone. */
export async function earlierRuns(
  database: Queryable,
  node: string,
  slot: string,
  known: readonly string[],
): Promise<string[]> {
  const rows = await database.query<{ runId: string }>(
    `SELECT run_id AS "runId" FROM media_runs
      WHERE node = $1 AND slot = $2 AND dead_at IS NULL AND NOT run_id = ANY ($3)`,
    [node, slot, known],
  );
  return rows.map(({ runId }) => runId);
}

/** Null: it is dead, or was never registered. */
export async function nodeOfRun(database: Queryable, runId: string): Promise<string | null> {
  const [row] = await database.query<{ node: string }>(
    'SELECT node FROM media_runs WHERE run_id = $1 AND dead_at IS NULL',
    [runId],
  );
  return row?.node ?? null;
}

/** Another node, by one of its runs. */
export type Neighbour = Pick<NodeName, 'name' | 'home'>;

/** `$1` and `$2` are this node's name and home, `$3` whether those of other names count too. */
const NEIGHBOURS = '((node = $1 AND home <> $2) OR ($3 AND node <> $1)) AND dead_at IS NULL';

/**
 * Asks those of this name that run elsewhere to beat, if they live, or all other nodes: which there are, by their runs.
 * One whose lease is over has not beaten for longer than the answer would be waited for.
 */
export async function askNeighbours(
  database: Queryable,
  { name, home }: NodeName,
  which: 'of its name' | 'all',
): Promise<Neighbour[]> {
  const runs = await database.query<Neighbour & { runId: string }>(
    `SELECT run_id AS "runId", node AS name, home FROM media_runs WHERE ${NEIGHBOURS} AND ${SILENT_MS} <= lease_ms`,
    [name, home, which === 'all'],
  );
  // One by one: two that are held at once could wait for a beat, and that for them.
  for (const { runId } of runs) {
    await database.query('UPDATE media_runs SET asked_at = clock_timestamp() WHERE run_id = $1', [runId]);
  }
  return runs;
}

/** One of them that has beaten since it was asked; null: none has. */
export async function livingNeighbour(
  database: Queryable,
  { name, home }: NodeName,
  which: 'of its name' | 'all',
): Promise<Neighbour | null> {
  const [row] = await database.query<Neighbour>(
    `SELECT node AS name, home FROM media_runs WHERE ${NEIGHBOURS} AND beat_at > asked_at LIMIT 1`,
    [name, home, which === 'all'],
  );
  return row ?? null;
}

/** Runs of this very node live, or did a moment ago: its control starts anew, and their calls go on. */
export async function hasOwnRuns(database: Queryable, { name, home }: NodeName): Promise<boolean> {
  const own = await database.query(
    `SELECT 1 AS one FROM media_runs WHERE node = $1 AND home = $2 AND dead_at IS NULL AND ${SILENT_MS} <= lease_ms LIMIT 1`,
    [name, home],
  );
  return own.length > 0;
}

/** By so much the times of two nodes differ at the most. */
const CLOCKS_APART_MS = 2_000;
/** Of a run: live, and not without an owner yet. `$1` is the run. */
const ITS_CALLS = `owner_run = $1 AND status = 'in_progress' AND media_stopped_at IS NULL AND lease_until IS NULL`;

/**
 * The run is dead, and in the same commit its calls have no owner. A claim that is under way for it ends before this
 * begins, or is refused. How many calls that were; null: somebody else was faster, or it has been heard of since.
 *
 * Everybody waits for calls in the order of their ids, and for a run after those: a claim has its call before it asks
 * for its run. So does this; who has the run waits for no call, but lets go of all and begins again.
 */
export async function fenceRun(
  database: Pick<Database, 'transaction'>,
  { runId, why, onlyIfSilent }: { runId: string; why: string; onlyIfSilent: boolean },
  nowEpochMs: number,
): Promise<number | null> {
  for (;;) {
    try {
      return await database.transaction((tx) => fenceIn(tx, { runId, why, onlyIfSilent }, new Date(nowEpochMs)));
    } catch (error) {
      if (!(error instanceof ClaimedMeanwhile)) throw error;
    }
  }
}

/** Its run won a call after its calls were locked, and somebody changes that call. */
class ClaimedMeanwhile extends Error {}

async function fenceIn(
  tx: Queryable,
  { runId, why, onlyIfSilent }: { runId: string; why: string; onlyIfSilent: boolean },
  now: Date,
): Promise<number | null> {
  await tx.query(`SELECT 1 AS one FROM calls WHERE ${ITS_CALLS} ORDER BY call_uuid FOR NO KEY UPDATE`, [runId]);
  const held = await tx.query(
    `SELECT 1 AS one FROM media_runs WHERE run_id = $1 AND dead_at IS NULL AND (NOT $2 OR ${SILENT_MS} > lease_ms)
       FOR UPDATE`,
    [runId, onlyIfSilent],
  );
  if (held.length === 0) return null;
  await tx.query('UPDATE media_runs SET dead_at = clock_timestamp(), dead_why = $2 WHERE run_id = $1', [runId, why]);
  // Due on each node, also where the time is a little earlier than here (`shared-clock.ts`).
  const calls = await tx.query(
    `UPDATE calls SET lease_until = $2, deadline_at = $2::timestamptz - interval '${CLOCKS_APART_MS} milliseconds'
      WHERE call_uuid IN (SELECT call_uuid FROM calls WHERE ${ITS_CALLS} FOR NO KEY UPDATE SKIP LOCKED)
     RETURNING 1 AS one`,
    [runId, now],
  );
  const left = await tx.query(`SELECT 1 AS one FROM calls WHERE ${ITS_CALLS} LIMIT 1`, [runId]);
  if (left.length > 0) throw new ClaimedMeanwhile();
  return calls.length;
}
