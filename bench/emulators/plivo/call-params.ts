/**
 * The form parameters of an emulated call's callbacks, in Plivo's names and notations. Called by the emulated call;
 * pure.
 */
import type { Hangup } from './hangup.ts';

const BILL_RATE = 0.0085;

export interface CallFacts {
  callUuid: string;
  requestUuid: string;
  from: string;
  to: string;
  accountId: string;
  placedAtEpochMs: number;
  answeredAtEpochMs: number | null;
}

export type CallStatus = 'ringing' | 'in-progress' | Hangup['status'];

export function callParams(facts: CallFacts, event: string, status: CallStatus): Record<string, string> {
  return {
    ALegRequestUUID: facts.requestUuid,
    ALegUUID: facts.callUuid,
    BillRate: String(BILL_RATE),
    CallStatus: status,
    CallUUID: facts.callUuid,
    Direction: 'outbound',
    Event: event,
    From: facts.from,
    ParentAuthID: facts.accountId,
    RequestUUID: facts.requestUuid,
    STIRAttestation: 'A',
    STIRVerification: 'Not Applicable',
    SessionStart: dateTime(facts.placedAtEpochMs, true),
    To: facts.to,
  };
}

export function hangupParams(facts: CallFacts, hangup: Hangup, endedAtEpochMs: number): Record<string, string> {
  const { answeredAtEpochMs } = facts;
  const seconds = answeredAtEpochMs === null ? 0 : Math.max(1, Math.ceil((endedAtEpochMs - answeredAtEpochMs) / 1000));
  const billed = Math.ceil(seconds / 60) * 60;
  return {
    ...callParams(facts, 'Hangup', hangup.status),
    ...(answeredAtEpochMs === null ? {} : { AnswerTime: dateTime(answeredAtEpochMs, false) }),
    BillDuration: String(billed),
    Duration: String(seconds),
    EndTime: dateTime(endedAtEpochMs, false),
    HangupCause: hangup.cause,
    HangupCauseCode: String(hangup.code),
    HangupCauseName: hangup.name,
    HangupSource: hangup.source,
    StartTime: dateTime(facts.placedAtEpochMs, false),
    TotalCost: ((billed / 60) * BILL_RATE).toFixed(5),
  };
}

/** `2020-04-08 11:34:33.238707`, or without the fraction. */
function dateTime(epochMs: number, withMicroseconds: boolean): string {
  const text = new Date(epochMs).toISOString().replace('T', ' ').replace('Z', '');
  return withMicroseconds ? `${text}000` : text.slice(0, 19);
}
