/**
 * Which signed callbacks of a call were acted on. A callback is noted in the transaction of what it changes, so one
 * that failed may be sent again, and of several copies one counts. Kept until the call is over.
 */
import { createHash } from 'node:crypto';
import { inBatches } from '../store/batches.ts';
import type { Queryable } from '../store/database.ts';
import type { Write } from '../store/joint-write.ts';

/** Thrown inside a transaction: what the callback says was done before, and is not done again. */
export class ActedOnBefore extends Error {}

const PURGE_BATCH = 5_000;

/** `signature`: the right one, whatever the headers look like in which it came. */
export function actedOn(callUuid: string, signature: string): Write {
  return {
    sql: (place) =>
      `INSERT INTO carrier_callbacks (call_uuid, signature_sha256)
       VALUES (${place(callUuid)}, ${place(digestOf(signature))}) ON CONFLICT DO NOTHING RETURNING 1 AS one`,
    returns: {
      value: 'count(*)::int',
      to(noted) {
        if (noted === 0) throw new ActedOnBefore();
      },
    },
  };
}

/**
 * A callback that changes nothing and is a line of the call's log: noted and written in one statement. The row is
 * locked before its id is taken, as by all who append; a call that is gone leaves nothing.
 */
export async function noteInLog(
  database: Queryable,
  callUuid: string,
  signature: string,
  line: { kind: string; data: object; atEpochMs: number },
): Promise<void> {
  const [done] = await database.query<{ isThere: boolean; isNews: boolean }>(
    `WITH call AS MATERIALIZED (SELECT call_uuid FROM calls WHERE call_uuid = $1 FOR UPDATE),
     acted AS (
       INSERT INTO carrier_callbacks (call_uuid, signature_sha256) SELECT call_uuid, $2 FROM call
       ON CONFLICT DO NOTHING RETURNING call_uuid),
     told AS (INSERT INTO call_events (call_uuid, at, kind, data) SELECT call_uuid, $3, $4, $5::jsonb FROM acted)
     SELECT EXISTS (SELECT 1 FROM call) AS "isThere", EXISTS (SELECT 1 FROM acted) AS "isNews"`,
    [callUuid, digestOf(signature), new Date(line.atEpochMs), line.kind, JSON.stringify(line.data)],
  );
  if (done?.isThere === true && !done.isNews) throw new ActedOnBefore();
}

export async function wasActedOn(database: Queryable, callUuid: string, signature: string): Promise<boolean> {
  const rows = await database.query(
    'SELECT 1 AS one FROM carrier_callbacks WHERE call_uuid = $1 AND signature_sha256 = $2',
    [callUuid, digestOf(signature)],
  );
  return rows.length > 0;
}

/** Those of calls that are over. What a carrier still says of one is told late, and changes nothing. */
export async function purgeCarrierCallbacks(database: Queryable, isOver?: () => boolean): Promise<void> {
  const remove = async (limit: number): Promise<number> => {
    const rows = await database.query(
      `DELETE FROM carrier_callbacks WHERE (call_uuid, signature_sha256) IN (
         SELECT s.call_uuid, s.signature_sha256 FROM carrier_callbacks s JOIN calls c ON c.call_uuid = s.call_uuid
         WHERE c.ended_at < now() - interval '1 hour' LIMIT $1) RETURNING 1 AS one`,
      [limit],
    );
    return rows.length;
  };
  await inBatches(PURGE_BATCH, remove, isOver);
}

function digestOf(signature: string): Buffer {
  return createHash('sha256').update(signature).digest();
}
