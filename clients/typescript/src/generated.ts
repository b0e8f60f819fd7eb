/**
 * Made by `node scripts/build-client.mjs` of the service's own `/openapi.json`; not changed by hand. `npm run check`
 * fails when it is stale.
 */

import type { OperationFacts } from './exchange.ts';

export interface Placed {
  success: true;
  callUuid: string;
  /** With Prefer: return=representation */
  call?: Call;
  /** With Prefer: return=representation */
  limits?: { concurrencyLimit: number; concurrencyInUse: number; lineCps: number };
}
/** One entry of the call log. What is not known yet is null or empty, never absent. */
export interface Call {
  callUuid: string;
  enterprise: string;
  agentId: string;
  agentVersion: number;
  leadId: string | null;
  campaignId: null;
  channel: 'phone' | 'web';
  direction: 'outbound' | 'inbound';
  to: string;
  /** The phone number record; null for a web session */
  from: string | null;
  fromNumber: string;
  name: string;
  metadata: { [key: string]: unknown };
  status: 'queued' | 'dialing' | 'ringing' | 'in_progress' | 'completed' | 'no_answer' | 'failed';
  endedReason:
    | 'user_hangup'
    | 'agent_hangup'
    | 'operator_hangup'
    | 'api_hangup'
    | 'call_transferred'
    | 'voicemail_detected'
    | 'voicemail_left'
    | 'ivr_reached'
    | 'inactivity'
    | 'max_duration_reached'
    | 'operator_takeover'
    | 'opt_out_requested'
    | 'no_answer'
    | 'busy'
    | 'declined'
    | 'rejected_as_spam'
    | 'unreachable'
    | 'canceled'
    | 'queue_expired'
    | 'blocked_suppressed'
    | 'blocked_time_window'
    | 'blocked_country'
    | 'agent_unavailable'
    | 'draining'
    | 'invalid_number'
    | 'carrier_rejected'
    | 'carrier_auth'
    | 'carrier_throttled'
    | 'carrier_timeout'
    | 'carrier_error'
    | 'media_incompatible'
    | 'no_media'
    | 'stt_error'
    | 'llm_error'
    | 'tts_error'
    | 'realtime_error'
    | 'tool_error_fatal'
    | 'node_lost'
    | 'internal_error'
    | 'submission_unknown'
    | null;
  hangupBy: 'caller' | 'agent' | 'operator' | 'carrier' | 'platform' | null;
  fault: 'none' | 'client' | 'callee' | 'carrier' | 'provider' | 'platform' | null;
  sipCode: number | null;
  /** Of a call that failed */
  error: {
    code: string;
    message: string;
    /** The carrier or engine at fault */
    provider: string | null;
    /** The same call may be placed again as it is; false once a phone rang or was answered */
    retryable: boolean;
  } | null;
  answeredBy: 'human' | 'machine' | 'ivr' | 'unknown' | null;
  /** Not measured */
  answeredByConfidence: null;
  /** UTC, milliseconds */
  createdAt: string;
  dialedAt: string | null;
  ringingAt: string | null;
  answeredAt: string | null;
  endedAt: string | null;
  ringSeconds: number | null;
  durationSeconds: number | null;
  recording: Recording;
  transcriptStatus: 'none' | 'pending' | 'ready' | 'failed' | 'deleted';
  /** Only what was heard */
  transcript: string | null;
  turns: Turn[];
  analysisStatus: 'none' | 'pending' | 'ready' | 'failed' | 'deleted';
  /** 1 to 4 sentences */
  summary: string | null;
  /** One of the agent's labels, or of the default list */
  intent: string | null;
  intentConfidence: number | null;
  /** Of the caller */
  sentiment: 'positive' | 'neutral' | 'negative' | null;
  /** Null: not to be told from what was said */
  successful: boolean | null;
  successReason: string | null;
  /** The script's own word at its end */
  disposition: string | null;
  /** What the script caught, and what fits the agent's schema */
  data: { [key: string]: unknown };
  /** Quotes that stand in the turns, letter for letter */
  evidence: Evidence[];
  /** Who read the call: `parley-heuristic-1`, or a language model */
  analysisModel: string | null;
  /** Spreads in ms from the end of the last sound of the caller */
  latency: { [key: string]: unknown } | null;
  /** Not measured */
  quality: null;
  interruptions: {
    byUser: number;
    /** Times that the agent paused for what was no interruption, and went on; null: not measured */
    falseBargeIns: number | null;
  };
  tools: ToolUse[];
  /** Of what the call used of its providers; null: it used none */
  cost: CallCost | null;
  warnings: CallWarning[];
  /** How it went on after what carried it was lost; `hasRecovery` finds such calls */
  recovery: Recovery[];
  compliance: { permitId: string; window: string | null } | null;
  webhooks: { delivered: number; pending: number };
}
export interface Recording {
  status: 'none' | 'pending' | 'ready' | 'failed' | 'deleted';
  /** Signed; needs no key while it lives */
  url: string | null;
  urlExpiresAt: string | null;
  format: 'ogg_opus' | null;
  /** Left: the caller; right: the agent */
  channels: number | null;
  sampleRate: number | null;
  durationSeconds: number | null;
  sizeBytes: number | null;
  sha256: string | null;
  /** One for each stream: more than one when the call came back after a fault of ours */
  parts: {
    url: string;
    /** UTC, milliseconds */
    urlExpiresAt: string;
    /** Its place in the recording of the whole call */
    startSeconds: number;
    durationSeconds: number;
    sizeBytes: number;
    sha256: string;
    variants: { mono: string; caller: string; agent: string };
  }[];
}
export interface Turn {
  turnId: string;
  role: 'agent' | 'user';
  /** Since the media stream began */
  startMs: number;
  endMs: number;
  /** What the agent meant to say, or what was recognised of the caller */
  text: string;
  /** Only what was played */
  heardText: string;
  interrupted: boolean;
  /** A person at the console said it in the place of the agent; `text` is what was recognised of it */
  by?: 'person';
  kind?: 'speech' | 'backchannel' | 'unclear';
  /** Speech that the script did not expect; `text` is `[unclear]`. A guess for people: nothing acts on it */
  unclear?: {
    /** The phrase of the step that it sounded most like; null: like none */ guess: string | null;
    confidence: number | null;
  };
  intent?: string;
  stepId?: string;
  /** Times of single words are not measured */
  words: null;
}
export interface Evidence {
  turnId: string;
  quote: string;
}
/** A use of a custom tool. Neither what was asked nor what was answered is kept. */
export interface ToolUse {
  name: string;
  /** From the ask to the result; null while it is at work */
  ms: number | null;
  /** Of HTTP, where there was an answer */
  status: number | null;
  outcome: 'ok' | 'failed' | 'cancelled' | null;
  error:
    | 'unknown_tool'
    | 'bad_arguments'
    | 'missing_secret'
    | 'refused'
    | 'failed'
    | 'timeout'
    | 'redirected'
    | 'http_error'
    | 'too_large'
    | 'bad_answer'
    | 'circuit_open'
    | 'busy'
    | 'outcome_unknown'
    | 'cancelled'
    | 'unsupported'
    | 'client_error'
    | null;
  toolCallId: string;
  /** UTC, milliseconds */
  startedAt: string;
}
/** At the prices of the operator that held when it was used. */
export interface CallCost {
  /** Null: nothing that was used has a price */ currency: string | null;
  /** Of what has a price, to a millionth */
  total: number | null;
  /** False: some of `usage` has no price, and is not in `total` */
  isComplete: boolean;
  items: { kind: 'stt' | 'llm' | 'tts'; amount: number }[];
  usage: {
    connection: string;
    version: number;
    provider: string;
    model: string;
    unit: 'listen_seconds' | 'input_tokens' | 'cached_input_tokens' | 'output_tokens' | 'characters' | 'speech_seconds';
    quantity: number;
    /** Of `quantity`, what was thrown away because the caller went on; it costs too */
    speculative: number;
    /** Some of it is estimated: of a request that was taken back no provider says what it counted */
    isEstimate: boolean;
    /** Null: it has no price */
    amount: number | null;
  }[];
}
/** What went wrong without ending the call. */
export interface CallWarning {
  code: string;
  /** Of what: the placeholder that had no value */
  key: string | null;
  /** How often it was met */
  count: number;
}
export interface Recovery {
  /** What was lost, or was late (`_hedge`: the next was asked too; `_fallback`: the next was asked instead) */
  what:
    | 'pipeline_thread'
    | 'model_hedge'
    | 'model_fallback'
    | 'voice_hedge'
    | 'voice_fallback'
    | 'apology'
    | 'media_stream';
  /** When it went on; null once the events of the call are deleted */
  at: string | null;
  /** On the clock of the stream */
  atMs: number | null;
  /** For how long nothing was heard, or whoever was late or failed was waited for; null: not measured */
  gapMs: number | null;
  /** For people; null: there is nothing to add */
  message: string | null;
}
/** Exactly two keys; the code is in X-Error-Code. */
export interface ShortError {
  success: false;
  message: string;
}
export interface OutboundCall {
  /** E.164 */ to: string;
  /** See GET /api/developer/agents */
  agentId: string;
  /** The slug of the workspace */
  enterprise: string;
  /** See GET /api/developer/phone-numbers */
  from: string;
  name?: string | null;
  metadata?: { [key: string]: JsonValue } | null;
}
export type JsonValue = __schema0;
export type __schema0 = string | number | boolean | null | __schema0[] | { [key: string]: __schema0 };
export interface Calls {
  data: Call[];
  /** Null on the last page */
  nextCursor: string | null;
}
export interface Error {
  success: false;
  message: string;
  code:
    | 'event_stream_limit'
    | 'export_not_found'
    | 'export_not_ready'
    | 'transcript_not_ready'
    | 'call_live'
    | 'call_not_in_progress'
    | 'action_not_possible'
    | 'action_not_supported'
    | 'control_unanswered'
    | 'link_invalid'
    | 'link_expired'
    | 'range_not_satisfiable'
    | 'recording_store_unavailable'
    | 'recording_busy'
    | 'recording_unreadable'
    | 'legal_hold'
    | 'invalid_clip'
    | 'clip_too_large'
    | 'unsupported_clip_type'
    | 'clip_not_found'
    | 'clip_in_use'
    | 'clips_busy'
    | 'unauthorized'
    | 'insufficient_scope'
    | 'auth_rate_limit'
    | 'api_rate_limit'
    | 'open_requests_limit'
    | 'invalid_json'
    | 'unsupported_media_type'
    | 'body_too_large'
    | 'body_too_slow'
    | 'bad_request'
    | 'missing_fields'
    | 'invalid_from'
    | 'invalid_to'
    | 'invalid_agentId'
    | 'invalid_name'
    | 'invalid_metadata'
    | 'credentials_missing'
    | 'agent_not_found'
    | 'agent_not_outbound'
    | 'blocked_suppressed'
    | 'blocked_time_window'
    | 'blocked_country'
    | 'blocked_destination'
    | 'draining'
    | 'overloaded'
    | 'cps_limit'
    | 'concurrency_limit'
    | 'line_switched_off'
    | 'daily_limit'
    | 'submission_unknown'
    | 'internal_error'
    | 'invalid_idempotency_key'
    | 'request_in_progress'
    | 'idempotency_state_unknown'
    | 'idempotency_key_reused'
    | 'invalid_call_id'
    | 'invalid_request'
    | 'invalid_cursor'
    | 'call_not_found'
    | 'recording_not_ready'
    | 'invalid_lead_id'
    | 'lead_not_found'
    | 'lead_active_call'
    | 'duplicate_call'
    | 'do_not_contact'
    | 'external_id_taken'
    | 'invalid_phone'
    | 'conflicting_phone_fields'
    | 'invalid_notes'
    | 'invalid_source'
    | 'invalid_externalId'
    | 'invalid_timezone'
    | 'invalid_consent'
    | 'import_not_found'
    | 'invalid_import_id'
    | 'import_over'
    | 'unsupported_import_type'
    | 'import_empty'
    | 'import_too_many_rows'
    | 'import_too_costly'
    | 'import_no_phone_column'
    | 'import_duplicate_column'
    | 'invalid_status'
    | 'suppression_not_found'
    | 'webhook_not_set'
    | 'webhook_disabled'
    | 'delivery_not_found'
    | 'webhook_too_old'
    | 'invalid_parent_origin'
    | 'invalid_public_key'
    | 'origin_not_allowed'
    | 'embed_rate_limit'
    | 'precondition_failed'
    | 'already_exists'
    | 'setting_refused'
    | 'invalid_agent'
    | 'agent_version_not_found'
    | 'key_not_found'
    | 'hold_not_found'
    | 'line_not_found'
    | 'widget_key_not_found'
    | 'tool_not_found'
    | 'secret_not_found'
    | 'connection_not_found'
    | 'model_not_set'
    | 'workspace_not_found'
    | 'operator_only'
    | 'session_needed'
    | 'wrong_credentials'
    | 'second_factor_needed'
    | 'wrong_passkey'
    | 'passkeys_unavailable'
    | 'sign_in_again'
    | 'sign_in_limit'
    | 'sign_in_busy'
    | 'cross_site_request'
    | 'insecure_address'
    | 'role_insufficient'
    | 'masked_filter'
    | 'link_not_found'
    | 'view_not_found'
    | 'user_not_found'
    | 'openid_off'
    | 'openid_unavailable'
    | 'openid_refused'
    | 'openid_email_refused'
    | 'openid_not_invited'
    | 'openid_not_linked'
    | 'openid_taken'
    | 'identity_not_found'
    | 'passkey_not_found'
    | 'session_not_found'
    | 'last_owner'
    | 'wrong_password'
    | 'wrong_code'
    | 'not_found'
    | 'method_not_allowed'
    | 'carrier_throttled'
    | 'no_answer'
    | 'busy'
    | 'declined'
    | 'rejected_as_spam'
    | 'unreachable'
    | 'canceled'
    | 'queue_expired'
    | 'agent_unavailable'
    | 'invalid_number'
    | 'carrier_rejected'
    | 'carrier_auth'
    | 'carrier_timeout'
    | 'carrier_error'
    | 'media_incompatible'
    | 'no_media'
    | 'stt_error'
    | 'llm_error'
    | 'tts_error'
    | 'realtime_error'
    | 'tool_error_fatal'
    | 'node_lost';
  requestId: string;
  details: { field: string; issue: string }[];
}
export interface StoredCallExport {
  success: true;
  export: CallExport;
}
export interface CallExport {
  id: string;
  format: 'csv' | 'ndjson';
  /** As they were understood */
  filters: { [key: string]: unknown };
  state: 'queued' | 'running' | 'completed' | 'failed';
  /** Calls that the filters leave, counted when it begins; null before */
  totalRows: number | null;
  writtenRows: number;
  /** Of the file so far */
  sizeBytes: number;
  /** It ended at 100,000 calls or 512 MB, and there were more */
  isCut: boolean;
  error: string | null;
  /** UTC, milliseconds */
  createdAt: string;
  finishedAt: string | null;
  /** When it is deleted: a day after its end */
  expiresAt: string | null;
}
export interface NewCallExport {
  /** `csv`: a line a call, text that begins like a formula is made text; `ndjson`: whole entries */
  format: 'csv' | 'ndjson';
}
export interface CallExports {
  data: CallExport[];
  nextCursor: null;
}
export interface DeletedCallExport {
  success: true;
  exportId: string;
}
export interface HangUp {
  success: true;
  callUuid: string;
  status: 'queued' | 'dialing' | 'ringing' | 'in_progress' | 'completed' | 'no_answer' | 'failed';
}
export interface CallEvents {
  data: CallEvent[];
  nextCursor: null;
}
export interface CallEvent {
  id: string;
  /** UTC, milliseconds */
  at: string;
  kind: string;
  data: { [key: string]: unknown };
}
export interface Transcript {
  callUuid: string;
  transcriptStatus: 'none' | 'pending' | 'ready' | 'failed' | 'deleted';
  transcript: string;
  turns: Turn[];
}
export interface CallRequest {
  /** `X-Request-Id` of its answer */ requestId: string;
  /** Known where an Idempotency-Key was sent */
  operation: string | null;
  idempotencyKey: string | null;
  /** UTC, milliseconds */
  at: string;
  /** `key:` and its public id, `user:` and the id of a person, … */
  actor: string | null;
  /** What the key or the person is called */
  actorName: string | null;
  /** For whoever may read the audit */
  ip: string | null;
  /** What would place the same call again: as the call has it now, without `secret.*`. Null: no such call */
  body: { [key: string]: unknown } | null;
}
export interface DeletedParts {
  success: true;
  callUuid: string;
  deleted: ('recording' | 'transcript' | 'analysis' | 'events' | 'metadata')[];
}
export interface Controlled {
  success: true;
  callUuid: string;
  action: string;
}
export type Control =
  | {
      /** The agent says `text` in its own voice; the conversation then goes on */ action: 'say';
      text: string;
      /** Cut what is being said, instead of waiting for its end */
      interrupt?: boolean;
    }
  | {
      /** The agent takes `text` as though the caller had said it */ action: 'inject';
      text: string;
    }
  | {
      /**
       * Tells the agent what to do, unheard by the caller: holds from its next words on. A scripted agent takes
       * the id of one of its steps, and goes there
       */
      action: 'whisper';
      text: string;
    }
  | {
      /** The agent falls silent and answers nothing */ action: 'mute_agent';
    }
  | {
      /** It goes on from the word at which it fell silent */ action: 'unmute_agent';
    }
  | {
      /** Keys pressed towards the far end */ action: 'dtmf';
      digits: string;
    }
  | {
      /** A person who has taken the call over gives it back: the agent goes on */ action: 'handback';
      /** For the agent alone */
      note?: string;
    }
  | {
      /** 422: `transfer` is not served yet; `takeover` takes a microphone, at the console (`/ws/monitor`) */
      action: 'transfer' | 'takeover';
    };
