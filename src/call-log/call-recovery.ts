/**
 * How a call went on after what carried it was lost: its `recovery` in the call log, and what the filter `hasRecovery`
 * finds. A pipeline thread that died tells of it in the call's events; a media stream that was lost shows in the call's
 * epoch, which counts its streams.
 */

import type { CallRecord } from '../calls/call-record.ts';
import type { Queryable } from '../store/database.ts';
import { facet } from './call-log-query.ts';

export interface Recovery {
  what: 'pipeline_thread' | 'media_stream';
  /** Null: the events of the call are deleted. */
  at: Date | null;
  /** On the clock of the stream. */
  atMs: number | null;
  gapMs: number | null;
}

interface Row {
  callUuid: string;
  kind: 'recovery' | 'media.claimed';
  at: Date;
  data: { what?: Recovery['what']; atMs?: number; gapMs?: number };
}

/** Only of calls that the search knows to have one, so that a page of others reads no events. */
const READ = `
  SELECT e.call_uuid AS "callUuid", e.kind, e.at, e.data
    FROM call_search s JOIN call_events e ON e.call_uuid = s.call_uuid
   WHERE s.call_uuid = ANY ($1::uuid[]) AND s.document @@ $2::tsquery
     AND (e.kind = 'recovery' OR e.kind = 'media.claimed' AND (e.data ->> 'epoch')::int > 1)
   ORDER BY e.id`;

/** By call; a call without any is not in it. Oldest first. */
export async function recoveriesOf(
  database: Queryable,
  calls: readonly Pick<CallRecord, 'callUuid' | 'epoch'>[],
): Promise<Map<string, Recovery[]>> {
  const found = new Map<string, Recovery[]>();
  if (calls.length === 0) return found;
  const rows = await database.query<Row>(READ, [calls.map(({ callUuid }) => callUuid), facet('hasRecovery', 'true')]);
  for (const { callUuid, kind, at, data } of rows) {
    const what = kind === 'media.claimed' ? 'media_stream' : 'pipeline_thread';
    const one: Recovery = { what, at, atMs: data.atMs ?? null, gapMs: data.gapMs ?? null };
    found.set(callUuid, [...(found.get(callUuid) ?? []), one]);
  }
  for (const { callUuid, epoch } of calls) {
    if (epoch <= 1 || found.has(callUuid)) continue;
    const lost: Recovery = { what: 'media_stream', at: null, atMs: null, gapMs: null };
    found.set(
      callUuid,
      Array.from({ length: epoch - 1 }, () => lost),
    );
  }
  return found;
}
