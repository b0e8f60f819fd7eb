/**
 * Removes parts of a finished call for good (contract §13, §17): recordings, turns, events, what was said of the
 * person, in every copy that Parley has. The row stays, with its times and outcome, and says `deleted`. Called by the
 * API, the command line and the hourly purge. Repeating it is fine. What a media process still tells of a deleted part
 * is dropped (`media-messages.ts`, `recording-report.ts`).
 */
import { rm } from 'node:fs/promises';
import type { Clock } from '../../media/contract/clock.ts';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { CALL_PARTS, type CallPart } from '../calls/call-parts.ts';
import { type CallPatch, type CallRow, lockCall, patchCall } from '../calls/call-row.ts';
import { isTerminal } from '../calls/state-machine.ts';
import type { RecordingEraser } from '../recordings/erase-recordings.ts';
import type { Database, Queryable } from '../store/database.ts';
import { isHeld } from './legal-holds.ts';
import { type PurgeReceipt, type Removed, writeReceipt } from './purge-receipts.ts';

/**
 * `not_over`: the call has not ended. `held`: a legal hold. `deleted_before`: its time was over and another node has
 * removed it meanwhile. Nothing was removed then.
 */
export type Deletion = 'unknown_call' | 'not_over' | 'held' | 'deleted_before' | 'deleted';

export interface DeletionRequest {
  workspaceId: string;
  callUuid: string;
  parts: readonly CallPart[];
  by: ChangedBy;
  /** Default: somebody asked. */
  cause?: PurgeReceipt['cause'];
}

export interface DeleteDeps {
  database: Database;
  clock: Pick<Clock, 'epochMs'>;
  eraser: RecordingEraser;
}

/**
 * Rejects when the database is away; then nothing was removed. Sealed bytes of recordings that cannot be removed now (a
 * store that is down) cannot be read any more, and are removed later.
 */
export async function deleteCallParts(deps: DeleteDeps, request: DeletionRequest): Promise<Deletion> {
  const { workspaceId, callUuid, by } = request;
  const outcome = await deps.database.transaction(async (tx) => {
    const call = await lockCall(tx, callUuid);
    if (call === undefined || call.workspaceId !== workspaceId) return 'unknown_call';
    if (!isTerminal(call.status)) return 'not_over';
    if (await isHeld(tx, call)) return 'held';
    const parts = await partsOf(tx, request);
    if (parts.length === 0) return 'deleted_before';
    const removed: Removed = { recordings: [], turns: 0, events: 0, webhookBodies: 0 };
    const patch: CallPatch = {};
    for (const part of parts) Object.assign(patch, await REMOVERS[part](tx, call, removed, deps.eraser));
    await patchCall(tx, callUuid, patch);
    await markPurged(tx, callUuid, parts);
    removed.webhookBodies = await blankWebhooks(tx, callUuid, parts);
    await recordAudit(tx, {
      workspaceId,
      by,
      action: 'call.deleted',
      target: `call:${callUuid}`,
      before: { recordings: call.recordings.length, ...statusesOf(call) },
      after: { parts, ...statusesOf({ ...call, ...patch }) },
    });
    const at = new Date(deps.clock.epochMs());
    const cause = request.cause ?? 'erase';
    await writeReceipt(tx, { workspaceId, callUuid, kinds: parts, cause, actor: by.actor, removed, at });
    return 'deleted';
  });
  if (outcome === 'deleted' && request.parts.includes('recording')) await deps.eraser.removeBytes(callUuid);
  return outcome;
}

/** In their order. Whoever asks for it has all removed again; retention, which any node does, each part once. */
async function partsOf(tx: Queryable, { callUuid, parts, cause }: DeletionRequest): Promise<CallPart[]> {
  const wanted = CALL_PARTS.filter((part) => parts.includes(part));
  if (cause !== 'retention') return wanted;
  const [row] = await tx.query<{ purged: CallPart[] }>(
    'SELECT purged_kinds AS purged FROM calls WHERE call_uuid = $1',
    [callUuid],
  );
  return wanted.filter((part) => row?.purged.includes(part) !== true);
}

async function markPurged(tx: Queryable, callUuid: string, parts: readonly CallPart[]): Promise<void> {
  await tx.query(
    `UPDATE calls SET purged_kinds = (SELECT array_agg(DISTINCT kind) FROM unnest(purged_kinds || $2::text[]) AS kind)
      WHERE call_uuid = $1`,
    [callUuid, parts],
  );
}

function statusesOf(call: CallRow): object {
  const { recordingStatus, transcriptStatus, analysisStatus } = call;
  return { recordingStatus, transcriptStatus, analysisStatus };
}

