/**
 * How a call went on after what carried it was lost: its `recovery` in the call log, and what the filter
 * `hasRecovery` finds. A pipeline thread that died, a model or a voice that was late or failed, tells of it in the
 * call's events; a media stream that was lost shows in the call's epoch, which counts its streams.
 */

import type { RecoveryKind } from '../../media/contract/conversation.ts';
import type { CallRecord } from '../calls/call-record.ts';
import type { Queryable } from '../store/database.ts';
import { facet } from './call-log-query.ts';

export interface Recovery {
  what: RecoveryKind | 'media_stream';
  /** Null: the events of the call are deleted. */
  at: Date | null;
  /** On the clock of the stream. */
  atMs: number | null;
  gapMs: number | null;
  /** For people; null: there is nothing to add. */
  message: string | null;
}

interface Row {
  callUuid: string;
  kind: 'recovery' | 'media.claimed';
  at: Date;
  data: { what?: RecoveryKind; atMs?: number; gapMs?: number; message?: string };
}

/** Only of calls that the search knows to have one, so that a page of others reads no events; of these days alone. */
const READ = `
  SELECT e.call_uuid AS "callUuid", e.kind, e.at, e.data
    FROM call_search s JOIN call_events e ON e.call_uuid = s.call_uuid
   WHERE s.call_uuid = ANY ($1::uuid[]) AND s.document @@ $2::tsquery AND e.call_uuid = ANY ($1::uuid[])
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
    const what = kind === 'media.claimed' ? 'media_stream' : (data.what ?? 'pipeline_thread');
    const { atMs = null, gapMs = null, message = null } = data;
    const one: Recovery = { what, at, atMs, gapMs, message };
    found.set(callUuid, [...(found.get(callUuid) ?? []), one]);
  }
  for (const { callUuid, epoch } of calls) {
    if (epoch <= 1 || found.has(callUuid)) continue;
    const lost: Recovery = { what: 'media_stream', at: null, atMs: null, gapMs: null, message: null };
    found.set(
      callUuid,
      Array.from({ length: epoch - 1 }, () => lost),
    );
  }
  return found;
}
