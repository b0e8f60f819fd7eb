/** States, reasons and faults of a call: the one list (contract §1) that control, media, tests and docs share. */

export const CALL_STATUSES = [
  'queued',
  'dialing',
  'ringing',
  'in_progress',
  'completed',
  'no_answer',
  'failed',
] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];
export type TerminalStatus = Extract<CallStatus, 'completed' | 'no_answer' | 'failed'>;

export type HangupBy = 'caller' | 'agent' | 'operator' | 'carrier' | 'platform';
export type Fault = 'none' | 'client' | 'callee' | 'carrier' | 'provider' | 'platform';

interface ReasonFacts {
  status: TerminalStatus;
  fault: Fault;
}

/** Every `endedReason` with the only status and fault that it may stand beside. */
export const ENDED_REASONS = {
  user_hangup: { status: 'completed', fault: 'none' },
  agent_hangup: { status: 'completed', fault: 'none' },
  operator_hangup: { status: 'completed', fault: 'none' },
  api_hangup: { status: 'completed', fault: 'none' },
  call_transferred: { status: 'completed', fault: 'none' },
  voicemail_detected: { status: 'completed', fault: 'none' },
  voicemail_left: { status: 'completed', fault: 'none' },
  ivr_reached: { status: 'completed', fault: 'none' },
  inactivity: { status: 'completed', fault: 'none' },
  max_duration_reached: { status: 'completed', fault: 'none' },
  operator_takeover: { status: 'completed', fault: 'none' },
  opt_out_requested: { status: 'completed', fault: 'none' },
  no_answer: { status: 'no_answer', fault: 'callee' },
  busy: { status: 'no_answer', fault: 'callee' },
  declined: { status: 'no_answer', fault: 'callee' },
  rejected_as_spam: { status: 'no_answer', fault: 'callee' },
  unreachable: { status: 'no_answer', fault: 'callee' },
  canceled: { status: 'no_answer', fault: 'client' },
  queue_expired: { status: 'failed', fault: 'platform' },
  blocked_suppressed: { status: 'failed', fault: 'client' },
  blocked_time_window: { status: 'failed', fault: 'client' },
  blocked_country: { status: 'failed', fault: 'client' },
  agent_unavailable: { status: 'failed', fault: 'platform' },
  draining: { status: 'failed', fault: 'platform' },
  invalid_number: { status: 'failed', fault: 'carrier' },
  carrier_rejected: { status: 'failed', fault: 'carrier' },
  carrier_auth: { status: 'failed', fault: 'carrier' },
  carrier_throttled: { status: 'failed', fault: 'carrier' },
  carrier_timeout: { status: 'failed', fault: 'carrier' },
  carrier_error: { status: 'failed', fault: 'carrier' },
  media_incompatible: { status: 'failed', fault: 'carrier' },
  no_media: { status: 'failed', fault: 'carrier' },
  stt_error: { status: 'failed', fault: 'provider' },
  llm_error: { status: 'failed', fault: 'provider' },
  tts_error: { status: 'failed', fault: 'provider' },
  realtime_error: { status: 'failed', fault: 'provider' },
  tool_error_fatal: { status: 'failed', fault: 'provider' },
  node_lost: { status: 'failed', fault: 'platform' },
  internal_error: { status: 'failed', fault: 'platform' },
  submission_unknown: { status: 'failed', fault: 'platform' },
} as const satisfies Record<string, ReasonFacts>;

export type EndedReason = keyof typeof ENDED_REASONS;

export function isEndedReason(value: string): value is EndedReason {
  return Object.hasOwn(ENDED_REASONS, value);
}
