/** A call as `placement.ts` makes it, for tests of the pure parts. */
import type { LiveCall } from '../../../src/calls/live-call.ts';
import { nextDeadline } from '../../../src/calls/timers.ts';

export const DIALED_AT_EPOCH_MS = Date.UTC(2026, 10, 21, 1, 0, 0);

export function aCall(changes: Partial<LiveCall> = {}): LiveCall {
  const dialedAt = new Date(DIALED_AT_EPOCH_MS);
  const call: LiveCall = {
    callUuid: '0199f0a2-6c1e-7b7a-9a58-3f6b6f0a2c11',
    workspaceId: '0199f0a2-0000-7b7a-9a58-000000000001',
    enterprise: 'acme',
    agentId: '0199f0a2-0000-7b7a-9a58-000000000002',
    agentVersion: 1,
    lineId: '0199f0a2-0000-7b7a-9a58-000000000003',
    channel: 'phone',
    direction: 'outbound',
    toNumber: '+14155550123',
    fromNumber: '+14155550100',
    name: 'Asha',
    metadata: {},
    idempotencyKey: null,
    requestId: 'req-1',
    status: 'dialing',
    endedReason: null,
    hangupBy: null,
    fault: null,
    sipCode: null,
    error: null,
    submission: null,
    carrier: 'plivo',
    carrierRequestId: null,
    carrierCallId: null,
    ownerMediaId: null,
    epoch: 0,
    leaseUntil: null,
    checkpoint: null,
    mediaStoppedAt: null,
    carrierEndedAt: null,
    createdAt: dialedAt,
    dialedAt,
    ringingAt: null,
    answeredAt: null,
    endedAt: null,
    deadlineAt: null,
    answeredBy: null,
    recordingStatus: 'none',
    transcriptStatus: 'none',
    analysisStatus: 'none',
    recording: null,
    recordings: [],
    latency: null,
    warnings: [],
    ringTimeoutSeconds: 30,
    maxDurationSeconds: 1800,
    lateAcceptance: 'cancel',
    submissionAt: null,
    ending: null,
    mediaTokenUsedAt: null,
    ...changes,
  };
  return { ...call, deadlineAt: changes.deadlineAt ?? nextDeadline(call, DIALED_AT_EPOCH_MS) };
}
