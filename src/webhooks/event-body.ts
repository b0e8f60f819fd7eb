/**
 * The flat body of a webhook event (contract §6): the specification's keys first, then what every event has, then what
 * this event adds. Pure; called by `outbox.ts` inside the transaction of the change that the event reports.
 */
import { failureOf } from '../calls/call-failure.ts';
import type { CallRecord } from '../calls/call-record.ts';
import { publicMetadata, ringSeconds, secondsBetween } from '../calls/shown-fields.ts';
import type { CallEventName, WorkspaceEventName } from './events.ts';
import { cutTranscript } from './transcript.ts';

export const API_VERSION = '1';
/** UTF-8 bytes of transcript in a body; one longer is cut and `transcriptTruncated` says so. */
export const MAX_TRANSCRIPT_BYTES = 64 * 1024;

export interface EventFacts {
  event: CallEventName;
  id: string;
  timestampEpochMs: number;
  /** 1, 2, 3 … per call. */
  sequence: number;
  /** Of the whole call, as heard; null when nobody was heard. */
  transcript: string | null;
  /** How many turns the conversation had. */
  turnCount: number;
  /** What only the caller knows; wins over what is derived here, `intent` and `summary` included. */
  extra: Readonly<Record<string, unknown>>;
}

type Body = Record<string, unknown>;

/** `call` is the row after the change. Key order is that of the contract's example. */
export function buildEventBody(call: CallRecord, facts: EventFacts): Body {
  const heard = call.status === 'no_answer' ? null : facts.transcript;
  const cut = heard === null ? null : cutTranscript(heard, MAX_TRANSCRIPT_BYTES);
  return {
    event: facts.event,
    callUuid: call.callUuid,
    to: call.toNumber,
    transcript: cut?.text ?? null,
    intent: call.analysis?.intent ?? null,
    summary: call.analysis?.summary ?? null,
    id: facts.id,
    apiVersion: API_VERSION,
    timestamp: new Date(facts.timestampEpochMs).toISOString(),
    sequence: facts.sequence,
    enterprise: call.enterprise,
    agentId: call.agentId,
    agentVersion: call.agentVersion,
    leadId: call.leadId,
    campaignId: null,
    channel: call.channel,
    direction: call.direction,
    from: call.lineId,
    fromNumber: call.fromNumber,
    name: call.name,
    metadata: publicMetadata(call.metadata),
    status: call.status,
    endedReason: call.endedReason,
    hangupBy: call.hangupBy,
    fault: call.fault,
    ...fieldsOf(call, facts),
    ...(cut?.truncated ? { transcriptTruncated: true } : {}),
    ...facts.extra,
  };
}

export interface WorkspaceEventFacts {
  event: WorkspaceEventName;
  id: string;
  timestampEpochMs: number;
  /** The workspace's slug. */
  enterprise: string;
  /** What this event adds; wins over what stands in every event. */
  fields: Readonly<Record<string, unknown>>;
}

/** Of no call: the five keys of the specification are there all the same, and null. */
export function buildWorkspaceEventBody(facts: WorkspaceEventFacts): Body {
  return {
    event: facts.event,
    callUuid: null,
    to: null,
    transcript: null,
    intent: null,
    summary: null,
    id: facts.id,
    apiVersion: API_VERSION,
    timestamp: new Date(facts.timestampEpochMs).toISOString(),
    sequence: 1,
    enterprise: facts.enterprise,
    ...facts.fields,
  };
}

function fieldsOf(call: CallRecord, facts: EventFacts): Body {
  switch (facts.event) {
    case 'call.ringing':
      return { createdAt: iso(call.createdAt), ringingAt: iso(call.ringingAt) };
    case 'call.answered':
      return {
        createdAt: iso(call.createdAt),
        ringingAt: iso(call.ringingAt),
        answeredAt: iso(call.answeredAt),
        ringSeconds: ringSeconds(call),
        answeredBy: call.answeredBy,
      };
    case 'call.completed':
      return completedFields(call, facts.turnCount);
    case 'call.no_answer':
      return noAnswerFields(call);
    case 'call.failed':
      return failedFields(call);
    case 'recording.ready':
      return { recordingStatus: call.recordingStatus };
    case 'tool.failed':
      return {};
    case 'analysis.completed':
      return { analysisStatus: call.analysisStatus };
  }
}

function completedFields(call: CallRecord, turnCount: number): Body {
  return {
    createdAt: iso(call.createdAt),
    ringingAt: iso(call.ringingAt),
    answeredAt: iso(call.answeredAt),
    endedAt: iso(call.endedAt),
    ringSeconds: ringSeconds(call),
    ...talkTime(call),
    answeredBy: call.answeredBy,
    answeredByConfidence: null,
    sipCode: call.sipCode,
    recordingStatus: call.recordingStatus,
    analysisStatus: call.analysisStatus,
    turns: turnCount,
    latency: latencyOf(call.latency),
    quality: null,
    transfer: null,
  };
}

function noAnswerFields(call: CallRecord): Body {
  return {
    createdAt: iso(call.createdAt),
    endedAt: iso(call.endedAt),
    ringSeconds: ringSeconds(call),
    sipCode: call.sipCode,
    sipReason: null,
    attempt: 1,
    nextAttemptAt: null,
  };
}

function failedFields(call: CallRecord): Body {
  const failure = failureOf(call);
  return {
    ...noAnswerFields(call),
    error: failure && {
      code: failure.code,
      message: failure.message,
      provider: failure.provider,
      retryable: failure.retryable,
    },
    ...(call.answeredAt === null
      ? {}
      : {
          ringingAt: iso(call.ringingAt),
          answeredAt: iso(call.answeredAt),
          ...talkTime(call),
          recordingStatus: call.recordingStatus,
          analysisStatus: call.analysisStatus,
        }),
  };
}

/** Billable seconds are begun seconds of talk; what a carrier bills is on its invoice. */
function talkTime(call: CallRecord): Body {
  const durationSeconds = secondsBetween(call.answeredAt, call.endedAt);
  return { durationSeconds, billableSeconds: durationSeconds === null ? null : Math.ceil(durationSeconds) };
}

/** The two figures that a receiver charts; the call log has the rest. */
function latencyOf(latency: Record<string, unknown> | null): Body | null {
  if (latency === null) return null;
  return {
    mouthToEarMs: pick(latency['mouthToEarMs'], ['p50', 'p95', 'max']),
    agentMs: pick(latency['agentMs'], ['p50', 'p95']),
  };
}

function pick(value: unknown, names: readonly string[]): Body | null {
  if (typeof value !== 'object' || value === null) return null;
  const given = value as Body;
  return Object.fromEntries(names.map((name) => [name, given[name] ?? null]));
}

function iso(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}
