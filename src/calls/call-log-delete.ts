/**
 * Removes parts of a finished call for good (contract §13, §17): files, turns, events, what was said of the person. The row stays,
 * with its times and outcome, and says `deleted`. Called by the API and the command line. Repeating it is fine. What a media
 * process still tells of a deleted part is dropped (`media-messages.ts`).
 */
import { rm } from 'node:fs/promises';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Database, Queryable } from '../store/database.ts';
import { type CallPatch, type LiveCall, lockCall, patchCall } from './live-call.ts';
import { isTerminal } from './state-machine.ts';

export const CALL_PARTS = ['recording', 'transcript', 'analysis', 'events', 'metadata'] as const;
export type CallPart = (typeof CALL_PARTS)[number];

/** `live`: the call has not ended, and nothing was removed. */
export type Deletion = 'unknown_call' | 'live' | 'deleted';

export interface DeletionRequest {
  workspaceId: string;
  callUuid: string;
  parts: readonly CallPart[];
  by: ChangedBy;
}

/** Rejects when a file cannot be removed; then the row still says that it is there. */
export async function deleteCallParts(database: Database, request: DeletionRequest): Promise<Deletion> {
  const { workspaceId, callUuid, by } = request;
  const parts = CALL_PARTS.filter((part) => request.parts.includes(part));
  return database.transaction(async (tx) => {
    const call = await lockCall(tx, callUuid);
    if (call === undefined || call.workspaceId !== workspaceId) return 'unknown_call';
    if (!isTerminal(call.status)) return 'live';
    const patch: CallPatch = {};
    for (const part of parts) Object.assign(patch, await REMOVERS[part](tx, call));
    await patchCall(tx, callUuid, patch);
    await blankWebhooks(tx, callUuid, parts);
    await recordAudit(tx, {
      workspaceId,
      by,
      action: 'call.deleted',
      target: `call:${callUuid}`,
      before: { recordings: call.recordings.length, ...statusesOf(call) },
      after: { parts, ...statusesOf({ ...call, ...patch }) },
    });
    return 'deleted';
  });
}

function statusesOf(call: LiveCall): object {
  const { recordingStatus, transcriptStatus, analysisStatus } = call;
  return { recordingStatus, transcriptStatus, analysisStatus };
}

const REMOVERS: Record<CallPart, (tx: Queryable, call: LiveCall) => Promise<CallPatch>> = {
  async recording(_tx, call) {
    // Before the row forgets where they lie: a crash between the two leaves a row whose file is gone, and repeating mends it.
    for (const { path } of call.recordings) await rm(path, { force: true });
    return { recordings: [], recording: null, recordingStatus: deletedUnlessNone(call.recordingStatus) };
  },
  async transcript(tx, call) {
    await tx.query('DELETE FROM call_turns WHERE call_uuid = $1', [call.callUuid]);
    await tx.query(`DELETE FROM call_events WHERE call_uuid = $1 AND kind IN ('turn', 'partial')`, [call.callUuid]);
    await tx.query(
      `UPDATE call_events SET data = data - 'heardText' - 'text' WHERE call_uuid = $1 AND data ?| '{heardText,text}'`,
      [call.callUuid],
    );
    // The script's variables are what the caller said, and so are the quotes of an analysis.
    const analysis = call.analysis === null ? null : { ...call.analysis, evidence: [] };
    return {
      checkpoint: null,
      analysis,
      transcriptStatus: call.answeredAt === null ? call.transcriptStatus : 'deleted',
    };
  },
  async analysis(tx, call) {
    await tx.query(`DELETE FROM call_events WHERE call_uuid = $1 AND kind LIKE 'analysis%'`, [call.callUuid]);
    return { analysis: null, analysisStatus: deletedUnlessNone(call.analysisStatus) };
  },
  async events(tx, call) {
    await tx.query('DELETE FROM call_events WHERE call_uuid = $1', [call.callUuid]);
    await tx.query('DELETE FROM tool_calls WHERE call_uuid = $1', [call.callUuid]);
    return {};
  },
  async metadata(_tx, call) {
    const person = call.direction === 'inbound' ? { fromNumber: '' } : { toNumber: '' };
    return { name: '', metadata: {}, ...person };
  },
};

function deletedUnlessNone(status: LiveCall['recordingStatus']): LiveCall['recordingStatus'] {
  return status === 'none' ? 'none' : 'deleted';
}

/** What stored webhook bodies say of each part; a body that was not yet delivered goes out without it. */
const BLANKS: Record<CallPart, Record<string, unknown>> = {
  recording: { recording: null, recordings: [] },
  transcript: { transcript: null },
  analysis: { intent: null, summary: null, analysis: null },
  events: {},
  metadata: { name: '', to: '', metadata: {} },
};

async function blankWebhooks(tx: Queryable, callUuid: string, parts: readonly CallPart[]): Promise<void> {
  const rows = await tx.query<{ id: string; body: string }>(
    `SELECT id, body FROM webhook_events WHERE call_uuid = $1 AND body <> '' FOR UPDATE`,
    [callUuid],
  );
  for (const { id, body } of rows) {
    const told = JSON.parse(body) as Record<string, unknown>;
    const blanks = Object.entries(Object.assign({}, ...parts.map((part) => BLANKS[part])) as object);
    const blanked = { ...told, ...Object.fromEntries(blanks.filter(([name]) => name in told)) };
    if (told['direction'] === 'inbound' && parts.includes('metadata')) {
      Object.assign(blanked, { to: told['to'], fromNumber: '' });
    }
    // Quotes of the transcript.
    const { analysis } = blanked as { analysis?: object | null };
    if (parts.includes('transcript') && analysis) Object.assign(blanked, { analysis: { ...analysis, evidence: [] } });
    await tx.query('UPDATE webhook_events SET body = $2 WHERE id = $1', [id, JSON.stringify(blanked)]);
  }
}
