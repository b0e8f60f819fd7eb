/**
 * Every operation that clients and operators call, described: `document.ts` makes OpenAPI of it, `docs-page.ts` a page. Tests hold it
 * to the routes that exist, to the codes that they really answer and to the bodies that they really send. Carrier callbacks are not
 * in it: they are the carrier's protocol, not ours.
 */
import { z } from 'zod';
import type { Scope } from '../../workspaces/api-keys.ts';
import { callParams, recordingQuery } from '../calls/call-routes.ts';
import { CARRIER_REFUSAL_CODES, type ErrorCode } from '../error-codes.ts';
import { outboundCallBody } from '../outbound-call/request-body.ts';
import {
  agentsAnswer,
  aliveAnswer,
  callAnswer,
  errorCodesAnswer,
  eventsAnswer,
  hangupAnswer,
  phoneNumbersAnswer,
  placedAnswer,
  readyAnswer,
} from './answers.ts';

export interface Answer {
  description: string;
  /** By media type. */
  content: Readonly<Record<string, z.ZodType>>;
  /** Beside those that every answer has. */
  headers?: Readonly<Record<string, string>>;
}

export interface Operation {
  method: 'get' | 'post';
  /** As Fastify has it, `/calls/:callUuid`. */
  route: string;
  id: string;
  tag: 'Calls' | 'Directory' | 'Service';
  summary: string;
  description: string;
  /** Null: for anybody. */
  scope: Scope | null;
  /** An operation of the specification: errors have two keys. */
  specified: boolean;
  headers: Readonly<Record<string, string>>;
  params: z.ZodObject | null;
  query: z.ZodObject | null;
  body: z.ZodType | null;
  answers: Readonly<Record<number, Answer>>;
  errors: readonly ErrorCode[];
}

const json = (description: string, schema: z.ZodType, headers: Record<string, string> = {}): Answer => ({
  description,
  content: { 'application/json': schema },
  headers,
});

const COMMON: readonly ErrorCode[] = ['bad_request', 'internal_error'];
const KEYED: readonly ErrorCode[] = [
  'unauthorized',
  'insufficient_scope',
  'auth_rate_limit',
  'api_rate_limit',
  ...COMMON,
];
/** A request with a body may be refused for it, whether the operation wants one or not. */
const BODY: readonly ErrorCode[] = ['invalid_json', 'unsupported_media_type', 'body_too_large'];
const OF_CALL: readonly ErrorCode[] = ['invalid_call_id', 'call_not_found', ...KEYED];
const RATE_HEADERS = { RateLimit: 'What is left of the limit', 'RateLimit-Policy': 'The limit' };

const none = { headers: {}, params: null, query: null, body: null, specified: false } as const;
const open = { ...none, tag: 'Service', scope: null, method: 'get' } as const;
const call = { ...none, tag: 'Calls', params: callParams } as const;