export interface LeadCreated {
  success: true;
  lead: CreatedLead;
}
export interface CreatedLead {
  id: string;
  enterprise: string;
  agentId: string | null;
  name: string;
  /** E.164 */
  phone: string;
  notes: string | null;
  source: string | null;
  /** Follows its calls */
  status: 'new' | 'calling' | 'contacted' | 'no_answer' | 'failed' | 'do_not_contact';
  metadata: { [key: string]: unknown };
  externalId: string | null;
  timezone: string | null;
  lastCallUuid: string | null;
  callCount: number;
  /** The oldest lead with this number, if that is another */
  duplicateOf: string | null;
  /** UTC, milliseconds */
  createdAt: string;
  /** UTC, milliseconds */
  updatedAt: string;
}
/** One of `phone`, `phone_number` and `mobile` is required. */
export interface NewLead {
  /** The slug of the workspace */ enterprise: string;
  phone?: string | null;
  /** The same as `phone` */
  phone_number?: string | null;
  /** The same as `phone` */
  mobile?: string | null;
  /** See GET /api/developer/agents; needed before the lead is called */
  agentId?: string | null;
  /** For {{customer_name}}; `Customer` when there is none */
  name?: string | null;
  /** For {{notes}} */
  notes?: string | null;
  /** For {{source}} */
  source?: string | null;
  metadata?: { [key: string]: JsonValue } | null;
  /** Yours. A second lead with it changes the first. */
  externalId?: string | null;
  /** IANA, such as America/Los_Angeles */
  timezone?: string | null;
  consent?: Consent | null;
}
export interface Consent {
  /** Such as `express_written` */ type: string;
  source?: string | null;
  /** When it was given */
  at?: string | null;
  proofUrl?: string | null;
}
export interface Leads {
  data: Lead[];
  /** Null on the last page */
  nextCursor: string | null;
}
export interface Lead {
  id: string;
  enterprise: string;
  agentId: string | null;
  name: string;
  /** E.164 */
  phone: string;
  notes: string | null;
  source: string | null;
  /** Follows its calls */
  status: 'new' | 'calling' | 'contacted' | 'no_answer' | 'failed' | 'do_not_contact';
  metadata: { [key: string]: unknown };
  externalId: string | null;
  timezone: string | null;
  lastCallUuid: string | null;
  callCount: number;
  /** The oldest lead with this number, if that is another */
  duplicateOf: string | null;
  /** UTC, milliseconds */
  createdAt: string;
  /** UTC, milliseconds */
  updatedAt: string;
  consent: { type: string; source?: string | null; at?: string | null; proofUrl?: string | null } | null;
}
export interface StoredLead {
  success: true;
  lead: Lead;
}
/** Only what is given changes; null clears. */
export interface LeadChange {
  phone?: string | null;
  /** The same as `phone` */
  phone_number?: string | null;
  /** The same as `phone` */
  mobile?: string | null;
  /** See GET /api/developer/agents; needed before the lead is called */
  agentId?: string | null;
  /** For {{customer_name}}; `Customer` when there is none */
  name?: string | null;
  /** For {{notes}} */
  notes?: string | null;
  /** For {{source}} */
  source?: string | null;
  metadata?: { [key: string]: JsonValue } | null;
  /** Yours. A second lead with it changes the first. */
  externalId?: string | null;
  /** IANA, such as America/Los_Angeles */
  timezone?: string | null;
  consent?: Consent | null;
  /** The other states follow from calls. `new` lifts `do_not_contact`. */
  status?: 'new' | 'do_not_contact';
}
export interface LeadDeleted {
  success: true;
  leadId: string;
}
export interface LeadImports {
  data: LeadImport[];
  /** Null on the last page */
  nextCursor: string | null;
}
export interface LeadImport {
  id: string;
  format: 'csv' | 'ndjson';
  /** canceled: called off; rows that were stored stay */
  state: 'queued' | 'running' | 'completed' | 'failed' | 'canceled';
  totalRows: number;
  /** Created, updated and failed */
  processedRows: number;
  createdCount: number;
  /** Rows that changed the lead of their `externalId` */
  updatedCount: number;
  failedCount: number;
  /** Columns that are no field of a lead */
  ignoredColumns: string[];
  error: string | null;
  /** UTC, milliseconds */
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
}
export interface StoredLeadImport {
  success: true;
  import: LeadImport;
}
export interface LeadImportErrors {
  data: LeadImportError[];
  /** Null on the last page */
  nextCursor: string | null;
}
export interface LeadImportError {
  /** From 1, without the header and blank lines */ row: number;
  /** In the file, from 1 */
  line: number;
  field: string | null;
  code: string;
  message: string;
}
export interface LeadCalled {
  success: true;
  callUuid: string;
  /** With Prefer: return=representation */
  call?: Call;
  /** With Prefer: return=representation */
  limits?: { concurrencyLimit: number; concurrencyInUse: number; lineCps: number };
  leadId: string;
}
export interface LeadCall {
  /** Default: the agent's line, then the workspace's */ from?: string | null;
  /** Default: the lead's agent, then the workspace's */
  agentId?: string | null;
  /** Default: the lead's name */
  name?: string | null;
  /** Over the lead's own */
  metadata?: { [key: string]: JsonValue } | null;
}
export interface Suppressions {
  data: Suppression[];
  nextCursor: string | null;
  /** Raised by every change of the list; each permit to dial names it */
  version: number;
}
export interface Suppression {
  /** E.164 */ phone: string;
  reason: string | null;
  /** `call`: it was asked for in a call */
  source: 'api' | 'operator' | 'call';
  callUuid: string | null;
  /** UTC, milliseconds */
  createdAt: string;
}
export interface Suppressed {
  success: true;
  added: number;
  /** Were on the list before */
  known: number;
}
/** `phone` for one number, or `phones` for up to 1,000. */
export interface NewSuppression {
  /** International form */ phone?: string;
  phones?: string[];
  reason?: string | null;
}
export interface Unsuppressed {
  success: true;
  phone: string;
}
export interface WebhookEndpoint {
  url: string;
  enabled: boolean;
  /** What a person should know; null when all is well */
  notice: string | null;
  disabledAt: string | null;
  disabledReason: 'gone' | 'failing' | 'operator' | null;
  /** Opt-in events that are sent beside those that always are */
  events: ('call.ringing' | 'call.answered' | 'tool.failed' | 'lead.updated' | 'workspace.limit_reached')[];
  lastSuccessAt: string | null;
  /** The first failure since the last success */
  failingSince: string | null;
  failuresSinceSuccess: number;
  /** `enable` closes it */
  breaker: {
    /**
     * open: 20 attempts in a row failed, and nothing is sent; half_open: the next attempt asks whether it is
     * back
     */
    state: 'closed' | 'open' | 'half_open';
    /** When that attempt may be made */
    opensAt: string | null;
    reason: string | null;
  };
  /** Deliveries that are not over */
  waiting: number;
  /** Until when the secret before the last rotation signs too */
  previousSecretUntil: string | null;
  /** UTC, milliseconds */
  createdAt: string;
}
export interface WebhookDeliveries {
  data: WebhookDelivery[];
  /** Null on the last page */
  nextCursor: string | null;
}
export interface WebhookDelivery {
  id: string;
  /** `webhook-id` of every attempt */
  eventId: string;
  event:
    | 'call.completed'
    | 'call.no_answer'
    | 'call.failed'
    | 'recording.ready'
    | 'analysis.completed'
    | 'call.ringing'
    | 'call.answered'
    | 'tool.failed'
    | 'lead.updated'
    | 'workspace.limit_reached'
    | 'webhook.test';
  callUuid: string | null;
  sequence: number;
  /** pending: before its first attempt; failed: will be tried again; dead: given up */
  state: 'pending' | 'delivered' | 'failed' | 'dead';
  attempts: number;
  nextAttemptAt: string | null;
  lastAttemptAt: string | null;
  /** Null: no answer came */
  lastStatus: number | null;
  lastError: string | null;
  deliveredAt: string | null;
  /** UTC, milliseconds */
  createdAt: string;
}
export interface WebhookDeliveryDetail {
  id: string;
  /** `webhook-id` of every attempt */
  eventId: string;
  event:
    | 'call.completed'
    | 'call.no_answer'
    | 'call.failed'
    | 'recording.ready'
    | 'analysis.completed'
    | 'call.ringing'
    | 'call.answered'
    | 'tool.failed'
    | 'lead.updated'
    | 'workspace.limit_reached'
    | 'webhook.test';
  callUuid: string | null;
  sequence: number;
  /** pending: before its first attempt; failed: will be tried again; dead: given up */
  state: 'pending' | 'delivered' | 'failed' | 'dead';
  attempts: number;
  nextAttemptAt: string | null;
  lastAttemptAt: string | null;
  /** Null: no answer came */
  lastStatus: number | null;
  lastError: string | null;
  deliveredAt: string | null;
  /** UTC, milliseconds */
  createdAt: string;
  /** The newest 24, oldest first */
  attemptLog: {
    /** UTC, milliseconds */ at: string;
    attempt: number;
    /** Null: no answer came */
    status: number | null;
    error: string | null;
    /** From the look-up of the name to the answer */
    ms: number;
  }[];
}
export interface WebhookSent {
  success: true;
  delivery: WebhookDeliveryDetail;
}
export interface WebhookReplay {
  success: true;
  /** Events that are being sent, the oldest first */
  count: number;
  /** More match: repeat with `from` at this time */
  nextFrom: string | null;
}
export interface WebhookReplayRequest {
  /** Events written at this time or later */ from?: string;
  /** Events written before this time */
  to?: string;
  events?: (
    | 'call.completed'
    | 'call.no_answer'
    | 'call.failed'
    | 'recording.ready'
    | 'analysis.completed'
    | 'call.ringing'
    | 'call.answered'
    | 'tool.failed'
    | 'lead.updated'
    | 'workspace.limit_reached'
    | 'webhook.test'
  )[];
  callUuids?: string[];
  /** Only those whose delivery is in one of these states; without it all are sent again */
  states?: ('pending' | 'delivered' | 'failed' | 'dead')[];
}
export interface WebhookSet {
  success: true;
  webhook: WebhookEndpoint;
  /** Of a new one, this once; null: the one that there was stays */
  secret: string | null;
}
export interface WebhookRequest {
  /** https */ url: string;
  /** True: make another; the old one signs too for 24 h */
  newSecret?: boolean;
}
export interface WebhookRemoved {
  success: true;
  /** As it was */
  webhook: WebhookEndpoint;
}
export interface WebhookWithSecret {
  success: true;
  webhook: WebhookEndpoint;
  /** `whsec_…` with which every event is signed, this once (Standard Webhooks) */
  secret: string;
}
export interface WebhookChange {
  /** Opt-in events that are sent beside those that always are; the list is replaced whole */
  events?: ('call.ringing' | 'call.answered' | 'tool.failed' | 'lead.updated' | 'workspace.limit_reached')[];
  /** On: what waits is sent. Off: events are kept. */
  enabled?: boolean;
}
export interface Limits {
  calls: {
    /** At once, phone and web together */ limit: number;
    inUse: number;
    /** Of them, never given to web sessions */
    reservedForPhone: number;
    /** New calls */
    perSecond: number;
  };
  webSessions: { limit: number; inUse: number };
  /** Of each key */
  api: { requestsPerSecond: number; burst: number };
  lines: {
    /** For `from` */ id: string;
    number: string;
    /** Calls at once */
    limit: number;
    inUse: number;
    /** New calls */
    perSecond: number;
  }[];
}
export interface LimitSettings {
  limits: {
    /** Calls at once, phone and web together */ concurrentCalls: number;
    /** New calls a second */
    callsPerSecond: number;
    /** Of each key */
    apiRequestsPerSecond: number;
    /** Of each key */
    apiBurst: number;
    /** Web sessions at once */
    webSessions: number;
    /** Of the calls, never given to web sessions */
    reservedPhoneCalls: number;
  };
  /** The most that the operator allows */
  caps: {
    /** Calls at once, phone and web together */ concurrentCalls: number;
    /** New calls a second */
    callsPerSecond: number;
    /** Of each key */
    apiRequestsPerSecond: number;
    /** Of each key */
    apiBurst: number;
    /** Web sessions at once */
    webSessions: number;
  };
}
/** 0 lets nothing through. */
export interface LimitSettingsChange {
  concurrentCalls?: number;
  callsPerSecond?: number;
  apiRequestsPerSecond?: number;
  apiBurst?: number;
  webSessions?: number;
  /** null: half of `concurrentCalls`, rounded up (of one none), as it is until it is set */
  reservedPhoneCalls?: number | null;
}
export interface DialPolicy {
  /** Beside those of its lines; null: any */ countries: string[] | null;
  blockedCountries: string[];
  /** Beside ordinary numbers */
  kinds: ('premium' | 'shared_cost' | 'personal' | 'satellite' | 'countryless' | 'unassigned')[];
  maxCallSeconds: number | null;
  callsPerDay: number | null;
  minutesPerDay: number | null;
  keyCallsPerDay: number | null;
  keyMinutesPerDay: number | null;
  /** Of lines that the operator added: every line may call them. A line may always call its own */
  lineCountries: string[];
  /** Of all its lines: each may call its own */
  ownCountries: string[];
  /** Null: nothing is counted, because there are no ceilings */
  today: {
    calls: number;
    /** Talk of calls that are over */
    usedSeconds: number;
    /** The longest that live calls may still become */
    reservedSeconds: number;
    /** UTC, milliseconds */
    resetsAt: string;
    /** That have called today */
    keys: {
      keyId: string;
      calls: number;
      /** Talk of calls that are over */
      usedSeconds: number;
      /** The longest that live calls may still become */
      reservedSeconds: number;
    }[];
  } | null;
}
export interface StoredDialPolicy {
  success: true;
  dialPolicy: DialPolicy;
}
export interface DialPolicyChange {
  /** ISO 3166, beside those of its lines; null: any */ countries?: string[] | null;
  /** Never, whatever else allows them */
  blockedCountries?: string[];
  /** Beside ordinary numbers */
  kinds?: ('premium' | 'shared_cost' | 'personal' | 'satellite' | 'countryless' | 'unassigned')[];
  /** No call lasts longer; null: as its agent says */
  maxCallSeconds?: number | null;
  /** UTC; null: no ceiling; 0: none */
  callsPerDay?: number | null;
  minutesPerDay?: number | null;
  /** Of each key, with the keys that it has made */
  keyCallsPerDay?: number | null;
  keyMinutesPerDay?: number | null;
}
export interface Audit {
  data: AuditRow[];
  nextCursor: string | null;
}
export interface AuditRow {
  /** Its number in the chain of the workspace, from 1 */ position: number;
  /** UTC, milliseconds */
  at: string;
  /** `key:` and its public id, `user:` and the id of a person, `cli:` and a name, or `system:` and a part */
  actor: string;
  /** What a person is called */
  actorName: string | null;
  action: string;
  target: string;
  ip: string | null;
  requestId: string | null;
  before: unknown;
  after: unknown;
  /** `hash` of the row before */
  prevHash: string;
  /** Over all of this row and `prevHash` */
  hash: string;
}
export interface AuditVerification {
  ok: boolean;
  rows: number;
  /** Note it elsewhere, to prove later that nothing before it was changed */
  end: { position: number; hash: string };
  /** Signatures of the service over the chain so far, which were compared */
  seals: number;
  /** The first hundred */
  faults: {
    position: number;
    kind: 'changed' | 'removed' | 'inserted' | 'moved' | 'does_not_follow' | 'end' | 'seal';
    /** Of the row that stands there now */
    id: string | null;
    toPosition?: number;
    /** Where a moved row was linked */
    belongsAt?: number;
  }[];
  moreFaults: boolean;
  ms: number;
}
export interface Agents {
  data: Agent[];
  nextCursor: null;
}
export interface Agent {
  /** For `agentId` */ id: string;
  name: string;
  direction: 'outbound' | 'inbound' | 'web' | 'any';
  version: number;
  /** UTC, milliseconds */
  createdAt: string;
}
export interface StoredAgent {
  success: true;
  agent: Agent;
  /** What was stored all the same, and likely does not do what it was meant to */
  warnings: {
    /** As in `tools[0].headers.authorization` */ path: string;
    problem: string;
  }[];
}
export interface AgentRequest {
  /** As docs/agents.md has it, tools included. Checked whole; all faults come with their paths. */
  definition: { [key: string]: unknown };
}
export interface AgentDetail {
  /** For `agentId` */ id: string;
  name: string;
  direction: 'outbound' | 'inbound' | 'web' | 'any';
  /** That of `definition` */
  version: number;
  /** UTC, milliseconds */
  createdAt: string;
  latestVersion: number;
  /** Of its calls of leads; null: the workspace's */
  lineId: string | null;
  /** As docs/agents.md has it */
  definition: { [key: string]: unknown };
}
export interface AgentLineRequest {
  /** Null: the workspace's default line */ lineId: string | null;
}
export interface DeletedAgent {
  success: true;
  agentId: string;
}
export interface AgentVersions {
  data: AgentVersion[];
  nextCursor: null;
}
export interface AgentVersion {
  version: number;
  /** What new calls use */
  isCurrent: boolean;
  /** UTC, milliseconds */
  createdAt: string;
}
export interface AgentUses {
  liveCalls: number;
  /** Of the last 30 days; 10,000 are that many or more */
  calls: number;
  lastCallAt: string | null;
  /** That name it */
  leads: number;
  /** Calls of leads that name no agent are its */
  isDefault: boolean;
  /** Of its calls of leads; null: the workspace's */
  lineNumber: string | null;
  /** Keys of websites, any of which may ask for it */
  websites: { name: string; publicKey: string }[];
  /** That its current version plays */
  clips: string[];
  /** That its current version names */
  connections: string[];
}
export interface ListedTools {
  data: ListedTool[];
  nextCursor: null;
}
export interface ListedTool {
  agentId: string;
  agentName: string;
  name: string;
  /** `client`: the page of a web session does it */
  kind: 'http' | 'client';
  description: string | null;
  url: string | null;
  timeoutMs: number;
  /** That its headers name */
  secrets: string[];
  /** JSON Schema of its arguments */
  parameters: { [key: string]: unknown } | null;
  /** The last 100 at most; the figures are of these */
  uses: number;
  failed: number;
  /** The call ended first */
  cancelled: number;
  /** From the ask to the result */
  p50Ms: number | null;
  p95Ms: number | null;
  lastUsedAt: string | null;
}
export interface Tools {
  data: ToolFigures[];
  nextCursor: null;
}
export interface ToolFigures {
  name: string;
  /** The last 100 at most; the figures are of these */
  uses: number;
  failed: number;
  /** The call ended first */
  cancelled: number;
  /** From the ask to the result */
  p50Ms: number | null;
  p95Ms: number | null;
  last: {
    callUuid: string;
    ms: number | null;
    /** Of HTTP, where there was an answer */
    status: number | null;
    /** Null: at work */
    outcome: 'ok' | 'failed' | 'cancelled' | null;
    error:
      | 'unknown_tool'
      | 'bad_arguments'
      | 'missing_secret'
      | 'refused'
      | 'failed'
      | 'timeout'
      | 'redirected'
      | 'http_error'
      | 'too_large'
      | 'bad_answer'
      | 'circuit_open'
      | 'busy'
      | 'outcome_unknown'
      | 'cancelled'
      | 'unsupported'
      | 'client_error'
      | null;
    toolCallId: string;
    /** UTC, milliseconds */
    startedAt: string;
  }[];
}
export interface ToolTrial {
  url: string;
  /** Of the last request, secrets by their names */
  headers: { [key: string]: string };
  body: string;
  /** 0: nothing was sent */
  attempts: number;
  isSigned: boolean;
  ms: number;
  answer: {
    ok: boolean;
    /** Of HTTP, where there was an answer */
    status: number | null;
    /** What the agent gets */
    result?: unknown;
    code?:
      | 'unknown_tool'
      | 'bad_arguments'
      | 'missing_secret'
      | 'refused'
      | 'failed'
      | 'timeout'
      | 'redirected'
      | 'http_error'
      | 'too_large'
      | 'bad_answer'
      | 'circuit_open'
      | 'busy'
      | 'outcome_unknown'
      | 'cancelled'
      | 'unsupported'
      | 'client_error';
    message?: string;
  };
  /** What the agent could say */
  variables: { [key: string]: string };
}
export interface ToolTrialRequest {
  /** Held to the tool’s `parameters` */ arguments?: { [key: string]: unknown };
}
export interface Clips {
  data: Clip[];
  nextCursor: null;
}
export interface Clip {
  /** For `clip` in an agent; its name will do too */ id: string;
  name: string;
  /** What it says, for transcripts; may be empty */
  text: string;
  /** Of the file that was sent; `other` was read by FFmpeg */
  kind: 'wav' | 'ogg_opus' | 'webm_opus' | 'other';
  durationMs: number;
  /** As it is stored, by EBU R 128; -16 is aimed at */
  loudnessLufs: number;
  /** Of the WAV that is stored */
  sizeBytes: number;
  /** UTC, milliseconds */
  createdAt: string;
}
export interface ClipDetail {
  /** For `clip` in an agent; its name will do too */ id: string;
  name: string;
  /** What it says, for transcripts; may be empty */
  text: string;
  /** Of the file that was sent; `other` was read by FFmpeg */
  kind: 'wav' | 'ogg_opus' | 'webm_opus' | 'other';
  durationMs: number;
  /** As it is stored, by EBU R 128; -16 is aimed at */
  loudnessLufs: number;
  /** Of the WAV that is stored */
  sizeBytes: number;
  /** UTC, milliseconds */
  createdAt: string;
  /** Agents whose current version plays it */
  usedBy: { agentId: string; name: string }[];
}
export interface DeletedClip {
  success: true;
  clipId: string;
}
export interface PhoneNumbers {
  data: PhoneNumber[];
  nextCursor: null;
}
export interface PhoneNumber {
  /** For `from` */ id: string;
  number: string;
  carrier: string;
  /** They are write-only */
  hasCredentials: boolean;
  limits: { concurrentCalls: number; callsPerSecond: number };
  /** UTC, milliseconds */
  createdAt: string;
}
export interface StoredPhoneNumber {
  success: true;
  phoneNumber: PhoneNumber;
}
export interface NewPhoneNumber {
  number: string;
  carrier: 'plivo';
  credentials?: TelephonyCredentials;
  limits?: {
    /** Calls at once */ concurrentCalls?: number;
    /** New calls a second */
    callsPerSecond?: number;
  };
}
/** By carrier: plivo: authId, authToken. Stored sealed, never shown. */
export type TelephonyCredentials = { [key: string]: string };
export interface PhoneNumberChange {
  limits: {
    /** Calls at once */ concurrentCalls?: number;
    /** New calls a second */
    callsPerSecond?: number;
  };
}
export interface PhoneNumberTrial {
  ok: boolean;
  fault: 'none_stored' | 'sealed' | 'incomplete' | 'refused' | 'unreachable' | null;
  /** What is wrong, for a person */
  problem: string | null;
  carrier: string;
  ms: number;
  /** Of this service against the carrier, to a second */
  clockAheadMs: number | null;
}
export interface DeletedPhoneNumber {
  success: true;
  lineId: string;
}
export interface ApiKeys {
  data: ApiKey[];
  nextCursor: null;
}
export interface ApiKey {
  /** The eight public characters of the key */ keyId: string;
  name: string;
  scopes: (
    | 'calls:write'
    | 'calls:read'
    | 'leads:write'
    | 'leads:read'
    | 'webhooks:write'
    | 'agents:read'
    | 'audit:read'
    | 'settings:read'
    | 'settings:write'
    | 'bench'
  )[];
  /** Empty: from anywhere */
  allowedCidrs: string[];
  expiresAt: string | null;
  revokedAt: string | null;
  /** To the minute */
  lastUsedAt: string | null;
  /** UTC, milliseconds */
  createdAt: string;
}
export interface NewApiKey {
  success: true;
  key: ApiKey;
  /** The key itself, this once: `sv_live_…` */
  secret: string;
}
export interface NewApiKeyRequest {
  name: string;
  scopes: (
    | 'calls:write'
    | 'calls:read'
    | 'leads:write'
    | 'leads:read'
    | 'webhooks:write'
    | 'agents:read'
    | 'audit:read'
    | 'settings:read'
    | 'settings:write'
    | 'bench'
  )[];
  /** 203.0.113.0/24; none: anywhere */
  allowedCidrs?: string[];
  expiresAt?: string | null;
}
export interface RotatedApiKey {
  success: true;
  /** The new one */
  key: ApiKey;
  /** The old one, valid until `expiresAt` */
  replaced: ApiKey;
  /** The key itself, this once: `sv_live_…` */
  secret: string;
}
export type RotateApiKeyRequest = {
  /** For how long the old key stays valid; default a day */ overlapSeconds?: number;
} | null;
export interface StoredApiKey {
  success: true;
  key: ApiKey;
}
export interface ApiKeyChange {
  name?: string;
  /** All of them: the list is replaced whole */
  scopes?: (
    | 'calls:write'
    | 'calls:read'
    | 'leads:write'
    | 'leads:read'
    | 'webhooks:write'
    | 'agents:read'
    | 'audit:read'
    | 'settings:read'
    | 'settings:write'
    | 'bench'
  )[];
  /** 203.0.113.0/24; none: anywhere */
  allowedCidrs?: string[];
  /** In the future; null: it does not end by itself */
  expiresAt?: string | null;
}
export interface CallingSettings {
  window: { start: string; end: string; days: number[]; timezone: string } | null;
  allowedCountries: string[] | null;
  blockedCountries: string[];
  guardCalls: boolean;
  guardLeads: boolean;
  defaultAgentId: string | null;
  defaultLineId: string | null;
}
export interface CallingSettingsChange {
  /** Null: at any time */
  window?: {
    /** 09:00 */ start: string;
    /** 20:00, within one day */
    end: string;
    /** 1 is Monday */
    days: number[];
    /** IANA, or `recipient`: that of the called person */
    timezone: string;
  } | null;
  /** ISO 3166; null: any */
  allowedCountries?: string[] | null;
  blockedCountries?: string[];
  /** Refuse a call while the same one is not over */
  guardCalls?: boolean;
  guardLeads?: boolean;
  defaultAgentId?: string | null;
  defaultLineId?: string | null;
}
export interface ToolSecrets {
  data: ToolSecret[];
  nextCursor: null;
}
export interface ToolSecret {
  name: string;
  /** UTC, milliseconds */
  createdAt: string;
  /** UTC, milliseconds */
  updatedAt: string;
}
export interface StoredToolSecret {
  success: true;
  secret: ToolSecret;
}
export interface ToolSecretRequest {
  /** Printable ASCII on one line, because it goes into a header */ value: string;
}
export interface DeletedToolSecret {
  success: true;
  name: string;
}
export interface Providers {
  data: {
    provider: 'deepgram' | 'assemblyai' | 'openai_compatible' | 'anthropic' | 'gemini' | 'cartesia' | 'elevenlabs';
    title: string;
    can: ('listen' | 'think' | 'speak')[];
    defaultBaseUrl: string;
    credentials: { name: string; about: string; required: boolean }[];
    settings: { name: string; about: string; type: 'boolean' | 'text' }[];
    limits: ('concurrent' | 'requestsPerMinute' | 'tokensPerMinute')[];
    /** By which agents use such a connection, each with what an agent's `settings` may have */
    engines: {
      /** An agent's `engine` */ name: string;
      can: 'listen' | 'think' | 'speak';
      settings: { name: string; about: string; type: 'boolean' | 'text' | 'number'; least?: number; most?: number }[];
    }[];
  }[];
  nextCursor: null;
}
export interface Connections {
  data: Connection[];
  nextCursor: null;
}
export interface Connection {
  name: string;
  /** Raised by every change; a call keeps the one that it began with */
  version: number;
  provider: 'deepgram' | 'assemblyai' | 'openai_compatible' | 'anthropic' | 'gemini' | 'cartesia' | 'elevenlabs';
  baseUrl: string;
  /** They are write-only */
  hasCredentials: boolean;
  limits: { concurrent?: number; requestsPerMinute?: number; tokensPerMinute?: number };
  settings: { [key: string]: string | boolean };
  /** Of this version */
  createdAt: string;
}
export interface StoredConnection {
  success: true;
  connection: Connection;
}
export interface NewConnection {
  /** By which agents name it */ name: string;
  provider: 'deepgram' | 'assemblyai' | 'openai_compatible' | 'anthropic' | 'gemini' | 'cartesia' | 'elevenlabs';
  /** Default the provider's own. Public https, or inside the operator's MODEL_ALLOW_CIDRS */
  baseUrl?: string;
  /**
   * Write-only. By provider: deepgram: apiKey; assemblyai: apiKey; openai_compatible: apiKey; anthropic:
   * apiKey; gemini: apiKey; cartesia: apiKey; elevenlabs: apiKey
   */
  credentials?: { [key: string]: string } | null;
  /** Null takes one away. `tokensPerMinute` is for language models */
  limits?: { concurrent?: number | null; requestsPerMinute?: number | null; tokensPerMinute?: number | null };
  /**
   * Null takes one away. By provider: deepgram: mipOptOut; assemblyai: ; openai_compatible: organization,
   * project; anthropic: ; gemini: ; cartesia: ; elevenlabs: enableLogging
   */
  settings?: { [key: string]: string | boolean | null };
}
export interface ConnectionVersions {
  data: {
    name: string;
    /** Raised by every change; a call keeps the one that it began with */
    version: number;
    provider: 'deepgram' | 'assemblyai' | 'openai_compatible' | 'anthropic' | 'gemini' | 'cartesia' | 'elevenlabs';
    baseUrl: string;
    /** They are write-only */
    hasCredentials: boolean;
    limits: { concurrent?: number; requestsPerMinute?: number; tokensPerMinute?: number };
    settings: { [key: string]: string | boolean };
    /** Of this version */
    createdAt: string;
    /** New calls use it */
    isNewest: boolean;
  }[];
  nextCursor: null;
}
/** What is absent stays. Another host wants its credentials anew: what is stored is not sent to it. */
export interface ConnectionChange {
  /** Default the provider's own. Public https, or inside the operator's MODEL_ALLOW_CIDRS */ baseUrl?: string;
  /**
   * Write-only. By provider: deepgram: apiKey; assemblyai: apiKey; openai_compatible: apiKey; anthropic:
   * apiKey; gemini: apiKey; cartesia: apiKey; elevenlabs: apiKey
   */
  credentials?: { [key: string]: string } | null;
  /** Null takes one away. `tokensPerMinute` is for language models */
  limits?: { concurrent?: number | null; requestsPerMinute?: number | null; tokensPerMinute?: number | null };
  /**
   * Null takes one away. By provider: deepgram: mipOptOut; assemblyai: ; openai_compatible: organization,
   * project; anthropic: ; gemini: ; cartesia: ; elevenlabs: enableLogging
   */
  settings?: { [key: string]: string | boolean | null };
}
export interface ConnectionTrial {
  ok: boolean;
  /** The one that was tried */
  version: number;
  ms: number;
  fault:
    | 'key_refused'
    | 'address_refused'
    | 'tls'
    | 'unreachable'
    | 'timeout'
    | 'model_unknown'
    | 'throttled'
    | 'provider_error'
    | 'rejected'
    | 'nonsense'
    | null;
  /** What is wrong, for a person */
  problem: string | null;
  /** The first hundred, where the provider lists them */
  models: string[] | null;
}
export type ConnectionTest = {
  /** Asked for one token, where the provider has models */ model?: string;
} | null;
export interface ModelEndpoint {
  /** The connection that leads to it */ connection: string;
  baseUrl: string;
  model: string;
  /** It is write-only */
  hasKey: boolean;
  /** UTC, milliseconds */
  updatedAt: string;
}
export interface ModelEndpointRequest {
  /** A connection of the workspace to `openai_compatible`, in place of `baseUrl` and `apiKey` */ connection?: string;
  /** https://api.openai.com/v1; becomes the connection `analysis` */
  baseUrl?: string;
  model: string;
  /** Write-only. Absent: the stored one stays, if the address does; null: the server wants none */
  apiKey?: string | null;
}
/** Days by kind, as they hold */
export interface Retention {
  recording: number;
  transcript: number;
  analysis: number;
  events: number;
  metadata: number;
}
/** Days by kind; 0: until the next purge after the call's end; null: as the next wider rule has it. */
export interface RetentionChange {
  recording?: number | null;
  transcript?: number | null;
  analysis?: number | null;
  events?: number | null;
  metadata?: number | null;
}
export interface LegalHolds {
  data: LegalHold[];
  /** Null on the last page */
  nextCursor: string | null;
}
export interface LegalHold {
  id: string;
  /** Null: every call of the workspace */
  callUuid: string | null;
  reason: string;
  /** As in the audit. A key releases only what a key has placed, a person also what a person has */
  placedBy: string;
  /** UTC, milliseconds */
  placedAt: string;
}
export interface PlacedLegalHold {
  success: true;
  hold: LegalHold;
}
export interface NewLegalHold {
  /** Null or absent: every call of the workspace */ callUuid?: string | null;
  /** Why; it is audited */
  reason: string;
}
export interface ReleasedLegalHold {
  success: true;
  holdId: string;
}
export interface Purged {
  success: true;
  /** How many calls lost this kind */
  removed: { recording: number; transcript: number; analysis: number; events: number; metadata: number };
  /** Nothing was removed, because the machine's clock was set; ask again in an hour */
  putOff: boolean;
  /** More may be due: ask again */
  more: boolean;
}
export interface PurgeReceipts {
  data: PurgeReceipt[];
  /** Null on the last page */
  nextCursor: string | null;
}
export interface PurgeReceipt {
  id: string;
  callUuid: string;
  kinds: ('recording' | 'transcript' | 'analysis' | 'events' | 'metadata')[];
  cause: 'retention' | 'erase';
  actor: string;
  /** Rows by what they were; recordings with their SHA-256 */
  removed: { [key: string]: unknown };
  /** UTC, milliseconds */
  at: string;
}
export interface WidgetKeys {
  data: WidgetKey[];
  nextCursor: null;
}
export interface WidgetKey {
  /** No secret: it stands in web pages */ publicKey: string;
  name: string;
  /** Empty: no page may use it */
  allowedOrigins: string[];
  enabled: boolean;
  revokedAt: string | null;
  /** UTC, milliseconds */
  createdAt: string;
}
export interface StoredWidgetKey {
  success: true;
  widgetKey: WidgetKey;
}
export interface NewWidgetKey {
  name: string;
  /** https://example.com, https://*.example.com, http://localhost:3000; none: no page may use the key */
  allowedOrigins?: string[];
}
export interface WidgetKeyChange {
  name?: string;
  enabled?: boolean;
  /** https://example.com, https://*.example.com, http://localhost:3000; none: no page may use the key */
  allowedOrigins?: string[];
}
export interface WebSettings {
  /** The longest web session */ sessionSeconds: number;
  /** Whether web sessions send call events */
  webhooks: boolean;
}
export interface WebSettingsChange {
  sessionSeconds?: number;
  webhooks?: boolean;
}
export interface WidgetLook {
  /** The panel's heading; null: what the page says */ name: string | null;
  /** `#rrggbb`, made darker or lighter until it can be read; null: the widget’s own */
  color: string | null;
  /** Of what it says to visitors; the agent’s language is its own */
  language: 'en' | 'de' | 'es' | 'fr' | 'it' | 'nl' | 'pt';
  /** Of the button and of the docked panel */
  position: 'bottom-right' | 'bottom-left' | 'top-right' | 'top-left';
  /**
   * What opens while a call runs, where the script says `data-panel="auto"`; `docked` does not block the
   * page
   */
  panel: 'none' | 'overlay' | 'docked';
  /** Visitors may type, too */
  typing: boolean;
  /** What was said can be read and copied afterwards */
  transcript: boolean;
  /** What visitors read when they cannot mend it; null: the widget’s own words */
  errorText: string | null;
  /** `data:image/png;base64,…`, JPEG or WebP, at most 40000 bytes */
  picture: string | null;
}
export interface WidgetLookRequest {
  /** The panel's heading; null: what the page says */ name?: string | null;
  /** `#rrggbb`, made darker or lighter until it can be read; null: the widget’s own */
  color?: string | null;
  /** Of what it says to visitors; the agent’s language is its own */
  language?: 'en' | 'de' | 'es' | 'fr' | 'it' | 'nl' | 'pt';
  /** Of the button and of the docked panel */
  position?: 'bottom-right' | 'bottom-left' | 'top-right' | 'top-left';
  /**
   * What opens while a call runs, where the script says `data-panel="auto"`; `docked` does not block the
   * page
   */
  panel?: 'none' | 'overlay' | 'docked';
  /** Visitors may type, too */
  typing?: boolean;
  /** What was said can be read and copied afterwards */
  transcript?: boolean;
  /** What visitors read when they cannot mend it; null: the widget’s own words */
  errorText?: string | null;
  /** `data:image/png;base64,…`, JPEG or WebP, at most 40000 bytes */
  picture?: string | null;
}
export interface WidgetAppearance {
  /** The panel's heading; null: what the page says */ name: string | null;
  /** Of what it says to visitors; the agent’s language is its own */
  language: 'en' | 'de' | 'es' | 'fr' | 'it' | 'nl' | 'pt';
  /** Of the button and of the docked panel */
  position: 'bottom-right' | 'bottom-left' | 'top-right' | 'top-left';
  /**
   * What opens while a call runs, where the script says `data-panel="auto"`; `docked` does not block the
   * page
   */
  panel: 'none' | 'overlay' | 'docked';
  /** Visitors may type, too */
  typing: boolean;
  /** What was said can be read and copied afterwards */
  transcript: boolean;
  /** What visitors read when they cannot mend it; null: the widget’s own words */
  errorText: string | null;
  /** `data:image/png;base64,…`, JPEG or WebP, at most 40000 bytes */
  picture: string | null;
  colors: {
    light: {
      accent: string;
      /** Of what is written on it */
      onAccent: string;
    };
    dark: {
      accent: string;
      /** Of what is written on it */
      onAccent: string;
    };
  } | null;
  /** Null: the words that the widget brings */
  texts: { [key: string]: unknown } | null;
}
export interface Workspaces {
  data: Workspace[];
  nextCursor: null;
}
export interface Workspace {
  id: string;
  /** What requests call `enterprise` */
  slug: string;
  name: string;
  /** While false, every key of the workspace is refused and none can be made */
  apiEnabled: boolean;
  limits: {
    concurrentCalls: number;
    callsPerSecond: number;
    apiRequestsPerSecond: number;
    apiBurst: number;
    webSessions: number;
    reservedPhoneCalls: number;
  };
  /** The most that the workspace may set its limits to */
  caps: {
    concurrentCalls: number;
    callsPerSecond: number;
    apiRequestsPerSecond: number;
    apiBurst: number;
    webSessions: number;
  };
  /** UTC, milliseconds */
  createdAt: string;
}
export interface StoredWorkspace {
  success: true;
  workspace: Workspace;
}
export interface NewWorkspace {
  slug: string;
  name: string;
}
export interface WorkspaceChange {
  /** What people call it; `slug` stays */ name?: string;
  apiEnabled?: boolean;
  /** Also the caps of what the workspace may set by itself */
  limits?: LimitSettingsChange;
}
export interface Prices {
  data: Price[];
  nextCursor: null;
}
export interface Price {
  provider: string;
  /** `*`: all that have no price of their own */
  model: string;
  unit: 'listen_seconds' | 'input_tokens' | 'cached_input_tokens' | 'output_tokens' | 'characters' | 'speech_seconds';
  version: number;
  /** Millionths of the currency; null: no price from then on */
  priceMicros: number | null;
  currency: string;
  /** UTC, milliseconds */
  effectiveAt: string;
}
export interface StoredPrice {
  success: true;
  price: Price;
}
export interface NewPrice {
  provider: 'deepgram' | 'assemblyai' | 'openai_compatible' | 'anthropic' | 'gemini' | 'cartesia' | 'elevenlabs';
  /** As the provider names it; `*`: all without a price of their own */
  model: string;
  /**
   * What it is for: listen_seconds: a second of sound that was listened to; input_tokens: 1,000 tokens of a
   * request that the provider did not have already; cached_input_tokens: 1,000 tokens of a request that the
   * provider still had; output_tokens: 1,000 tokens of an answer; characters: 1,000 characters of text that
   * was spoken; speech_seconds: a second of sound that was made
   */
  unit: 'listen_seconds' | 'input_tokens' | 'cached_input_tokens' | 'output_tokens' | 'characters' | 'speech_seconds';
  /** Millionths of the currency; null: no price from then on */
  priceMicros: number | null;
  /** One for all prices; the first must name it */
  currency?: string;
  /** Default now. In the past: calls since then cost it too */
  effectiveAt?: string;
}
export interface ServiceState {
  version: string;
  /** Version of Node */
  node: string;
  /** Names this run */
  instance: string;
  /** Of the node that answers, like `PARLEY_NODE` */
  nodeName: string;
  /** UTC, milliseconds */
  startedAt: string;
  publicUrl: string;
  /** Whether new calls are taken */
  admission: 'open' | 'draining' | 'no_capacity' | 'overloaded';
  machine: {
    cores: number;
    /** Of the last 1, 5 and 15 minutes: work that ran or waited */
    loadAverage: number[];
    memory: { freeBytes: number; totalBytes: number };
    /** Where recordings begin; null: it cannot be asked */
    disk: { freeBytes: number; totalBytes: number } | null;
  };
  control: {
    memoryBytes: number;
    /** It is late with its own work */
    isOverloaded: boolean;
  };
  /** The processes that carry calls, of the node that answers */
  media: {
    mediaId: string;
    connected: boolean;
    /** It takes no new calls, and ends when its last one is over */
    draining: boolean;
    calls: number;
    /** The most that it takes, however much room there is */
    capacity: number;
    /** By its own measure; null: not measured yet */
    moreCalls: number | null;
    /** What there is least of */
    scarce: string | null;
    socketServer: 'uws' | 'ws' | null;
  }[];
  /** The processes of all other nodes, by what each beat of theirs tells the database */
  otherNodes: {
    node: string;
    mediaId: string;
    calls: number;
    capacity: number;
    /** By its own measure; null: not measured yet */
    moreCalls: number | null;
    draining: boolean;
    /** Since it was heard of */
    silentMs: number;
    /** It is silent for longer than it may be: if its node is dead, its calls are given up */
    isOverdue: boolean;
  }[];
  database: { version: string; sizeBytes: number; connections: number; mostConnections: number };
  liveCalls: number;
  waitingWebhooks: number;
}
export interface Examination {
  /** Nothing failed */ ok: boolean;
  ms: number;
  checks: { name: string; level: 'ok' | 'warn' | 'fail'; detail: string; wayOut: string | null }[];
}
export interface ErrorCodes {
  data: {
    code:
      | 'event_stream_limit'
      | 'export_not_found'
      | 'export_not_ready'
      | 'transcript_not_ready'
      | 'call_live'
      | 'call_not_in_progress'
      | 'action_not_possible'
      | 'action_not_supported'
      | 'control_unanswered'
      | 'link_invalid'
      | 'link_expired'
      | 'range_not_satisfiable'
      | 'recording_store_unavailable'
      | 'recording_busy'
      | 'recording_unreadable'
      | 'legal_hold'
      | 'invalid_clip'
      | 'clip_too_large'
      | 'unsupported_clip_type'
      | 'clip_not_found'
      | 'clip_in_use'
      | 'clips_busy'
      | 'unauthorized'
      | 'insufficient_scope'
      | 'auth_rate_limit'
      | 'api_rate_limit'
      | 'open_requests_limit'
      | 'invalid_json'
      | 'unsupported_media_type'
      | 'body_too_large'
      | 'body_too_slow'
      | 'bad_request'
      | 'missing_fields'
      | 'invalid_from'
      | 'invalid_to'
      | 'invalid_agentId'
      | 'invalid_name'
      | 'invalid_metadata'
      | 'credentials_missing'
      | 'agent_not_found'
      | 'agent_not_outbound'
      | 'blocked_suppressed'
      | 'blocked_time_window'
      | 'blocked_country'
      | 'blocked_destination'
      | 'draining'
      | 'overloaded'
      | 'cps_limit'
      | 'concurrency_limit'
      | 'line_switched_off'
      | 'daily_limit'
      | 'submission_unknown'
      | 'internal_error'
      | 'invalid_idempotency_key'
      | 'request_in_progress'
      | 'idempotency_state_unknown'
      | 'idempotency_key_reused'
      | 'invalid_call_id'
      | 'invalid_request'
      | 'invalid_cursor'
      | 'call_not_found'
      | 'recording_not_ready'
      | 'invalid_lead_id'
      | 'lead_not_found'
      | 'lead_active_call'
      | 'duplicate_call'
      | 'do_not_contact'
      | 'external_id_taken'
      | 'invalid_phone'
      | 'conflicting_phone_fields'
      | 'invalid_notes'
      | 'invalid_source'
      | 'invalid_externalId'
      | 'invalid_timezone'
      | 'invalid_consent'
      | 'import_not_found'
      | 'invalid_import_id'
      | 'import_over'
      | 'unsupported_import_type'
      | 'import_empty'
      | 'import_too_many_rows'
      | 'import_too_costly'
      | 'import_no_phone_column'
      | 'import_duplicate_column'
      | 'invalid_status'
      | 'suppression_not_found'
      | 'webhook_not_set'
      | 'webhook_disabled'
      | 'delivery_not_found'
      | 'webhook_too_old'
      | 'invalid_parent_origin'
      | 'invalid_public_key'
      | 'origin_not_allowed'
      | 'embed_rate_limit'
      | 'precondition_failed'
      | 'already_exists'
      | 'setting_refused'
      | 'invalid_agent'
      | 'agent_version_not_found'
      | 'key_not_found'
      | 'hold_not_found'
      | 'line_not_found'
      | 'widget_key_not_found'
      | 'tool_not_found'
      | 'secret_not_found'
      | 'connection_not_found'
      | 'model_not_set'
      | 'workspace_not_found'
      | 'operator_only'
      | 'session_needed'
      | 'wrong_credentials'
      | 'second_factor_needed'
      | 'wrong_passkey'
      | 'passkeys_unavailable'
      | 'sign_in_again'
      | 'sign_in_limit'
      | 'sign_in_busy'
      | 'cross_site_request'
      | 'insecure_address'
      | 'role_insufficient'
      | 'masked_filter'
      | 'link_not_found'
      | 'view_not_found'
      | 'user_not_found'
      | 'openid_off'
      | 'openid_unavailable'
      | 'openid_refused'
      | 'openid_email_refused'
      | 'openid_not_invited'
      | 'openid_not_linked'
      | 'openid_taken'
      | 'identity_not_found'
      | 'passkey_not_found'
      | 'session_not_found'
      | 'last_owner'
      | 'wrong_password'
      | 'wrong_code'
      | 'not_found'
      | 'method_not_allowed'
      | 'carrier_throttled'
      | 'no_answer'
      | 'busy'
      | 'declined'
      | 'rejected_as_spam'
      | 'unreachable'
      | 'canceled'
      | 'queue_expired'
      | 'agent_unavailable'
      | 'invalid_number'
      | 'carrier_rejected'
      | 'carrier_auth'
      | 'carrier_timeout'
      | 'carrier_error'
      | 'media_incompatible'
      | 'no_media'
      | 'stt_error'
      | 'llm_error'
      | 'tts_error'
      | 'realtime_error'
      | 'tool_error_fatal'
      | 'node_lost';
    status: number;
    message: string;
    meaning: string;
  }[];
  nextCursor: null;
}
export interface EmbedVersions {
  current: string;
  versions: { version: string; src: string; integrity: string }[];
}
export interface EmbedSession {
  /** JWT: opens one socket at /ws/live within 60 s */ token: string;
}
export interface EmbedSessionRequest {
  /** The public widget key */ publicKey: string;
  /** UUID of an agent for the web */
  agentId: string;
  /** `location.origin` of the page */
  parentOrigin: string;
}
export interface Alive {
  status: 'ok';
  /** Another after each start of control */
  instance: string;
}
/** Which check fails, `parley doctor` and the private port tell. */
export interface Ready {
  status: 'ok' | 'unavailable';
}
export interface StoredClip {
  success: true;
  clip: Clip;
}
export interface ClipRequest {
  /** Unique in the workspace; what agents call it */ name: string;
  /** What it says, for transcripts. An agent may say it itself. */
  text?: string;
  /** At most 10 MB */
  file: Blob;
}
export interface ConsoleSession {
  user: {
    id: string;
    email: string;
    name: string;
    /** Of the whole installation */
    isOperator: boolean;
    /** False: the person signs in with passkeys */
    hasPassword: boolean;
    /** One-time passwords are asked for */
    totp: boolean;
    /** With one or more a password alone is not enough */
    passkeys: number;
  };
  workspaces: {
    /** Its short name, as in paths */ enterprise: string;
    name: string;
    role: 'owner' | 'admin' | 'supervisor' | 'analyst';
    /** An analyst who may listen; all other roles may */
    hears: boolean;
    /** What the person may there */
    scopes: (
      | 'calls:write'
      | 'calls:read'
      | 'leads:write'
      | 'leads:read'
      | 'webhooks:write'
      | 'agents:read'
      | 'audit:read'
      | 'settings:read'
      | 'settings:write'
      | 'bench'
      | 'calls:control'
      | 'calls:delete'
      | 'calls:listen'
      | 'recordings:read'
      | 'webhooks:resend'
      | 'users:read'
      | 'users:write'
    )[];
  }[];
  /** At the latest; 12 h after the last request before that */
  expiresAt: string;
  /** Where the browser goes after signing out, to be signed out of the OpenID provider too; null: nowhere */
  signOutUrl: string | null;
  /** UTC, milliseconds */
  serverTime: string;
  version: string;
  setup: {
    /** There is nobody yet */ firstUser: boolean;
  };
}
export interface SignIn {
  email: string;
  password: string;
  /** Of the authenticator app */
  code?: string;
  /** In place of the code */
  passkey?: PasskeyAnswer;
}
/** `AuthenticationResponseJSON` of WebAuthn Level 3 */
export interface PasskeyAnswer {
  id: string;
  rawId: string;
  type: 'public-key';
  authenticatorAttachment?: 'platform' | 'cross-platform';
  clientExtensionResults: { [key: string]: unknown };
  response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle?: string };
}
export interface OneTimeLink {
  purpose: 'first_user' | 'invitation' | 'reset';
  /** Null: who takes it says */
  email: string | null;
  name: string | null;
  workspace: { enterprise: string; name: string } | null;
  /** UTC, milliseconds */
  expiresAt: string;
}
export interface LinkToken {
  /** What stands behind `#/link/` */ token: string;
}
export interface LinkTaken {
  /** What stands behind `#/link/` */ token: string;
  password: string;
  /** Of the first user */
  email?: string;
  name?: string;
}
/** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn Level 3 */
export interface PasskeyOptions {
  challenge: string;
}
/** `beside`: the password beside which the passkey is a second factor */
export interface PasskeyAsked {
  beside?: EmailAndPassword;
}
export interface EmailAndPassword {
  email: string;
  password: string;
}
export interface PasskeySignIn {
  answer: PasskeyAnswer;
}
export interface MyName {
  name: string;
}
export interface MyPassword {
  /** Left out by who has none, and has just signed in */ current?: string;
  /** 12 to 128 characters */
  password: string;
}
export interface PasswordOnceMore {
  /** Left out by who has none, and has just signed in */ password?: string;
}
export interface OneTimePasswordSecret {
  /** `otpauth://…`, as a QR code has it */ uri: string;
  /** The same to type: base32 */
  secret: string;
}
export interface OneTimePassword {
  code: string;
}
export interface PersonSessions {
  data: PersonSession[];
  nextCursor: null;
}
export interface PersonSession {
  id: string;
  /** The one that asks */
  isThis: boolean;
  /** UTC, milliseconds */
  createdAt: string;
  /** Last request; at most a minute late */
  lastSeenAt: string;
  /** UTC, milliseconds */
  expiresAt: string;
  ip: string;
  /** The browser, as it says */
  userAgent: string;
}
export interface Passkeys {
  data: Passkey[];
  nextCursor: null;
}
export interface Passkey {
  id: string;
  name: string;
  /** Where it works */
  host: string;
  /** Kept by a service of its maker, on more than one device */
  isSynced: boolean;
  /** UTC, milliseconds */
  createdAt: string;
  /** Null: not since it was made */
  lastUsedAt: string | null;
}
/** `PublicKeyCredentialCreationOptionsJSON` of WebAuthn Level 3 */
export interface NewPasskeyOptions {
  challenge: string;
}
export interface StoredPasskey {
  success: true;
  passkey: Passkey;
}
export interface NewPasskey {
  name: string;
  answer: NewPasskeyAnswer;
}
/** `RegistrationResponseJSON` of WebAuthn Level 3 */
export interface NewPasskeyAnswer {
  id: string;
  rawId: string;
  type: 'public-key';
  authenticatorAttachment?: 'platform' | 'cross-platform';
  clientExtensionResults: { [key: string]: unknown };
  response: { clientDataJSON: string; attestationObject: string; transports?: string[] };
}
export interface PasskeyName {
  name: string;
}
export interface SignInWays {
  /** Null: there is none */
  openId: {
    /** What people call the provider */ name: string;
  } | null;
}
export interface OpenIdUrl {
  /** Where the browser goes */ url: string;
}
export interface PersonIdentities {
  data: PersonIdentity[];
  nextCursor: null;
}
export interface PersonIdentity {
  id: string;
  /** The OpenID provider */
  issuer: string;
  /** As it last said */
  email: string | null;
  /** UTC, milliseconds */
  createdAt: string;
  lastUsedAt: string | null;
}
export interface Users {
  data: User[];
  nextCursor: null;
}
export interface User {
  id: string;
  email: string;
  name: string;
  role: 'owner' | 'admin' | 'supervisor' | 'analyst';
  hears: boolean;
  /** False: the invitation was not taken yet */
  isActive: boolean;
  /** One-time passwords are asked for */
  totp: boolean;
  passkeys: number;
  /** Null: not in the last 30 days */
  lastSeenAt: string | null;
  /** UTC, milliseconds */
  createdAt: string;
}
export interface AddedUser {
  success: true;
  user: User;
  /** Null: the person has an account already, and signs in as before */
  link: string | null;
}
export interface NewUser {
  email: string;
  name: string;
  role: 'owner' | 'admin' | 'supervisor' | 'analyst';
  /** An analyst who may listen to recordings; all other roles may */
  hears?: boolean;
}
export interface StoredUser {
  success: true;
  user: User;
}
export interface UserChange {
  role?: 'owner' | 'admin' | 'supervisor' | 'analyst';
  /** An analyst who may listen to recordings; all other roles may */
  hears?: boolean;
}
export interface ResetUser {
  success: true;
  user: User;
  /** Give it to the person; it is shown once, and works for a day */
  link: string;
}
export interface Views {
  data: View[];
  nextCursor: null;
}
export interface View {
  id: string;
  name: string;
  query: string;
  isShared: boolean;
  isMine: boolean;
  madeBy: string;
}
export interface StoredView {
  success: true;
  view: View;
}
export interface NewView {
  name: string;
  /** Filters of the call log as an address has them: `status=failed&hasRecovery=true` */
  query: string;
  /** Everybody in the workspace sees it */
  isShared?: boolean;
}
export interface ViewChange {
  name?: string;
  /** Filters of the call log as an address has them: `status=failed&hasRecovery=true` */
  query?: string;
  /** Everybody in the workspace sees it */
  isShared?: boolean;
}
export interface Overview {
  day: string;
  zone: string;
  /** UTC, milliseconds */
  from: string;
  /** UTC, milliseconds */
  until: string;
  /** Now, whatever the day */
  live: number;
  placed: number;
  answered: number;
  completed: number;
  failed: number;
  noAnswer: number;
  /** Of calls that are over */
  answerRate: number | null;
  /** Of calls that were answered and are over */
  completionRate: number | null;
  /** Over the calls' own medians, from the caller's last sound to the reply's first */
  replyMs: {
    p50: number;
    p95: number;
    /** Calls */
    count: number;
  } | null;
  /** Requests that made no call */
  refusals: { code: string; count: number; message: string }[];
  notDialled: {
    /** An error code, or the reason with which calls ended */ reason: string;
    /** What was counted; service: it holds now, for all */
    of: 'service' | 'requests' | 'calls';
    count: number | null;
    /** Of the first that day */
    since: string | null;
    last: string | null;
    wayOut: string;
  }[];
  /** Null: there is no URL */
  webhooks: {
    waiting: number;
    /** Of the oldest event that waits */
    oldestAt: string | null;
    failingSince: string | null;
    url: string | null;
    enabled: boolean;
  } | null;
  disk: { freeBytes: number; totalBytes: number } | null;
  notSetUp: { what: 'agent' | 'line' | 'api_access' | 'key' | 'webhook'; why: string; wayOut: string }[];
}
export interface SoundPeaks {
  durationSeconds: number;
  /** Of a stretch */
  binMs: number;
  /** The loudest of each stretch; 255 is full scale */
  caller: number[];
  /** The loudest of each stretch; 255 is full scale */
  agent: number[];
}
export interface MonitorToken {
  /** Good once */ token: string;
  /** Of the socket, at this host */
  path: string;
  /** UTC, milliseconds */
  expiresAt: string;
}
/** What each operation takes and gives. */
export interface Operations {
  /**
   * Call a phone number and hand the conversation to an agent.
   *
   * Answers as soon as the carrier has taken the call. Follow it by its events, read it from the call log,
   * or wait for the webhook. A 500 with `submission_unknown` may ring: repeat it with the same
   * Idempotency-Key only.
   *
   * The key needs `calls:write`.
   */
  placeCall: { input: { body: OutboundCall }; data: Placed };
  /**
   * The call log.
   *
   * Newest first. Several filters must all hold. A call is in the list from its placement on; its transcript
   * is searched once it has ended.
   *
   * The key needs `calls:read`.
   */
  listCalls: {
    input: {
      /** The state of the call; several, separated by commas, mean any of them */ status?: string;
      /** Why it ended; several, separated by commas, mean any of them */
      endedReason?: string;
      /** Whose fault the end was; several, separated by commas, mean any of them */
      fault?: string;
      /** The agent; several, separated by commas, mean any of them */
      agentId?: string;
      /** The lead; several, separated by commas, mean any of them */
      leadId?: string;
      /** The campaign; several, separated by commas, mean any of them */
      campaignId?: string;
      /** How the other side was reached; several, separated by commas, mean any of them */
      channel?: string;
      /** Who called; several, separated by commas, mean any of them */
      direction?: string;
      /** The number called, like +14155550123; several, separated by commas, mean any of them */
      to?: string;
      /** The phone number record, or its number; several, separated by commas, mean any of them */
      from?: string;
      /** Who answered; several, separated by commas, mean any of them */
      answeredBy?: string;
      /** What the analysis found; several, separated by commas, mean any of them */
      intent?: string;
      /** What the analysis found; several, separated by commas, mean any of them */
      sentiment?: string;
      /** What the analysis found */
      successful?: 'true' | 'false';
      /** It went on after what carried it was lost; see `recovery` */
      hasRecovery?: 'true' | 'false';
      /** The caller said things in it that the script did not expect */
      hasUnclear?: 'true' | 'false';
      /** The caller cut the agent off in it */
      hasBargeIn?: 'true' | 'false';
      /** A tool failed in it */
      toolErrored?: 'true' | 'false';
      /** At this time or later */
      createdAfter?: string;
      /** Before this time */
      createdBefore?: string;
      /** Seconds of talk, at least */
      minDuration?: number;
      /** Seconds of talk, at most */
      maxDuration?: number;
      /** 95th percentile from mouth to ear in ms, at least */
      mouthToEarP95Gte?: number;
      /** The `Idempotency-Key` of the request that made it; several, separated by commas, mean any of them */
      idempotencyKey?: string;
      /** For instance `metadata.plan=gold`; exact. Up to 10 of them */
      'metadata.<key>'?: string;
      /** Words of the transcript as heard, name, numbers or summary: all of them, `"a phrase"`, `or`, `-not` */
      q?: string;
      /** `nextCursor` of the page before */
      cursor?: string;
      /** Entries on the page */
      limit?: number;
    };
    data: Calls;
  };
  /**
   * Write the call log to a file.
   *
   * With the filters of the list; newest first, at most 100,000 calls or 512 MB. Written in the background:
   * ask for its progress, then fetch its file. Deleted a day after its end.
   *
   * The key needs `calls:read`.
   */
  exportCalls: {
    input: {
      /** The state of the call; several, separated by commas, mean any of them */ status?: string;
      /** Why it ended; several, separated by commas, mean any of them */
      endedReason?: string;
      /** Whose fault the end was; several, separated by commas, mean any of them */
      fault?: string;
      /** The agent; several, separated by commas, mean any of them */
      agentId?: string;
      /** The lead; several, separated by commas, mean any of them */
      leadId?: string;
      /** The campaign; several, separated by commas, mean any of them */
      campaignId?: string;
      /** How the other side was reached; several, separated by commas, mean any of them */
      channel?: string;
      /** Who called; several, separated by commas, mean any of them */
      direction?: string;
      /** The number called, like +14155550123; several, separated by commas, mean any of them */
      to?: string;
      /** The phone number record, or its number; several, separated by commas, mean any of them */
      from?: string;
      /** Who answered; several, separated by commas, mean any of them */
      answeredBy?: string;
      /** What the analysis found; several, separated by commas, mean any of them */
      intent?: string;
      /** What the analysis found; several, separated by commas, mean any of them */
      sentiment?: string;
      /** What the analysis found */
      successful?: 'true' | 'false';
      /** It went on after what carried it was lost; see `recovery` */
      hasRecovery?: 'true' | 'false';
      /** The caller said things in it that the script did not expect */
      hasUnclear?: 'true' | 'false';
      /** The caller cut the agent off in it */
      hasBargeIn?: 'true' | 'false';
      /** A tool failed in it */
      toolErrored?: 'true' | 'false';
      /** At this time or later */
      createdAfter?: string;
      /** Before this time */
      createdBefore?: string;
      /** Seconds of talk, at least */
      minDuration?: number;
      /** Seconds of talk, at most */
      maxDuration?: number;
      /** 95th percentile from mouth to ear in ms, at least */
      mouthToEarP95Gte?: number;
      /** The `Idempotency-Key` of the request that made it; several, separated by commas, mean any of them */
      idempotencyKey?: string;
      /** For instance `metadata.plan=gold`; exact. Up to 10 of them */
      'metadata.<key>'?: string;
      /** Words of the transcript as heard, name, numbers or summary: all of them, `"a phrase"`, `or`, `-not` */
      q?: string;
      body: NewCallExport;
    };
    data: StoredCallExport;
  };
  /**
   * Your exports of the call log.
   *
   * Of the key or the person that asks; newest first.
   *
   * The key needs `calls:read`.
   */
  listCallExports: { input: Record<never, never>; data: CallExports };
  /**
   * How far an export is.
   *
   * Its file is beside it, under `/file`.
   *
   * The key needs `calls:read`.
   */
  readCallExport: { input: { exportId: string }; data: CallExport };
  /**
   * Delete an export, or call it off.
   *
   * Its file is gone at once.
   *
   * The key needs `calls:read`.
   */
  deleteCallExport: { input: { exportId: string }; data: DeletedCallExport };
  /**
   * The file of an export.
   *
   * Once it is completed. Each fetching is in the audit.
   *
   * The key needs `calls:read`.
   */
  fetchCallExport: { input: { exportId: string }; data: string };
  /**
   * One entry of the call log.
   *
   * The call as it is now; while it runs, what is not known yet is null or empty.
   *
   * The key needs `calls:read`.
   */
  readCall: { input: { callUuid: string }; data: Call };
  /**
   * Delete parts of a call for good.
   *
   * Recording, transcript and analysis then say `deleted`. `metadata` is what was known of the person: name,
   * number, metadata; in stored webhook bodies too. Times and outcome stay. Keys of recordings go first, so
   * that no copy can be read any more. Repeating it is fine.
   *
   * The key needs `calls:write`.
   */
  deleteCall: {
    input: {
      callUuid: string;
      /** `recording`, `transcript`, `analysis`, `events`, `metadata`, several separated by commas, or `all` */
      kind?: string;
    };
    data: DeletedParts;
  };
  /**
   * End a call.
   *
   * Before the answer the call becomes `no_answer/canceled`, after it `completed/api_hangup`; by a person at
   * the console `completed/operator_hangup`.
   *
   * The key needs `calls:write`.
   */
  hangUp: { input: { callUuid: string }; data: HangUp };
  /**
   * What happened in a call, in order.
   *
   * A list, or with `Accept: text/event-stream` a stream that begins with what is stored and goes on live;
   * `Last-Event-ID` continues one. Partial words have no id, and neither has what is shown before it is
   * stored, because the database is slow or away: its id follows alone, without an event, once it is; after
   * a break it may come again, with its id. It ends with the event `end`, or without it when its key is
   * revoked.
   *
   * The key needs `calls:read`.
   */
  readCallEvents: { input: { callUuid: string }; data: CallEvents };
  /**
   * The transcript of a call.
   *
   * What was heard so far. As JSON with its turns, as text with a line a turn, or as subtitles for the
   * recording.
   *
   * The key needs `calls:read`.
   */
  readTranscript: {
    input: {
      callUuid: string;
      /** `vtt` is WebVTT, for players */
      format?: 'json' | 'txt' | 'vtt';
    };
    data: Transcript | string;
  };
  /**
   * The request that made a call.
   *
   * Whose it was, when, under which Idempotency-Key, and what places the same call again.
   *
   * The key needs `calls:read`.
   */
  readCallRequest: { input: { callUuid: string }; data: CallRequest };
  /**
   * Steer a call that runs.
   *
   * Answered when the call has done it, within 3 s. Each action is in the events of the call and in the
   * audit log, without its words or digits. Only for an answered call of an agent that converses; a mute
   * outlasts a fault of ours that moves the call.
   *
   * The key needs `calls:write`.
   */
  controlCall: { input: { callUuid: string; body: Control }; data: Controlled };
  /**
   * The recording of a call.
   *
   * Redirects to a signed address that lives five minutes and needs no key. Stored is Ogg/Opus in stereo;
   * every other form is made of it when it is asked for, which takes a second or two.
   *
   * The key needs `calls:read`.
   */
  readRecording: {
    input: {
      callUuid: string;
      /**
       * `stereo` has the caller left and the agent right, `mono` both in one; `caller` and `agent` one of them
       * alone
       */
      variant?: 'stereo' | 'mono' | 'caller' | 'agent';
      /** `ogg` is Ogg/Opus, `wav` 16-bit PCM */
      format?: 'ogg' | 'wav';
      /** One of `recording.parts` alone; without it the whole call */
      part?: number;
    };
    data: ArrayBuffer;
  };
  /**
   * A recording, at its signed address.
   *
   * The addresses in `recording.ready` and in the call log, and the one that `readRecording` redirects to.
   * HEAD and single byte ranges are answered; no key is needed, so treat the address as a secret.
   */
  downloadRecording: {
    input: {
      callUuid: string;
      /**
       * `stereo` has the caller left and the agent right, `mono` both in one; `caller` and `agent` one of them
       * alone
       */
      variant?: 'stereo' | 'mono' | 'caller' | 'agent';
      /** `ogg` is Ogg/Opus, `wav` 16-bit PCM */
      format?: 'ogg' | 'wav';
      /** One of `recording.parts` alone; without it the whole call */
      part?: number;
      /** Unix seconds */
      expires?: number;
      /** Of everything else in the address */
      signature?: string;
    };
    data: ArrayBuffer;
  };
  /**
   * Create a lead, or change the one with this externalId.
   *
   * The same number again makes another lead, whose `duplicateOf` names the oldest. The same `externalId`
   * changes what is given of the lead that has it.
   *
   * The key needs `leads:write`.
   */
  createLead: { input: { body: NewLead }; data: LeadCreated };
  /**
   * Leads, newest first.
   *
   * In pages; filters are combined.
   *
   * The key needs `leads:read`.
   */
  listLeads: {
    input: {
      /** The status of the lead; several, separated by commas, mean any of them */ status?: string;
      /** Its source; several, separated by commas, mean any of them */
      source?: string;
      /** Its agent; several, separated by commas, mean any of them */
      agentId?: string;
      /** Its number, like +14155550123; several, separated by commas, mean any of them */
      phone?: string;
      /** Your own id of it; several, separated by commas, mean any of them */
      externalId?: string;
      /** At this time or later */
      createdAfter?: string;
      /** Before this time */
      createdBefore?: string;
      /** `nextCursor` of the page before */
      cursor?: string;
      /** Entries on the page */
      limit?: number;
    };
    data: Leads;
  };
  /**
   * One lead.
   *
   * As it stands now.
   *
   * The key needs `leads:read`.
   */
  readLead: { input: { leadId: string }; data: Lead };
  /**
   * Change what is given of a lead.
   *
   * null clears; the number can only be changed. `status` takes `new` and `do_not_contact`.
   *
   * The key needs `leads:write`.
   */
  changeLead: { input: { leadId: string; body: LeadChange }; data: StoredLead };
  /**
   * Delete a lead.
   *
   * What it held of a person is gone. A call of it that is under way goes on.
   *
   * The key needs `leads:write`.
   */
  deleteLead: { input: { leadId: string }; data: LeadDeleted };
  /**
   * Imports, newest first.
   *
   * In pages; filters are combined.
   *
   * The key needs `leads:read`.
   */
  listLeadImports: {
    input: {
      /** How far it is; several, separated by commas, mean any of them */ state?: string;
      /** At this time or later */
      createdAfter?: string;
      /** Before this time */
      createdBefore?: string;
      /** `nextCursor` of the page before */
      cursor?: string;
      /** Entries on the page */
      limit?: number;
    };
    data: LeadImports;
  };
  /**
   * Import leads from a file of up to 10,000 rows.
   *
   * The body is the file itself, at most 10 MB: CSV with a header line, or one JSON object a line. It is
   * looked through at once and stored row by row afterwards; a row that is wrong harms no other.
   *
   * The key needs `leads:write`.
   */
  importLeads: {
    input: {
      /** Of rows that name none */ agentId?: string;
      /** Of rows that name none */
      source?: string;
      body: string;
    };
    data: StoredLeadImport;
  };
  /**
   * How far an import is.
   *
   * What was wrong in which row is beside it, under `/errors`.
   *
   * The key needs `leads:read`.
   */
  readLeadImport: { input: { importId: string }; data: LeadImport };
  /**
   * Call off an import.
   *
   * Rows that were stored stay; no more are after the answer. Repeating it is fine.
   *
   * The key needs `leads:write`.
   */
  cancelLeadImport: { input: { importId: string }; data: StoredLeadImport };
  /**
   * What was wrong in which row of an import.
   *
   * In the order of the file, in pages.
   *
   * The key needs `leads:read`.
   */
  listLeadImportErrors: {
    input: {
      importId: string;
      /** `nextCursor` of the page before */
      cursor?: string;
      /** Entries on the page */
      limit?: number;
    };
    data: LeadImportErrors;
  };
  /**
   * Call a lead now.
   *
   * As POST /api/outbound-call, to the number of the lead and with its name, notes, source and metadata for
   * placeholders. The body may be empty. The status of the lead follows the call.
   *
   * The key needs `calls:write`.
   */
  callLead: { input: { leadId: string; body?: LeadCall }; data: LeadCalled };
  /**
   * The numbers that must not be dialled, newest first.
   *
   * In pages. With `phone`: whether this number is among them.
   *
   * The key needs `leads:read`.
   */
  listSuppressions: {
    input: {
      /** The number, like +14155550123; several, separated by commas, mean any of them */ phone?: string;
      /** `nextCursor` of the page before */
      cursor?: string;
      /** Entries on the page */
      limit?: number;
    };
    data: Suppressions;
  };
  /**
   * Put numbers on the list.
   *
   * Holds for every call that begins after the answer. A number that is there already stays as it is.
   *
   * The key needs `leads:write`.
   */
  suppress: { input: { body: NewSuppression }; data: Suppressed };
  /**
   * Take a number off the list.
   *
   * Also one that came there by a call: have a reason.
   *
   * The key needs `leads:write`.
   */
  unsuppress: { input: { phone?: string }; data: Unsuppressed };
  /**
   * The webhook URL and its state.
   *
   * Its secret is shown once, to whoever sets the URL.
   *
   * The key needs `calls:read`.
   */
  readWebhook: { input: Record<never, never>; data: WebhookEndpoint };
  /**
   * Set the webhook URL.
   *
   * The first URL gets a secret, which the answer shows this once. Another URL keeps it, unless `newSecret`
   * asks for one: then both sign for 24 h. What waited goes to the new URL.
   *
   * The key needs `settings:write`.
   */
  setWebhook: { input: { body: WebhookRequest }; data: WebhookSet };
  /**
   * Take the webhook URL and its secret away.
   *
   * What waits is given up. What became of events can still be read, and a URL that is set later can be sent
   * them by a replay.
   *
   * The key needs `settings:write`.
   */
  removeWebhook: { input: Record<never, never>; data: WebhookRemoved };
  /**
   * Choose opt-in events, or switch the URL on or off.
   *
   * Neither makes a new secret.
   *
   * The key needs `webhooks:write`.
   */
  changeWebhook: { input: { body: WebhookChange }; data: WebhookEndpoint };
  /**
   * Switch the URL on, close its breaker and send what waits.
   *
   * Within 5 s; also what was given up since it began to fail. Without effect when it is on and well.
   *
   * The key needs `webhooks:write`.
   */
  enableWebhook: { input: Record<never, never>; data: WebhookEndpoint };
  /**
   * What became of webhooks.
   *
   * Newest first.
   *
   * The key needs `calls:read`.
   */
  listWebhookDeliveries: {
    input: {
      /** Of this call; several, separated by commas, mean any of them */ callUuid?: string;
      /** Which event; several, separated by commas, mean any of them */
      event?: string;
      /** What became of it; several, separated by commas, mean any of them */
      state?: string;
      /** `nextCursor` of the page before */
      cursor?: string;
      /** Entries on the page */
      limit?: number;
    };
    data: WebhookDeliveries;
  };
  /**
   * One delivery with its attempts.
   *
   * What the event said is in the call log.
   *
   * The key needs `calls:read`.
   */
  readWebhookDelivery: { input: { deliveryId: string }; data: WebhookDeliveryDetail };
  /**
   * Send one again.
   *
   * Under the same `webhook-id`, with a whole schedule of attempts before it.
   *
   * The key needs `webhooks:write`.
   */
  redeliverWebhook: { input: { deliveryId: string }; data: WebhookSent };
  /**
   * Send many again.
   *
   * All events of a time, of some kinds or calls, also those from before the URL was set; at most 10,000 at
   * once. Under the same `webhook-id`: a receiver that remembers ids works off only what it missed.
   *
   * The key needs `webhooks:write`.
   */
  replayWebhooks: { input: { body: WebhookReplayRequest }; data: WebhookReplay };
  /**
   * Send a `webhook.test`.
   *
   * Tried once. Read the delivery for its outcome.
   *
   * The key needs `webhooks:write`.
   */
  testWebhook: { input: Record<never, never>; data: WebhookSent };
  /**
   * Make a new signing secret.
   *
   * For 24 h both sign, so that the receiver can be changed in between.
   *
   * The key needs `settings:write`.
   */
  rotateWebhookSecret: { input: Record<never, never>; data: WebhookWithSecret };
  /**
   * What the workspace and its lines may use, and use now.
   *
   * A change of a limit holds within a second.
   *
   * The key needs `calls:read`.
   */
  readLimits: { input: Record<never, never>; data: Limits };
  /**
   * The limits of the workspace and their caps.
   *
   * Limits of a line are with the line.
   *
   * The key needs `settings:read`.
   */
  readLimitSettings: { input: Record<never, never>; data: LimitSettings };
  /**
   * Change the workspace's limits within the operator's caps.
   *
   * Only those that are given. Live calls go on; a change holds within a second.
   *
   * The key needs `settings:write`.
   */
  changeLimitSettings: { input: { body: LimitSettingsChange }; data: LimitSettings };
  /**
   * What the operator lets the workspace dial, and what is left of the day.
   *
   * No key of the workspace changes it; its calling settings narrow it.
   *
   * The key needs `calls:read`.
   */
  readDialPolicy: { input: Record<never, never>; data: DialPolicy };
  /**
   * What a workspace may dial, and what it has had of the day.
   *
   * A new workspace calls ordinary numbers in the countries of its lines.
   *
   * Takes an operator's key.
   */
  readWorkspaceDialPolicy: { input: { slug: string }; data: DialPolicy };
  /**
   * Allow countries and kinds of numbers; set the longest call and the ceilings of a day.
   *
   * Only what is given; it holds for the next dial, and live calls go on.
   *
   * Takes an operator's key.
   */
  changeWorkspaceDialPolicy: { input: { slug: string; body: DialPolicyChange }; data: StoredDialPolicy };
  /**
   * Who changed what in the workspace, newest first.
   *
   * In pages. Rows are chained by their hashes and never change; `…/audit/verification` checks the whole
   * chain.
   *
   * The key needs `audit:read`.
   */
  listAudit: {
    input: {
      /** Who did it, such as key:AbCdEfGh; several, separated by commas, mean any of them */ actor?: string;
      /** What was done, such as line.limits_changed; several, separated by commas, mean any of them */
      action?: string;
      /** To what it was done; several, separated by commas, mean any of them */
      target?: string;
      /** `nextCursor` of the page before */
      cursor?: string;
      /** Entries on the page */
      limit?: number;
    };
    data: Audit;
  };
  /**
   * Is the whole audit as it was written?.
   *
   * Every row is hashed anew, and every seal compared with what the service signs: what was changed,
   * removed, put in or moved in the database is named. A million rows take some ten seconds.
   *
   * The key needs `audit:read`.
   */
  verifyAudit: { input: Record<never, never>; data: AuditVerification };
  /**
   * The agents of the workspace.
   *
   * Their ids are what `agentId` wants.
   *
   * The key needs `agents:read`.
   */
  listAgents: { input: Record<never, never>; data: Agents };
  /**
   * Make an agent of a definition.
   *
   * The definition is checked whole; a faulty one is not stored, and `details` has each fault with its path.
   *
   * The key needs `settings:write`.
   */
  createAgent: { input: { body: AgentRequest }; data: StoredAgent };
  /**
   * An agent with its current definition.
   *
   * What the next call will use.
   *
   * The key needs `settings:read`.
   */
  readAgent: { input: { agentId: string }; data: AgentDetail };
  /**
   * Choose the line of an agent's calls of leads.
   *
   * For those that name none.
   *
   * The key needs `settings:write`.
   */
  setAgentLine: { input: { agentId: string; body: AgentLineRequest }; data: AgentDetail };
  /**
   * Take an agent out of use.
   *
   * It gets no new calls; its live calls go on, and the call log keeps its id.
   *
   * The key needs `settings:write`.
   */
  deleteAgent: { input: { agentId: string }; data: DeletedAgent };
  /**
   * The versions of an agent.
   *
   * Newest first. Each is kept as it was stored.
   *
   * The key needs `settings:read`.
   */
  listAgentVersions: { input: { agentId: string }; data: AgentVersions };
  /**
   * Store the next version of an agent.
   *
   * New calls use it at once; live calls keep the version that they began with.
   *
   * The key needs `settings:write`.
   */
  createAgentVersion: { input: { agentId: string; body: AgentRequest }; data: StoredAgent };
  /**
   * An agent with the definition of one version.
   *
   * Also of one that is not current.
   *
   * The key needs `settings:read`.
   */
  readAgentVersion: { input: { agentId: string; version: number }; data: AgentDetail };
  /**
   * Go back to a version.
   *
   * New calls use it at once. It keeps its number; the next one that is stored gets a number that none had.
   *
   * The key needs `settings:write`.
   */
  activateAgentVersion: { input: { agentId: string; version: number }; data: StoredAgent };
  /**
   * Who uses an agent.
   *
   * Calls, leads, settings and websites; and the clips and connections that it needs itself.
   *
   * The key needs `settings:read`.
   */
  readAgentUses: { input: { agentId: string }; data: AgentUses };
  /**
   * The tools of all agents.
   *
   * As the current versions have them, each with how its last 100 uses went.
   *
   * The key needs `settings:read`.
   */
  listTools: { input: Record<never, never>; data: ListedTools };
  /**
   * How the tools of an agent did.
   *
   * Each tool with its last 100 uses, newest first. Neither arguments nor answers are kept.
   *
   * The key needs `agents:read`.
   */
  readAgentTools: { input: { agentId: string }; data: Tools };
  /**
   * Try a tool by the request that a call would make.
   *
   * Really sent, once; with the secrets of the workspace, which are not shown. Answers 200 whatever came of
   * it. Nothing is kept.
   *
   * The key needs `settings:write`.
   */
  testTool: { input: { agentId: string; toolName: string; body: ToolTrialRequest }; data: ToolTrial };
  /**
   * The clips of the workspace.
   *
   * Sound that agents play where they would speak: docs/clips.md.
   *
   * The key needs `settings:read`.
   */
  listClips: { input: Record<never, never>; data: Clips };
  /**
   * Make a clip of a sound file.
   *
   * Ogg Opus, WebM Opus and WAV; anything else where FFmpeg is installed. At most 10 MB and three minutes.
   * It becomes one channel at -16 LUFS.
   *
   * The key needs `settings:write`.
   */
  createClip: { input: { body: ClipRequest }; data: StoredClip };
  /**
   * A clip, and which agents play it.
   *
   * It cannot be deleted while one does.
   *
   * The key needs `settings:read`.
   */
  readClip: { input: { clipId: string }; data: ClipDetail };
  /**
   * Delete a clip.
   *
   * Its key is forgotten first, so that every copy of it is noise. A live call that has it plays it to its
   * end.
   *
   * The key needs `settings:write`.
   */
  deleteClip: { input: { clipId: string }; data: DeletedClip };
  /**
   * The sound of a clip.
   *
   * As it is stored: 16-bit PCM, one channel, 24 kHz. Legs get it in their own format.
   *
   * The key needs `settings:read`.
   */
  readClipSound: { input: { clipId: string }; data: ArrayBuffer };
  /**
   * The phone numbers of the workspace.
   *
   * Their ids are what `from` wants.
   *
   * The key needs `agents:read`.
   */
  listPhoneNumbers: { input: Record<never, never>; data: PhoneNumbers };
  /**
   * Add a phone line.
   *
   * Credentials may follow later; until then no call can be placed from it. Its limits are at most those
   * that the operator allows the workspace.
   *
   * The key needs `settings:write`.
   */
  createPhoneNumber: { input: { body: NewPhoneNumber }; data: StoredPhoneNumber };
  /**
   * A phone line.
   *
   * Whether it has credentials is shown, never which.
   *
   * The key needs `settings:read`.
   */
  readPhoneNumber: { input: { lineId: string }; data: PhoneNumber };
  /**
   * Change a line's limits.
   *
   * Holds within a second; live calls go on.
   *
   * The key needs `settings:write`.
   */
  changePhoneNumber: { input: { lineId: string; body: PhoneNumberChange }; data: StoredPhoneNumber };
  /**
   * Remove a line.
   *
   * No call is placed from it any more; its live calls go on. Its credentials are gone a day later.
   *
   * The key needs `settings:write`.
   */
  deletePhoneNumber: { input: { lineId: string }; data: DeletedPhoneNumber };
  /**
   * Set the telephony credentials of a line.
   *
   * Write-only. New calls use them; a live call is ended with those that it was placed with.
   *
   * The key needs `settings:write`.
   */
  setPhoneNumberCredentials: { input: { lineId: string; body: TelephonyCredentials }; data: StoredPhoneNumber };
  /**
   * Try the credentials of a line.
   *
   * By one request to its carrier that places no call. Answers 200 whether they serve or not: `ok` says
   * which, `fault` and `problem` what is wrong.
   *
   * The key needs `settings:write`.
   */
  testPhoneNumber: { input: { lineId: string }; data: PhoneNumberTrial };
  /**
   * The API keys of the workspace.
   *
   * Revoked and expired ones too, without their secrets.
   *
   * The key needs `settings:read`.
   */
  listKeys: { input: Record<never, never>; data: ApiKeys };
  /**
   * Make a key.
   *
   * Its text is in the answer and nowhere else. It has no scope, address range or life beyond that of the
   * key that asks. A workspace has at most five live keys.
   *
   * The key needs `settings:write`.
   */
  createKey: { input: { body: NewApiKeyRequest }; data: NewApiKey };
  /**
   * Make a key like this one, which then ends.
   *
   * The old key stays valid for `overlapSeconds`, a minute to a week, so that its users can be changed in
   * between.
   *
   * The key needs `settings:write`.
   */
  rotateKey: { input: { keyId: string; body?: RotateApiKeyRequest }; data: RotatedApiKey };
  /**
   * A key.
   *
   * A revoked or expired one too, without its secret.
   *
   * The key needs `settings:read`.
   */
  readKey: { input: { keyId: string }; data: ApiKey };
  /**
   * Change name, scopes, address ranges or end of life of a key.
   *
   * Only what is given, of a live key; holds within 2 s. It is widened to no scope, address range or life
   * beyond that of the key that asks.
   *
   * The key needs `settings:write`.
   */
  changeKey: { input: { keyId: string; body: ApiKeyChange }; data: StoredApiKey };
  /**
   * End a key.
   *
   * Holds within 2 s on every node, for the key that asks too. Revoking twice is fine.
   *
   * The key needs `settings:write`.
   */
  revokeKey: { input: { keyId: string }; data: StoredApiKey };
  /**
   * When and where the workspace calls, and with which agent and line.
   *
   * Numbers that must not be called are suppressions.
   *
   * The key needs `settings:read`.
   */
  readCallingSettings: { input: Record<never, never>; data: CallingSettings };
  /**
   * Change when, where and with what the workspace calls.
   *
   * Only what is given. Every dial from now on follows it; live calls go on.
   *
   * The key needs `settings:write`.
   */
  changeCallingSettings: { input: { body: CallingSettingsChange }; data: CallingSettings };
  /**
   * The names of the workspace's secrets for tools.
   *
   * Never their values.
   *
   * The key needs `settings:read`.
   */
  listToolSecrets: { input: Record<never, never>; data: ToolSecrets };
  /**
   * When a secret was stored.
   *
   * Never its value. Its ETag is another as soon as the secret is.
   *
   * The key needs `settings:read`.
   */
  readToolSecret: { input: { name: string }; data: ToolSecret };
  /**
   * Store or replace a secret.
   *
   * For `{{secret.NAME}}` in the headers of tools, from the next request on. `TOOL_SIGNING_SECRET` signs the
   * requests of tools.
   *
   * The key needs `settings:write`.
   */
  setToolSecret: { input: { name: string; body: ToolSecretRequest }; data: StoredToolSecret };
  /**
   * Remove a secret.
   *
   * Tools that use it fail from the next request on.
   *
   * The key needs `settings:write`.
   */
  deleteToolSecret: { input: { name: string }; data: DeletedToolSecret };
  /**
   * The providers that connections can be made to.
   *
   * With what each can do, the credentials, settings and limits that it knows, and the engines by which
   * agents use it.
   *
   * The key needs `settings:read`.
   */
  listProviders: { input: Record<never, never>; data: Providers };
  /**
   * The workspace's connections to providers.
   *
   * The newest version of each, without its credentials.
   *
   * The key needs `settings:read`.
   */
  listConnections: { input: Record<never, never>; data: Connections };
  /**
   * Add a connection to a provider.
   *
   * Agents name it in what they listen, think and speak with. Try it with `…/test`.
   *
   * The key needs `settings:write`.
   */
  createConnection: { input: { body: NewConnection }; data: StoredConnection };
  /**
   * A connection.
   *
   * Its newest version, without the credentials.
   *
   * The key needs `settings:read`.
   */
  readConnection: { input: { connectionName: string }; data: Connection };
  /**
   * Make the next version of a connection.
   *
   * Calls that begin from now on use it; calls that run keep theirs.
   *
   * The key needs `settings:write`.
   */
  changeConnection: { input: { connectionName: string; body: ConnectionChange }; data: StoredConnection };
  /**
   * Remove a connection.
   *
   * Refused while an agent or the analysis names it, unless `force`: then their calls do without it. Calls
   * that run go on with it.
   *
   * The key needs `settings:write`.
   */
  deleteConnection: {
    input: {
      connectionName: string;
      /** `true`: although agents or the analysis use it */
      force?: 'true' | 'false';
    };
    data: StoredConnection;
  };
  /**
   * The versions of a connection.
   *
   * Newest first. A version never changes; its credentials are gone a day after it was replaced.
   *
   * The key needs `settings:read`.
   */
  listConnectionVersions: { input: { connectionName: string }; data: ConnectionVersions };
  /**
   * Try a connection by one real request.
   *
   * Answers 200 whether it serves or not: `ok` says which, `fault` and `problem` what is wrong.
   *
   * The key needs `settings:write`.
   */
  testConnection: { input: { connectionName: string; body?: ConnectionTest }; data: ConnectionTrial };
  /**
   * The chat endpoint that reads the calls.
   *
   * 404 where there is none: a local heuristic reads them.
   *
   * The key needs `settings:read`.
   */
  readModelEndpoint: { input: Record<never, never>; data: ModelEndpoint };
  /**
   * Set the chat endpoint.
   *
   * It gets the transcript of every answered call that ends from now on.
   *
   * The key needs `settings:write`.
   */
  setModelEndpoint: { input: { body: ModelEndpointRequest }; data: ModelEndpoint };
  /**
   * Remove the chat endpoint.
   *
   * From now on the local heuristic reads the calls. The connection `analysis` goes with it, unless an agent
   * uses it.
   *
   * The key needs `settings:write`.
   */
  removeModelEndpoint: { input: Record<never, never>; data: ModelEndpoint };
  /**
   * For how long what is kept of calls is kept.
   *
   * 365 days where nothing else was set.
   *
   * The key needs `settings:read`.
   */
  readRetention: { input: Record<never, never>; data: Retention };
  /**
   * Change for how long it is kept.
   *
   * Only the kinds that are given. The next purge follows it, for calls that are over too; what is under a
   * legal hold stays.
   *
   * The key needs `settings:write`.
   */
  changeRetention: { input: { body: RetentionChange }; data: Retention };
  /**
   * For how long what is kept of an agent's calls is kept.
   *
   * Its own rules, else the workspace's.
   *
   * The key needs `settings:read`.
   */
  readAgentRetention: { input: { agentId: string }; data: Retention };
  /**
   * Change for how long an agent's calls are kept.
   *
   * Null for a kind: the workspace's rule holds again.
   *
   * The key needs `settings:write`.
   */
  changeAgentRetention: { input: { agentId: string; body: RetentionChange }; data: Retention };
  /**
   * The legal holds that live, newest first.
   *
   * In pages. With `callUuid`: those that hold one of these calls.
   *
   * The key needs `settings:read`.
   */
  listLegalHolds: {
    input: {
      /** Of these calls; several, separated by commas, mean any of them */ callUuid?: string;
      /** `nextCursor` of the page before */
      cursor?: string;
      /** Entries on the page */
      limit?: number;
    };
    data: LegalHolds;
  };
  /**
   * Keep a call, or every call, whatever the days say and whoever asks.
   *
   * Nothing of what is held is removed, by a purge or by a request, until the hold is released.
   *
   * The key needs `settings:write`.
   */
  placeLegalHold: { input: { body: NewLegalHold }; data: PlacedLegalHold };
  /**
   * Release a legal hold.
   *
   * What is due is removed at the next purge. A hold that the operator has placed, the operator releases;
   * one that a person has placed, a person.
   *
   * The key needs `settings:write`.
   */
  releaseLegalHold: { input: { holdId: string }; data: ReleasedLegalHold };
  /**
   * Remove now what has been kept long enough.
   *
   * The service does so each hour. At most some 1,000 calls a request; what is held stays.
   *
   * The key needs `settings:write`.
   */
  purge: { input: Record<never, never>; data: Purged };
  /**
   * What was removed of calls for good, newest first.
   *
   * In pages; nothing of what is gone is in them.
   *
   * The key needs `settings:read`.
   */
  listPurgeReceipts: {
    input: {
      /** Of these calls; several, separated by commas, mean any of them */ callUuid?: string;
      /** `nextCursor` of the page before */
      cursor?: string;
      /** Entries on the page */
      limit?: number;
    };
    data: PurgeReceipts;
  };
  /**
   * The public keys for web pages.
   *
   * With the origins that may use them.
   *
   * The key needs `settings:read`.
   */
  listWidgetKeys: { input: Record<never, never>; data: WidgetKeys };
  /**
   * Make a public key.
   *
   * Without an origin it is refused everywhere.
   *
   * The key needs `settings:write`.
   */
  createWidgetKey: { input: { body: NewWidgetKey }; data: StoredWidgetKey };
  /**
   * A public key.
   *
   * Revoked ones can be read too.
   *
   * The key needs `settings:read`.
   */
  readWidgetKey: { input: { publicKey: string }; data: WidgetKey };
  /**
   * Change name, switch or allowed origins.
   *
   * The list of origins is replaced whole. Sessions that run go on.
   *
   * The key needs `settings:write`.
   */
  changeWidgetKey: { input: { publicKey: string; body: WidgetKeyChange }; data: StoredWidgetKey };
  /**
   * Revoke a public key for good.
   *
   * New sessions and tokens are refused at once; sessions that run go on.
   *
   * The key needs `settings:write`.
   */
  revokeWidgetKey: { input: { publicKey: string }; data: StoredWidgetKey };
  /**
   * How web sessions are.
   *
   * How many there may be is among the limits.
   *
   * The key needs `settings:read`.
   */
  readWebSettings: { input: Record<never, never>; data: WebSettings };
  /**
   * Change how web sessions are.
   *
   * For sessions that begin from now on.
   *
   * The key needs `settings:write`.
   */
  changeWebSettings: { input: { body: WebSettingsChange }; data: WebSettings };
  /**
   * How the widget looks on the websites of a key.
   *
   * As its owner has set it; before that, as it comes.
   *
   * The key needs `settings:read`.
   */
  readWidgetLook: { input: { publicKey: string }; data: WidgetLook };
  /**
   * Set how the widget looks.
   *
   * The whole of it. Visitors have it within a minute; no page needs to be changed.
   *
   * The key needs `settings:write`.
   */
  setWidgetLook: { input: { publicKey: string; body: WidgetLookRequest }; data: WidgetLook };
  /**
   * A look as visitors would get it.
   *
   * Nothing is stored.
   *
   * The key needs `settings:read`.
   */
  previewWidgetLook: { input: { publicKey: string; body: WidgetLookRequest }; data: WidgetAppearance };
  /**
   * All workspaces of the service.
   *
   * With their switch for API access, limits and caps.
   *
   * Takes an operator's key.
   */
  listWorkspaces: { input: Record<never, never>; data: Workspaces };
  /**
   * Create a workspace.
   *
   * Its API access is off at first.
   *
   * Takes an operator's key.
   */
  createWorkspace: { input: { body: NewWorkspace }; data: StoredWorkspace };
  /**
   * A workspace.
   *
   * By its short name.
   *
   * Takes an operator's key.
   */
  readWorkspace: { input: { slug: string }; data: Workspace };
  /**
   * Rename it, switch its API access on or off, set its limits with their caps.
   *
   * Off: every key of the workspace is refused within 2 s. A limit is at once the cap of what the workspace
   * may set.
   *
   * Takes an operator's key.
   */
  changeWorkspace: { input: { slug: string; body: WorkspaceChange }; data: StoredWorkspace };
  /**
   * Make a workspace's key, such as its first.
   *
   * API access must be on. With `settings:write` it makes the others by itself.
   *
   * Takes an operator's key.
   */
  createWorkspaceKey: { input: { slug: string; body: NewApiKeyRequest }; data: NewApiKey };
  /**
   * What units of providers cost.
   *
   * What holds now and what will hold, of the whole service. Empty until the operator fills it.
   *
   * Takes an operator's key.
   */
  listPrices: {
    input: {
      /** `true`: also what held before */ history?: 'true' | 'false';
    };
    data: Prices;
  };
  /**
   * Set a price from a time on.
   *
   * It is a version of its own: what calls cost before stays as it was.
   *
   * Takes an operator's key.
   */
  setPrice: { input: { body: NewPrice }; data: StoredPrice };
  /**
   * What the service runs as, and how busy it is.
   *
   * Of the node that answers: its processes, machine and database; of the others what their processes tell.
   *
   * Takes an operator's key.
   */
  readService: { input: Record<never, never>; data: ServiceState };
  /**
   * Ask the service what stands in the way of calls.
   *
   * As `parley doctor` does: settings, ports, public address, database, keys, carriers, connections, store,
   * clocks. How many calls the machine carries is left to the command line, because measuring it would slow
   * calls down.
   *
   * Takes an operator's key.
   */
  examineService: { input: Record<never, never>; data: Examination };
  /**
   * Every X-Error-Code, its status and its meaning.
   *
   * The same list as in this document.
   */
  listErrorCodes: { input: Record<never, never>; data: ErrorCodes };
  /**
   * Versions of the embed script.
   *
   * Each with its address and its hash for Subresource Integrity.
   */
  embedVersions: { input: Record<never, never>; data: EmbedVersions };
  /**
   * How the widget looks, for browsers.
   *
   * Asked by the embed script. A key that is not in use has the plain look.
   */
  embedLook: { input: { publicKey: string }; data: WidgetAppearance };
  /**
   * A token for one conversation on a web page.
   *
   * Called by the page itself. The widget key and the Origin decide; the token opens one WebSocket at
   * /ws/live within 60 s (docs/live-protocol.md).
   */
  createEmbedSession: { input: { body: EmbedSessionRequest }; data: EmbedSession };
  /**
   * The process answers.
   *
   * Depends on nothing else; for liveness probes.
   */
  alive: { input: Record<never, never>; data: Alive };
  /**
   * The service can take calls.
   *
   * Yes or no; for readiness probes and load balancers.
   */
  ready: { input: Record<never, never>; data: Ready };
  /**
   * The service can take calls.
   *
   * Yes or no; for readiness probes and load balancers.
   */
  healthy: { input: Record<never, never>; data: Ready };
  /**
   * This document.
   *
   * OpenAPI 3.1.
   */
  openapi: { input: Record<never, never>; data: { openapi: '3.1.1' } };
  /**
   * Who is signed in, and what the person may where.
   *
   * While there is no user at all, the refusal says so in its `details`.
   */
  readConsoleSession: { input: Record<never, never>; data: ConsoleSession };
  /**
   * What a one-time link is for.
   *
   * It is not used by this. Its token travels in the body, where no log has it.
   */
  lookAtLink: { input: { body: LinkToken }; data: OneTimeLink };
  /**
   * What a browser asks a passkey.
   *
   * For `navigator.credentials.get`. With `beside` the passkeys of that person alone, and the answer goes to
   * `POST /api/console/session`; without it whichever the person chooses, and the answer goes to `POST
   * /api/console/session/passkey`.
   */
  askForPasskey: { input: { body: PasskeyAsked }; data: PasskeyOptions };
  /**
   * A secret for an authenticator app.
   *
   * Takes the password once more. It holds once a code of it was confirmed. 409 while one holds: remove it
   * first.
   */
  beginOneTimePasswords: { input: { body: PasswordOnceMore }; data: OneTimePasswordSecret };
  /**
   * Where the person is signed in.
   *
   * The newest first.
   */
  listMySessions: { input: Record<never, never>; data: PersonSessions };
  /**
   * The passkeys of the person.
   *
   * The oldest first.
   */
  listMyPasskeys: { input: Record<never, never>; data: Passkeys };
  /**
   * Add a passkey.
   *
   * With what the browser has answered. From then on it signs the person in, and a password alone does not
   * any more.
   */
  addMyPasskey: { input: { body: NewPasskey }; data: StoredPasskey };
  /**
   * What a browser asks for a new passkey.
   *
   * For `navigator.credentials.create`. Takes the password once more.
   */
  askForNewPasskey: { input: { body: PasswordOnceMore }; data: NewPasskeyOptions };
  /**
   * Call a passkey something else.
   *
   * So that its owner knows which one it is.
   */
  renameMyPasskey: { input: { passkeyId: string; body: PasskeyName }; data: StoredPasskey };
  /**
   * By what one can sign in here.
   *
   * Beside a password and passkeys.
   */
  readSignInWays: { input: Record<never, never>; data: SignInWays };
  /**
   * Sign in by the OpenID provider.
   *
   * The browser goes to the address in the answer, and comes back signed in within ten minutes.
   */
  beginOpenId: { input: Record<never, never>; data: OpenIdUrl };
  /**
   * Where the provider sends the browser back to.
   *
   * Leads to the console: signed in, or at `#/refused/{code}`. What comes back counts once, in the browser
   * in which it was asked for.
   */
  endOpenId: { input: { state?: string }; data: ArrayBuffer };
  /**
   * As whom the OpenID provider knows the person.
   *
   * The oldest first.
   */
  listMyIdentities: { input: Record<never, never>; data: PersonIdentities };
  /**
   * Let an account at the OpenID provider sign the person in.
   *
   * Takes the password once more. The browser goes to the address in the answer, and comes back.
   */
  addMyIdentity: { input: { body: PasswordOnceMore }; data: OpenIdUrl };
  /**
   * The people of the workspace.
   *
   * With their roles.
   *
   * The person needs `users:read`.
   */
  listUsers: { input: { enterprise: string }; data: Users };
  /**
   * Let somebody into the workspace.
   *
   * Whoever has not come in yet does by the link in the answer, which is shown once and lives a day. Owners
   * alone name owners. People of workspaces in which you are not as much are let in by the operator of the
   * service: nobody has proved that the address is theirs.
   *
   * The person needs `users:write`.
   */
  addUser: { input: { enterprise: string; body: NewUser }; data: AddedUser };
  /**
   * Give somebody another role.
   *
   * Holds at once, for open streams within 2 s. The last owner stays one.
   *
   * The person needs `users:write`.
   */
  changeUser: { input: { enterprise: string; userId: string; body: UserChange }; data: StoredUser };
  /**
   * A link with which somebody sets a new password.
   *
   * Ends the former link. Not for operators of the service, nor for people of workspaces in which you are
   * not as much: whoever has the link is that person.
   *
   * The person needs `users:write`.
   */
  resetUser: { input: { enterprise: string; userId: string }; data: ResetUser };
  /**
   * Your views of the call log, and those that others share.
   *
   * By name.
   *
   * The person needs `calls:read`.
   */
  listViews: { input: { enterprise: string }; data: Views };
  /**
   * Keep filters of the call log under a name.
   *
   * For yourself, or for everybody in the workspace.
   *
   * The person needs `calls:read`.
   */
  saveView: { input: { enterprise: string; body: NewView }; data: StoredView };
  /**
   * Rename a view, share it or keep it to yourself.
   *
   * Your own; one that others share, with the right settings:write.
   *
   * The person needs `calls:read`.
   */
  changeView: { input: { enterprise: string; viewId: string; body: ViewChange }; data: StoredView };
  /**
   * What happens now, how a day went, and why nothing is dialled.
   *
   * Rates are of calls that are over. `notDialled` counts requests that made no call, and calls that failed
   * before anything rang.
   *
   * The person needs `calls:read`.
   */
  readOverview: {
    input: {
      enterprise: string;
      /** Default: today there */
      day?: string;
      /** In which the day begins */
      zone?: string;
    };
    data: Overview;
  };
  /**
   * How loud the two sides of a recording are, stretch by stretch.
   *
   * Made when it is first asked for, in a second or two, and kept for an hour.
   *
   * The person needs `recordings:read`.
   */
  readPeaks: { input: { enterprise: string; callUuid: string }; data: SoundPeaks };
  /**
   * A token to listen in to a call that runs.
   *
   * It opens `wss://HOST/ws/monitor?token=…` once, within a minute. The socket begins without sound; nobody
   * in the call hears of it. Who listened, and when, is in the audit log. It ends with the call, with the
   * session and with the right.
   *
   * The person needs `calls:listen`.
   */
  listenIn: { input: { enterprise: string; callUuid: string; body: Record<string, never> }; data: MonitorToken };
}
export const OPERATIONS: Readonly<Record<keyof Operations, OperationFacts>> = {
  placeCall: { method: 'POST', path: '/api/outbound-call', query: [], takesKey: true, hasBody: true },
  listCalls: {
    method: 'GET',
    path: '/api/developer/calls',
    query: [
      'status',
      'endedReason',
      'fault',
      'agentId',
      'leadId',
      'campaignId',
      'channel',
      'direction',
      'to',
      'from',
      'answeredBy',
      'intent',
      'sentiment',
      'successful',
      'hasRecovery',
      'hasUnclear',
      'hasBargeIn',
      'toolErrored',
      'createdAfter',
      'createdBefore',
      'minDuration',
      'maxDuration',
      'mouthToEarP95Gte',
      'idempotencyKey',
      'metadata.<key>',
      'q',
      'cursor',
      'limit',
    ],
    takesKey: false,
    hasBody: false,
  },
  exportCalls: {
    method: 'POST',
    path: '/api/developer/call-exports',
    query: [
      'status',
      'endedReason',
      'fault',
      'agentId',
      'leadId',
      'campaignId',
      'channel',
      'direction',
      'to',
      'from',
      'answeredBy',
      'intent',
      'sentiment',
      'successful',
      'hasRecovery',
      'hasUnclear',
      'hasBargeIn',
      'toolErrored',
      'createdAfter',
      'createdBefore',
      'minDuration',
      'maxDuration',
      'mouthToEarP95Gte',
      'idempotencyKey',
      'metadata.<key>',
      'q',
    ],
    takesKey: true,
    hasBody: true,
  },
  listCallExports: { method: 'GET', path: '/api/developer/call-exports', query: [], takesKey: false, hasBody: false },
  readCallExport: {
    method: 'GET',
    path: '/api/developer/call-exports/{exportId}',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  deleteCallExport: {
    method: 'DELETE',
    path: '/api/developer/call-exports/{exportId}',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  fetchCallExport: {
    method: 'GET',
    path: '/api/developer/call-exports/{exportId}/file',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  readCall: { method: 'GET', path: '/api/developer/calls/{callUuid}', query: [], takesKey: false, hasBody: false },
  deleteCall: {
    method: 'DELETE',
    path: '/api/developer/calls/{callUuid}',
    query: ['kind'],
    takesKey: false,
    hasBody: false,
  },
  hangUp: {
    method: 'POST',
    path: '/api/developer/calls/{callUuid}/hangup',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  readCallEvents: {
    method: 'GET',
    path: '/api/developer/calls/{callUuid}/events',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  readTranscript: {
    method: 'GET',
    path: '/api/developer/calls/{callUuid}/transcript',
    query: ['format'],
    takesKey: false,
    hasBody: false,
  },
  readCallRequest: {
    method: 'GET',
    path: '/api/developer/calls/{callUuid}/request',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  controlCall: {
    method: 'POST',
    path: '/api/developer/calls/{callUuid}/control',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  readRecording: {
    method: 'GET',
    path: '/api/developer/calls/{callUuid}/recording',
    query: ['variant', 'format', 'part'],
    takesKey: false,
    hasBody: false,
  },
  downloadRecording: {
    method: 'GET',
    path: '/api/developer/recordings/{callUuid}',
    query: ['variant', 'format', 'part', 'expires', 'signature'],
    takesKey: false,
    hasBody: false,
  },
  createLead: { method: 'POST', path: '/api/developer/leads', query: [], takesKey: true, hasBody: true },
  listLeads: {
    method: 'GET',
    path: '/api/developer/leads',
    query: ['status', 'source', 'agentId', 'phone', 'externalId', 'createdAfter', 'createdBefore', 'cursor', 'limit'],
    takesKey: false,
    hasBody: false,
  },
  readLead: { method: 'GET', path: '/api/developer/leads/{leadId}', query: [], takesKey: false, hasBody: false },
  changeLead: { method: 'PATCH', path: '/api/developer/leads/{leadId}', query: [], takesKey: false, hasBody: true },
  deleteLead: { method: 'DELETE', path: '/api/developer/leads/{leadId}', query: [], takesKey: false, hasBody: false },
  listLeadImports: {
    method: 'GET',
    path: '/api/developer/leads/import',
    query: ['state', 'createdAfter', 'createdBefore', 'cursor', 'limit'],
    takesKey: false,
    hasBody: false,
  },
  importLeads: {
    method: 'POST',
    path: '/api/developer/leads/import',
    query: ['agentId', 'source'],
    takesKey: true,
    hasBody: true,
  },
  readLeadImport: {
    method: 'GET',
    path: '/api/developer/leads/import/{importId}',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  cancelLeadImport: {
    method: 'POST',
    path: '/api/developer/leads/import/{importId}/cancel',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  listLeadImportErrors: {
    method: 'GET',
    path: '/api/developer/leads/import/{importId}/errors',
    query: ['cursor', 'limit'],
    takesKey: false,
    hasBody: false,
  },
  callLead: { method: 'POST', path: '/api/developer/leads/{leadId}/call', query: [], takesKey: true, hasBody: true },
  listSuppressions: {
    method: 'GET',
    path: '/api/developer/suppressions',
    query: ['phone', 'cursor', 'limit'],
    takesKey: false,
    hasBody: false,
  },
  suppress: { method: 'POST', path: '/api/developer/suppressions', query: [], takesKey: false, hasBody: true },
  unsuppress: {
    method: 'DELETE',
    path: '/api/developer/suppressions',
    query: ['phone'],
    takesKey: false,
    hasBody: false,
  },
  readWebhook: { method: 'GET', path: '/api/developer/webhooks', query: [], takesKey: false, hasBody: false },
  setWebhook: { method: 'PUT', path: '/api/developer/webhooks', query: [], takesKey: true, hasBody: true },
  removeWebhook: { method: 'DELETE', path: '/api/developer/webhooks', query: [], takesKey: false, hasBody: false },
  changeWebhook: { method: 'PATCH', path: '/api/developer/webhooks', query: [], takesKey: false, hasBody: true },
  enableWebhook: { method: 'POST', path: '/api/developer/webhooks/enable', query: [], takesKey: false, hasBody: false },
  listWebhookDeliveries: {
    method: 'GET',
    path: '/api/developer/webhooks/deliveries',
    query: ['callUuid', 'event', 'state', 'cursor', 'limit'],
    takesKey: false,
    hasBody: false,
  },
  readWebhookDelivery: {
    method: 'GET',
    path: '/api/developer/webhooks/deliveries/{deliveryId}',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  redeliverWebhook: {
    method: 'POST',
    path: '/api/developer/webhooks/deliveries/{deliveryId}/redeliver',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  replayWebhooks: { method: 'POST', path: '/api/developer/webhooks/replay', query: [], takesKey: false, hasBody: true },
  testWebhook: { method: 'POST', path: '/api/developer/webhooks/test', query: [], takesKey: false, hasBody: false },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/api/developer/webhooks/rotate-secret',
    query: [],
    takesKey: true,
    hasBody: false,
  },
  readLimits: { method: 'GET', path: '/api/developer/limits', query: [], takesKey: false, hasBody: false },
  readLimitSettings: {
    method: 'GET',
    path: '/api/developer/limit-settings',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  changeLimitSettings: {
    method: 'PATCH',
    path: '/api/developer/limit-settings',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  readDialPolicy: { method: 'GET', path: '/api/developer/dial-policy', query: [], takesKey: false, hasBody: false },
  readWorkspaceDialPolicy: {
    method: 'GET',
    path: '/api/developer/workspaces/{slug}/dial-policy',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  changeWorkspaceDialPolicy: {
    method: 'PATCH',
    path: '/api/developer/workspaces/{slug}/dial-policy',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  listAudit: {
    method: 'GET',
    path: '/api/developer/audit',
    query: ['actor', 'action', 'target', 'cursor', 'limit'],
    takesKey: false,
    hasBody: false,
  },
  verifyAudit: { method: 'GET', path: '/api/developer/audit/verification', query: [], takesKey: false, hasBody: false },
  listAgents: { method: 'GET', path: '/api/developer/agents', query: [], takesKey: false, hasBody: false },
  createAgent: { method: 'POST', path: '/api/developer/agents', query: [], takesKey: true, hasBody: true },
  readAgent: { method: 'GET', path: '/api/developer/agents/{agentId}', query: [], takesKey: false, hasBody: false },
  setAgentLine: { method: 'PATCH', path: '/api/developer/agents/{agentId}', query: [], takesKey: false, hasBody: true },
  deleteAgent: {
    method: 'DELETE',
    path: '/api/developer/agents/{agentId}',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  listAgentVersions: {
    method: 'GET',
    path: '/api/developer/agents/{agentId}/versions',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  createAgentVersion: {
    method: 'POST',
    path: '/api/developer/agents/{agentId}/versions',
    query: [],
    takesKey: true,
    hasBody: true,
  },
  readAgentVersion: {
    method: 'GET',
    path: '/api/developer/agents/{agentId}/versions/{version}',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  activateAgentVersion: {
    method: 'POST',
    path: '/api/developer/agents/{agentId}/versions/{version}/activate',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  readAgentUses: {
    method: 'GET',
    path: '/api/developer/agents/{agentId}/uses',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  listTools: { method: 'GET', path: '/api/developer/tools', query: [], takesKey: false, hasBody: false },
  readAgentTools: {
    method: 'GET',
    path: '/api/developer/agents/{agentId}/tools',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  testTool: {
    method: 'POST',
    path: '/api/developer/agents/{agentId}/tools/{toolName}/test',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  listClips: { method: 'GET', path: '/api/developer/clips', query: [], takesKey: false, hasBody: false },
  createClip: { method: 'POST', path: '/api/developer/clips', query: [], takesKey: true, hasBody: true, isForm: true },
  readClip: { method: 'GET', path: '/api/developer/clips/{clipId}', query: [], takesKey: false, hasBody: false },
  deleteClip: { method: 'DELETE', path: '/api/developer/clips/{clipId}', query: [], takesKey: false, hasBody: false },
  readClipSound: {
    method: 'GET',
    path: '/api/developer/clips/{clipId}/sound',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  listPhoneNumbers: { method: 'GET', path: '/api/developer/phone-numbers', query: [], takesKey: false, hasBody: false },
  createPhoneNumber: { method: 'POST', path: '/api/developer/phone-numbers', query: [], takesKey: true, hasBody: true },
  readPhoneNumber: {
    method: 'GET',
    path: '/api/developer/phone-numbers/{lineId}',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  changePhoneNumber: {
    method: 'PATCH',
    path: '/api/developer/phone-numbers/{lineId}',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  deletePhoneNumber: {
    method: 'DELETE',
    path: '/api/developer/phone-numbers/{lineId}',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  setPhoneNumberCredentials: {
    method: 'PUT',
    path: '/api/developer/phone-numbers/{lineId}/credentials',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  testPhoneNumber: {
    method: 'POST',
    path: '/api/developer/phone-numbers/{lineId}/test',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  listKeys: { method: 'GET', path: '/api/developer/keys', query: [], takesKey: false, hasBody: false },
  createKey: { method: 'POST', path: '/api/developer/keys', query: [], takesKey: true, hasBody: true },
  rotateKey: { method: 'POST', path: '/api/developer/keys/{keyId}/rotate', query: [], takesKey: true, hasBody: true },
  readKey: { method: 'GET', path: '/api/developer/keys/{keyId}', query: [], takesKey: false, hasBody: false },
  changeKey: { method: 'PATCH', path: '/api/developer/keys/{keyId}', query: [], takesKey: false, hasBody: true },
  revokeKey: { method: 'DELETE', path: '/api/developer/keys/{keyId}', query: [], takesKey: false, hasBody: false },
  readCallingSettings: {
    method: 'GET',
    path: '/api/developer/calling-settings',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  changeCallingSettings: {
    method: 'PATCH',
    path: '/api/developer/calling-settings',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  listToolSecrets: { method: 'GET', path: '/api/developer/secrets', query: [], takesKey: false, hasBody: false },
  readToolSecret: { method: 'GET', path: '/api/developer/secrets/{name}', query: [], takesKey: false, hasBody: false },
  setToolSecret: { method: 'PUT', path: '/api/developer/secrets/{name}', query: [], takesKey: false, hasBody: true },
  deleteToolSecret: {
    method: 'DELETE',
    path: '/api/developer/secrets/{name}',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  listProviders: { method: 'GET', path: '/api/developer/providers', query: [], takesKey: false, hasBody: false },
  listConnections: { method: 'GET', path: '/api/developer/connections', query: [], takesKey: false, hasBody: false },
  createConnection: { method: 'POST', path: '/api/developer/connections', query: [], takesKey: true, hasBody: true },
  readConnection: {
    method: 'GET',
    path: '/api/developer/connections/{connectionName}',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  changeConnection: {
    method: 'PATCH',
    path: '/api/developer/connections/{connectionName}',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  deleteConnection: {
    method: 'DELETE',
    path: '/api/developer/connections/{connectionName}',
    query: ['force'],
    takesKey: false,
    hasBody: false,
  },
  listConnectionVersions: {
    method: 'GET',
    path: '/api/developer/connections/{connectionName}/versions',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  testConnection: {
    method: 'POST',
    path: '/api/developer/connections/{connectionName}/test',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  readModelEndpoint: {
    method: 'GET',
    path: '/api/developer/model-endpoint',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  setModelEndpoint: { method: 'PUT', path: '/api/developer/model-endpoint', query: [], takesKey: false, hasBody: true },
  removeModelEndpoint: {
    method: 'DELETE',
    path: '/api/developer/model-endpoint',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  readRetention: { method: 'GET', path: '/api/developer/retention', query: [], takesKey: false, hasBody: false },
  changeRetention: { method: 'PATCH', path: '/api/developer/retention', query: [], takesKey: false, hasBody: true },
  readAgentRetention: {
    method: 'GET',
    path: '/api/developer/agents/{agentId}/retention',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  changeAgentRetention: {
    method: 'PATCH',
    path: '/api/developer/agents/{agentId}/retention',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  listLegalHolds: {
    method: 'GET',
    path: '/api/developer/legal-holds',
    query: ['callUuid', 'cursor', 'limit'],
    takesKey: false,
    hasBody: false,
  },
  placeLegalHold: { method: 'POST', path: '/api/developer/legal-holds', query: [], takesKey: false, hasBody: true },
  releaseLegalHold: {
    method: 'DELETE',
    path: '/api/developer/legal-holds/{holdId}',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  purge: { method: 'POST', path: '/api/developer/retention/purge', query: [], takesKey: false, hasBody: false },
  listPurgeReceipts: {
    method: 'GET',
    path: '/api/developer/retention/receipts',
    query: ['callUuid', 'cursor', 'limit'],
    takesKey: false,
    hasBody: false,
  },
  listWidgetKeys: { method: 'GET', path: '/api/developer/widget-keys', query: [], takesKey: false, hasBody: false },
  createWidgetKey: { method: 'POST', path: '/api/developer/widget-keys', query: [], takesKey: true, hasBody: true },
  readWidgetKey: {
    method: 'GET',
    path: '/api/developer/widget-keys/{publicKey}',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  changeWidgetKey: {
    method: 'PATCH',
    path: '/api/developer/widget-keys/{publicKey}',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  revokeWidgetKey: {
    method: 'DELETE',
    path: '/api/developer/widget-keys/{publicKey}',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  readWebSettings: { method: 'GET', path: '/api/developer/web-settings', query: [], takesKey: false, hasBody: false },
  changeWebSettings: {
    method: 'PATCH',
    path: '/api/developer/web-settings',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  readWidgetLook: {
    method: 'GET',
    path: '/api/developer/widget-keys/{publicKey}/look',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  setWidgetLook: {
    method: 'PUT',
    path: '/api/developer/widget-keys/{publicKey}/look',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  previewWidgetLook: {
    method: 'POST',
    path: '/api/developer/widget-keys/{publicKey}/look/preview',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  listWorkspaces: { method: 'GET', path: '/api/developer/workspaces', query: [], takesKey: false, hasBody: false },
  createWorkspace: { method: 'POST', path: '/api/developer/workspaces', query: [], takesKey: false, hasBody: true },
  readWorkspace: {
    method: 'GET',
    path: '/api/developer/workspaces/{slug}',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  changeWorkspace: {
    method: 'PATCH',
    path: '/api/developer/workspaces/{slug}',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  createWorkspaceKey: {
    method: 'POST',
    path: '/api/developer/workspaces/{slug}/keys',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  listPrices: { method: 'GET', path: '/api/developer/prices', query: ['history'], takesKey: false, hasBody: false },
  setPrice: { method: 'POST', path: '/api/developer/prices', query: [], takesKey: false, hasBody: true },
  readService: { method: 'GET', path: '/api/developer/service', query: [], takesKey: false, hasBody: false },
  examineService: {
    method: 'POST',
    path: '/api/developer/service/examination',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  listErrorCodes: { method: 'GET', path: '/api/developer/error-codes', query: [], takesKey: false, hasBody: false },
  embedVersions: { method: 'GET', path: '/embed/versions.json', query: [], takesKey: false, hasBody: false },
  embedLook: { method: 'GET', path: '/embed/looks/{publicKey}', query: [], takesKey: false, hasBody: false },
  createEmbedSession: { method: 'POST', path: '/api/embed/session', query: [], takesKey: false, hasBody: true },
  alive: { method: 'GET', path: '/livez', query: [], takesKey: false, hasBody: false },
  ready: { method: 'GET', path: '/readyz', query: [], takesKey: false, hasBody: false },
  healthy: { method: 'GET', path: '/healthz', query: [], takesKey: false, hasBody: false },
  openapi: { method: 'GET', path: '/openapi.json', query: [], takesKey: false, hasBody: false },
  readConsoleSession: { method: 'GET', path: '/api/console/session', query: [], takesKey: false, hasBody: false },
  lookAtLink: { method: 'POST', path: '/api/console/link', query: [], takesKey: false, hasBody: true },
  askForPasskey: {
    method: 'POST',
    path: '/api/console/session/passkey/options',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  beginOneTimePasswords: { method: 'POST', path: '/api/console/me/totp', query: [], takesKey: false, hasBody: true },
  listMySessions: { method: 'GET', path: '/api/console/me/sessions', query: [], takesKey: false, hasBody: false },
  listMyPasskeys: { method: 'GET', path: '/api/console/me/passkeys', query: [], takesKey: false, hasBody: false },
  addMyPasskey: { method: 'POST', path: '/api/console/me/passkeys', query: [], takesKey: false, hasBody: true },
  askForNewPasskey: {
    method: 'POST',
    path: '/api/console/me/passkeys/options',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  renameMyPasskey: {
    method: 'PATCH',
    path: '/api/console/me/passkeys/{passkeyId}',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  readSignInWays: { method: 'GET', path: '/api/console/sign-in', query: [], takesKey: false, hasBody: false },
  beginOpenId: { method: 'POST', path: '/api/console/openid', query: [], takesKey: false, hasBody: false },
  endOpenId: { method: 'GET', path: '/console/openid/callback', query: ['state'], takesKey: false, hasBody: false },
  listMyIdentities: { method: 'GET', path: '/api/console/me/identities', query: [], takesKey: false, hasBody: false },
  addMyIdentity: { method: 'POST', path: '/api/console/me/identities', query: [], takesKey: false, hasBody: true },
  listUsers: { method: 'GET', path: '/api/console/w/{enterprise}/users', query: [], takesKey: false, hasBody: false },
  addUser: { method: 'POST', path: '/api/console/w/{enterprise}/users', query: [], takesKey: false, hasBody: true },
  changeUser: {
    method: 'PATCH',
    path: '/api/console/w/{enterprise}/users/{userId}',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  resetUser: {
    method: 'POST',
    path: '/api/console/w/{enterprise}/users/{userId}/reset',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  listViews: { method: 'GET', path: '/api/console/w/{enterprise}/views', query: [], takesKey: false, hasBody: false },
  saveView: { method: 'POST', path: '/api/console/w/{enterprise}/views', query: [], takesKey: false, hasBody: true },
  changeView: {
    method: 'PATCH',
    path: '/api/console/w/{enterprise}/views/{viewId}',
    query: [],
    takesKey: false,
    hasBody: true,
  },
  readOverview: {
    method: 'GET',
    path: '/api/console/w/{enterprise}/overview',
    query: ['day', 'zone'],
    takesKey: false,
    hasBody: false,
  },
  readPeaks: {
    method: 'GET',
    path: '/api/console/w/{enterprise}/calls/{callUuid}/peaks',
    query: [],
    takesKey: false,
    hasBody: false,
  },
  listenIn: {
    method: 'POST',
    path: '/api/console/w/{enterprise}/calls/{callUuid}/monitor',
    query: [],
    takesKey: false,
    hasBody: true,
  },
};