/** Words of the conversation in events of other kinds: what was heard, what a tool was asked and what it answered. */
const WORDS_IN_EVENTS = ['heardText', 'text', 'arguments', 'result', 'saying', 'variables'];

type Remover = (tx: Queryable, call: CallRow, removed: Removed, eraser: RecordingEraser) => Promise<CallPatch>;

const REMOVERS: Record<CallPart, Remover> = {
  async recording(tx, call, removed, eraser) {
    removed.recordings = await eraser.forgetKeys(tx, call.callUuid);
    // Of versions that wrote in the clear, beside the row.
    for (const { path } of call.recordings as { path?: string }[])
      if (path !== undefined) await rm(path, { force: true });
    return { recordings: [], recording: null, recordingStatus: deletedUnlessNone(call.recordingStatus) };
  },
  async transcript(tx, call, removed) {
    removed.turns += await count(tx, 'DELETE FROM call_turns WHERE call_uuid = $1', [call.callUuid]);
    removed.events += await count(tx, `DELETE FROM call_events WHERE call_uuid = $1 AND kind IN ('turn', 'partial')`, [
      call.callUuid,
    ]);
    await tx.query('UPDATE call_events SET data = data - $2::text[] WHERE call_uuid = $1 AND data ?| $2::text[]', [
      call.callUuid,
      WORDS_IN_EVENTS,
    ]);
    // The script's variables are what the caller said, and so are the quotes of an analysis.
    const analysis = call.analysis === null ? null : { ...call.analysis, evidence: [] };
    return {
      checkpoint: null,
      analysis,
      transcriptStatus: call.answeredAt === null ? call.transcriptStatus : 'deleted',
    };
  },
  async analysis(tx, call, removed) {
    removed.events += await count(tx, `DELETE FROM call_events WHERE call_uuid = $1 AND kind LIKE 'analysis%'`, [
      call.callUuid,
    ]);
    return { analysis: null, analysisStatus: deletedUnlessNone(call.analysisStatus) };
  },
  async events(tx, call, removed) {
    removed.events += await count(tx, 'DELETE FROM call_events WHERE call_uuid = $1', [call.callUuid]);
    removed.events += await count(tx, 'DELETE FROM tool_calls WHERE call_uuid = $1', [call.callUuid]);
    // The search knows of some of them.
    await tx.query('SELECT call_search_write(c) FROM calls c WHERE c.call_uuid = $1', [call.callUuid]);
    return {};
  },
  async metadata(tx, call) {
    await blankPermits(tx, call.callUuid);
    await blankStoredAnswers(tx, call.callUuid);
    const person = call.direction === 'inbound' ? { fromNumber: '' } : { toNumber: '' };
    return { name: '', metadata: {}, leadValues: null, compliance: null, ...person };
  },
};

async function count(tx: Queryable, statement: string, parameters: readonly unknown[]): Promise<number> {
  return (await tx.query(`${statement} RETURNING 1 AS one`, parameters)).length;
}

/** That the dial was allowed stays provable to whoever has the permit's text; the number in it does not stay here. */
async function blankPermits(tx: Queryable, callUuid: string): Promise<void> {
  await tx.query(
    `UPDATE dial_permits SET phone = '', body = 'sha256:' || encode(sha256(convert_to(body, 'UTF8')), 'hex')
      WHERE call_uuid = $1 AND phone <> ''`,
    [callUuid],
  );
}

/**
 * A stored answer may repeat the request (`Prefer: return=representation`); a replay then has the same fields, empty.
 */
async function blankStoredAnswers(tx: Queryable, callUuid: string): Promise<void> {
  const rows = await tx.query<{ methodPath: string; key: string; workspaceId: string; body: string }>(
    `SELECT workspace_id AS "workspaceId", method_path AS "methodPath", key, response_body AS body
       FROM idempotency_keys WHERE call_uuid = $1 AND response_body IS NOT NULL FOR UPDATE`,
    [callUuid],
  );
  for (const { methodPath, key, workspaceId, body } of rows) {
    const answer = JSON.parse(body) as { call?: Record<string, unknown> };
    if (answer.call === undefined) continue;
    Object.assign(answer.call, { to: '', name: '', metadata: {}, compliance: null });
    await tx.query(
      'UPDATE idempotency_keys SET response_body = $4 WHERE workspace_id = $1 AND method_path = $2 AND key = $3',
      [workspaceId, methodPath, key, JSON.stringify(answer)],
    );
  }
}

function deletedUnlessNone(status: CallRow['recordingStatus']): CallRow['recordingStatus'] {
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

/** Returns how many bodies it went through. */
async function blankWebhooks(tx: Queryable, callUuid: string, parts: readonly CallPart[]): Promise<number> {
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
  return rows.length;
}