export const OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    route: '/api/outbound-call',
    id: 'placeCall',
    tag: 'Calls',
    summary: 'Call a phone number and hand the conversation to an agent',
    description:
      'Answers as soon as the carrier has taken the call. Follow it by its events, read it from the call log, or wait for the webhook. A 500 with `submission_unknown` may ring: repeat it with the same Idempotency-Key only.',
    scope: 'calls:write',
    specified: true,
    headers: {
      'Idempotency-Key': '1 to 255 letters, digits, _ or -. The same key and body within 24 h get the same answer.',
      Prefer: '`return=representation` adds `call` and `limits` to the answer.',
      'X-Request-Id': 'Comes back in the answer and stands in our log.',
    },
    params: null,
    query: null,
    body: outboundCallBody,
    answers: {
      200: json('The carrier has taken the call.', placedAnswer, {
        ...RATE_HEADERS,
        'X-Call-Uuid': 'The same as `callUuid`',
        'X-Call-Status': '`dialing` or `ringing`',
        'Idempotent-Replayed': '`true` when the answer was stored before',
        'Preference-Applied': 'What of Prefer was done',
      }),
    },
    errors: [
      'unauthorized',
      'auth_rate_limit',
      'api_rate_limit',
      ...BODY,
      'missing_fields',
      'invalid_from',
      'invalid_to',
      'invalid_agentId',
      'invalid_name',
      'invalid_metadata',
      'credentials_missing',
      'agent_not_found',
      'agent_not_outbound',
      'blocked_suppressed',
      'blocked_time_window',
      'blocked_country',
      'draining',
      'cps_limit',
      'concurrency_limit',
      'carrier_throttled',
      ...CARRIER_REFUSAL_CODES,
      'submission_unknown',
      'invalid_idempotency_key',
      'request_in_progress',
      'idempotency_state_unknown',
      'idempotency_key_reused',
      ...COMMON,
    ],
  },
  {
    ...call,
    method: 'get',
    route: '/api/developer/calls/:callUuid',
    id: 'readCall',
    summary: 'One entry of the call log',
    description: 'The call as it is now; while it runs, what is not known yet is null or empty.',
    scope: 'calls:read',
    answers: { 200: json('The call.', callAnswer, RATE_HEADERS) },
    errors: OF_CALL,
  },
  {
    ...call,
    method: 'get',
    route: '/api/developer/calls/:callUuid/events',
    id: 'readCallEvents',
    summary: 'What happened in a call, in order',
    description:
      'A list, or with `Accept: text/event-stream` a stream that begins with what is stored and goes on live; `Last-Event-ID` continues one. It ends with the event `end`.',
    scope: 'calls:read',
    headers: { Accept: '`text/event-stream` for a stream', 'Last-Event-ID': 'The last event that was received' },
    answers: {
      200: {
        description: 'The events.',
        content: { 'application/json': eventsAnswer, 'text/event-stream': z.string() },
        headers: RATE_HEADERS,
      },
    },
    errors: OF_CALL,
  },
  {
    ...call,
    method: 'get',
    route: '/api/developer/calls/:callUuid/recording',
    id: 'readRecording',
    summary: 'The recording of a call',
    description: 'Ogg/Opus in stereo: the caller left, the agent right.',
    scope: 'calls:read',
    query: recordingQuery,
    answers: {
      200: { description: 'The file.', content: { 'audio/ogg': z.file() }, headers: RATE_HEADERS },
    },
    errors: ['recording_not_ready', 'invalid_request', ...OF_CALL],
  },
  {
    ...call,
    method: 'post',
    route: '/api/developer/calls/:callUuid/hangup',
    id: 'hangUp',
    summary: 'End a call',
    description: 'Before the answer the call becomes `no_answer/canceled`, after it `completed/api_hangup`.',
    scope: 'calls:write',
    answers: {
      200: json('The call was over already.', hangupAnswer, RATE_HEADERS),
      202: json('The carrier is asked to hang up.', hangupAnswer, RATE_HEADERS),
    },
    errors: [...OF_CALL, ...BODY],
  },
  {
    ...none,
    method: 'get',
    route: '/api/developer/agents',
    id: 'listAgents',
    tag: 'Directory',
    summary: 'The agents of the workspace',
    description: 'Their ids are what `agentId` wants.',
    scope: 'agents:read',
    answers: { 200: json('All of them.', agentsAnswer, RATE_HEADERS) },
    errors: KEYED,
  },
  {
    ...none,
    method: 'get',
    route: '/api/developer/phone-numbers',
    id: 'listPhoneNumbers',
    tag: 'Directory',
    summary: 'The phone numbers of the workspace',
    description: 'Their ids are what `from` wants.',
    scope: 'agents:read',
    answers: { 200: json('All of them.', phoneNumbersAnswer, RATE_HEADERS) },
    errors: KEYED,
  },
  {
    ...open,
    route: '/api/developer/error-codes',
    id: 'listErrorCodes',
    tag: 'Directory',
    summary: 'Every X-Error-Code, its status and its meaning',
    description: 'The same list as in this document.',
    answers: { 200: json('The list.', errorCodesAnswer) },
    errors: COMMON,
  },
  {
    ...open,
    route: '/livez',
    id: 'alive',
    summary: 'The process answers',
    description: 'Depends on nothing else; for liveness probes.',
    answers: { 200: json('It does.', aliveAnswer) },
    errors: COMMON,
  },
  ...(['/readyz', '/healthz'] as const).map(
    (route): Operation => ({
      ...open,
      route,
      id: route === '/readyz' ? 'ready' : 'healthy',
      summary: 'The service can take calls',
      description: 'Each check by name; for readiness probes and load balancers.',
      answers: {
        200: json('Every check is well.', readyAnswer),
        503: json('At least one is not.', readyAnswer, { 'Retry-After': 'Seconds' }),
      },
      errors: COMMON,
    }),
  ),
  {
    ...open,
    route: '/openapi.json',
    id: 'openapi',
    summary: 'This document',
    description: 'OpenAPI 3.1.',
    answers: { 200: json('The document.', z.looseObject({ openapi: z.literal('3.1.1') })) },
    errors: COMMON,
  },
  {
    ...open,
    route: '/docs',
    id: 'docs',
    summary: 'This document as a page',
    description: 'Needs no script and nothing from elsewhere.',
    answers: { 200: { description: 'The page.', content: { 'text/html': z.string() } } },
    errors: COMMON,
  },
];
