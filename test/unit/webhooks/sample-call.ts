/** A finished call as the webhook tests see it, and the rows that a database needs before one can be recorded. */
import type { CallRecord } from '../../../src/calls/call-record.ts';
import type { Queryable } from '../../../src/store/database.ts';

export const WORKSPACE_ID = '0199f0a0-0000-7000-8000-000000000001';
const AGENT_ID = '0199f0a0-0000-7000-8000-000000000002';
const LINE_ID = '0199f0a0-0000-7000-8000-000000000003';

const at = (seconds: number): Date => new Date(Date.UTC(2026, 10, 21, 1, 4, 15) + seconds * 1_000);

/** Rang from 1 s to 7.2 s, talked for 48.2 s, then the caller hung up. */
export function sampleCall(changes: Partial<CallRecord> = {}): CallRecord {
  return {
    callUuid: '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11',
    workspaceId: WORKSPACE_ID,
    enterprise: 'acme',
    agentId: AGENT_ID,
    agentVersion: 7,
    lineId: LINE_ID,
    leadId: null,
    channel: 'phone',
    direction: 'outbound',
    toNumber: '+14155550123',
    fromNumber: '+14155550100',
    name: 'Asha',
    metadata: { plan: 'gold' },
    idempotencyKey: null,
    requestId: 'req_1',
    status: 'completed',
    endedReason: 'user_hangup',
    hangupBy: 'caller',
    fault: 'none',
    sipCode: 200,
    error: null,
    submission: 'accepted',
    carrier: 'plivo',
    carrierRequestId: null,
    carrierCallId: null,
    assignedRun: null,
    ownerRun: null,
    ownerMediaId: null,
    epoch: 1,
    orphanedAt: null,
    checkpoint: null,
    mediaStoppedAt: null,
    carrierEndedAt: null,
    createdAt: at(0),
    dialedAt: at(0.1),
    ringingAt: at(1),
    answeredAt: at(7.2),
    endedAt: at(55.4),
    deadlineAt: null,
    answeredBy: 'human',
    recordingStatus: 'pending',
    transcriptStatus: 'ready',
    analysisStatus: 'none',
    recording: null,
    recordings: [],
    analysis: null,
    latency: null,
    falseBargeIns: 0,
    warnings: [],
    compliance: null,
    ...changes,
  };
}

export async function insertWorkspace(db: Queryable): Promise<void> {
  await db.query(`INSERT INTO workspaces (id, slug, name) VALUES ($1, 'acme', 'Acme')`, [WORKSPACE_ID]);
  await db.query(
    `INSERT INTO agents (id, workspace_id, name, direction, current_version) VALUES ($1, $2, 'Ada', 'outbound', 7)`,
    [AGENT_ID, WORKSPACE_ID],
  );
  await db.query(
    `INSERT INTO phone_lines (id, workspace_id, number, carrier) VALUES ($1, $2, '+14155550100', 'plivo')`,
    [LINE_ID, WORKSPACE_ID],
  );
}

/** The row of `call`, as far as webhooks need it. */
export async function insertCall(db: Queryable, call: CallRecord): Promise<void> {
  await db.query(
    `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, to_number, from_number, name,
       request_id, status, ended_reason, carrier, created_at, answered_at, ended_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    [
      call.callUuid,
      call.workspaceId,
      call.agentId,
      call.agentVersion,
      call.lineId,
      call.toNumber,
      call.fromNumber,
      call.name,
      call.requestId,
      call.status,
      call.endedReason,
      call.carrier,
      call.createdAt,
      call.answeredAt,
      call.endedAt,
    ],
  );
}
