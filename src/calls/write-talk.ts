/**
 * What running calls tell, written in one statement for all of them: it locks their rows, and writes lines of their
 * logs, turns and checkpoints of those that are still the teller's. Called by `src/media-link/live-batch.ts`.
 */
import type { Turn } from '../../media/contract/conversation.ts';
import type { Queryable } from '../store/database.ts';
import type { Write } from '../store/joint-write.ts';
import { ACTIVE } from './active-statuses.ts';
import { asEvent, type CallLogLine } from './append-call-log.ts';
import type { CallEvent } from './call-event-bus.ts';
import type { CallRow } from './call-row.ts';

export interface Talk {
  /** Who tells, and as which epoch; a call stands once. */
  calls: readonly { callUuid: string; epoch: number }[];
  /** Of each call in its order. */
  lines: readonly (CallLogLine & { callUuid: string })[];
  turns: readonly ToldTurn[];
  /** One of a call. */
  checkpoints: readonly { callUuid: string; checkpoint: CallRow['checkpoint'] }[];
}

/** A turn may be told again when more of it was heard: the last word counts. `t12` stands at position 12. */
export interface ToldTurn {
  callUuid: string;
  turn: Turn;
}

export type Standing = Pick<CallRow, 'callUuid' | 'epoch' | 'orphanedAt' | 'transcriptStatus'>;

export interface WrittenTalk {
  /** Of the calls that there are. */
  standings: ReadonlyMap<string, Standing>;
  /**
   * Of these all is written. Of the others nothing: another epoch owns the call, or nobody, or it is over, or its words
   * were deleted, and what is told of it changes more than this.
   */
  written: ReadonlySet<string>;
  /** The lines of those, as stored. */
  events: CallEvent[];
}

/** The one place where it is decided whose talk is taken, as `isWriter` does of one call: all else joins `owned`. */
const WRITE = `
  WITH owned AS MATERIALIZED (
    SELECT c.call_uuid, c.epoch, c.lease_until, c.transcript_status,
           c.epoch = teller.epoch AND c.lease_until IS NULL AND c.status IN ${ACTIVE} AND c.transcript_status <> 'deleted' AS is_open
      FROM unnest($1::uuid[], $2::int[]) AS teller (call_uuid, epoch) JOIN calls c ON c.call_uuid = teller.call_uuid
     ORDER BY c.call_uuid FOR NO KEY UPDATE OF c),
  turns AS (
    INSERT INTO call_turns (call_uuid, turn_id, position, turn)
    SELECT told.call_uuid, told.turn_id, told.position, told.turn
      FROM unnest($7::uuid[], $8::text[], $9::int[], $10::jsonb[]) AS told (call_uuid, turn_id, position, turn)
      JOIN owned ON owned.call_uuid = told.call_uuid AND owned.is_open
    ON CONFLICT (call_uuid, turn_id) DO UPDATE SET turn = EXCLUDED.turn),
  checkpoints AS (
    UPDATE calls c SET checkpoint = told.checkpoint
      FROM unnest($11::uuid[], $12::jsonb[]) AS told (call_uuid, checkpoint)
      JOIN owned ON owned.call_uuid = told.call_uuid AND owned.is_open
     WHERE c.call_uuid = told.call_uuid),
  lines AS (
    INSERT INTO call_events (call_uuid, at, kind, data)
    SELECT line.call_uuid, line.at, line.kind, line.data
      FROM unnest($3::uuid[], $4::timestamptz[], $5::text[], $6::jsonb[])
           WITH ORDINALITY AS line (call_uuid, at, kind, data, position)
      JOIN owned ON owned.call_uuid = line.call_uuid AND owned.is_open
     ORDER BY line.position
    RETURNING id)
  SELECT (SELECT array_agg(id) FROM lines) AS ids,
         (SELECT jsonb_agg(jsonb_build_object('callUuid', call_uuid, 'epoch', epoch, 'orphanedAt', lease_until,
                                              'transcriptStatus', transcript_status, 'isOpen', is_open)) FROM owned) AS calls`;

export async function writeTalk(database: Queryable, { calls, lines, turns, checkpoints }: Talk): Promise<WrittenTalk> {
  const last = lastWords(turns);
  const [row] = await database.query<{
    ids: string[] | null;
    calls: (Omit<Standing, 'orphanedAt'> & { orphanedAt: string | null; isOpen: boolean })[] | null;
  }>(WRITE, [
    calls.map(({ callUuid }) => callUuid),
    calls.map(({ epoch }) => epoch),
    lines.map(({ callUuid }) => callUuid),
    lines.map(({ atEpochMs }) => new Date(atEpochMs)),
    lines.map(({ kind }) => kind),
    lines.map(({ data }) => JSON.stringify(data)),
    last.map(({ callUuid }) => callUuid),
    last.map(({ turn }) => turn.turnId),
    last.map(({ turn }) => positionOf(turn)),
    last.map(({ turn }) => JSON.stringify(turn)),
    checkpoints.map(({ callUuid }) => callUuid),
    checkpoints.map(({ checkpoint }) => JSON.stringify(checkpoint)),
  ]);
  const found = row!.calls ?? [];
  const written = new Set(found.filter(({ isOpen }) => isOpen).map(({ callUuid }) => callUuid));
  const stored = lines.filter(({ callUuid }) => written.has(callUuid));
  return {
    standings: new Map(
      found.map((row) => [
        row.callUuid,
        { ...row, orphanedAt: row.orphanedAt === null ? null : new Date(row.orphanedAt) },
      ]),
    ),
    written,
    events: stored.map((line, index) => asEvent(line.callUuid, line, row!.ids![index]!)),
  };
}

/** Turns as a part of one call's change. */
export function turnsWrite(turns: readonly ToldTurn[]): Write {
  const last = lastWords(turns);
  return {
    sql: (place) =>
      `INSERT INTO call_turns (call_uuid, turn_id, position, turn)
       SELECT * FROM unnest(${place(last.map(({ callUuid }) => callUuid))}::uuid[],
                            ${place(last.map(({ turn }) => turn.turnId))}::text[],
                            ${place(last.map(({ turn }) => positionOf(turn)))}::int[],
                            ${place(last.map(({ turn }) => JSON.stringify(turn)))}::jsonb[])
       ON CONFLICT (call_uuid, turn_id) DO UPDATE SET turn = EXCLUDED.turn`,
  };
}

function lastWords(turns: readonly ToldTurn[]): ToldTurn[] {
  return [...new Map(turns.map((one) => [`${one.callUuid} ${one.turn.turnId}`, one])).values()];
}

/** Among the turns of its call. */
export function positionOf({ turnId }: Turn): number {
  return Number(/\d+/.exec(turnId)?.[0] ?? 0);
}
