/** The routes of calls, described for the published document. */
import { z } from 'zod';
import type { ErrorCode } from '../error-codes.ts';
import { BODY, json, KEYED, none, type Operation, RATE_HEADERS } from '../openapi/operation.ts';
import {
  callAnswer,
  callsAnswer,
  controlAnswer,
  deletedAnswer,
  eventsAnswer,
  hangupAnswer,
  transcriptAnswer,
} from './answers.ts';
import { callParams } from './call-routes.ts';
import { controlBody } from './control-route.ts';
import { deleteQuery } from './delete-route.ts';
import { listQuery } from './list-query.ts';
import { transcriptQuery } from './transcript-route.ts';

const OF_CALL: readonly ErrorCode[] = ['invalid_call_id', 'call_not_found', ...KEYED];
const call = { ...none, tag: 'Calls', params: callParams } as const;

export const callOperations: readonly Operation[] = [
  {
    ...call,
    params: null,
    method: 'get',
    route: '/api/developer/calls',
    id: 'listCalls',
    summary: 'The call log',
    description:
      'Newest first. Several filters must all hold. A call is in the list from its placement on; its transcript is searched once it has ended.',
    scope: 'calls:read',
    query: listQuery,
    answers: { 200: json('A page.', callsAnswer, RATE_HEADERS) },
    errors: ['invalid_request', 'invalid_cursor', ...KEYED],
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
      'A list, or with `Accept: text/event-stream` a stream that begins with what is stored and goes on live; `Last-Event-ID` continues one. It ends with the event `end`, or without it when its key is revoked.',
    scope: 'calls:read',
    headers: { Accept: '`text/event-stream` for a stream', 'Last-Event-ID': 'The last event that was received' },
    answers: {
      200: {
        description: 'The events.',
        content: { 'application/json': eventsAnswer, 'text/event-stream': z.string() },
        headers: RATE_HEADERS,
      },
    },
    errors: [...OF_CALL, 'event_stream_limit'],
  },
  {
    ...call,
    method: 'get',
    route: '/api/developer/calls/:callUuid/transcript',
    id: 'readTranscript',
    summary: 'The transcript of a call',
    description:
      'What was heard so far. As JSON with its turns, as text with a line a turn, or as subtitles for the recording.',
    scope: 'calls:read',
    query: transcriptQuery,
    answers: {
      200: {
        description: 'The transcript.',
        content: { 'application/json': transcriptAnswer, 'text/plain': z.string(), 'text/vtt': z.string() },
        headers: RATE_HEADERS,
      },
    },
    errors: ['transcript_not_ready', 'invalid_request', ...OF_CALL],
  },
  {
    ...call,
    method: 'delete',
    route: '/api/developer/calls/:callUuid',
    id: 'deleteCall',
    summary: 'Delete parts of a call for good',
    description:
      'Recording, transcript and analysis then say `deleted`. `metadata` is what was known of the person: name, number, metadata; in stored webhook bodies too. Times and outcome stay. Keys of recordings go first, so that no copy can be read any more. Repeating it is fine.',
    scope: 'calls:write',
    query: deleteQuery,
    answers: { 200: json('They are gone.', deletedAnswer, RATE_HEADERS) },
    errors: ['call_live', 'legal_hold', 'invalid_request', ...OF_CALL, ...BODY],
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
    ...call,
    method: 'post',
    route: '/api/developer/calls/:callUuid/control',
    id: 'controlCall',
    summary: 'Steer a call that runs',
    description:
      'Answered when the call has done it, within 3 s. Each action is in the events of the call and in the audit log, without its words or digits. Only for an answered call of a scripted agent; a mute outlasts a fault of ours that moves the call.',
    scope: 'calls:write',
    body: controlBody,
    answers: { 200: json('It is done.', controlAnswer, RATE_HEADERS) },
    errors: [
      'call_not_in_progress',
      'action_not_possible',
      'action_not_supported',
      'control_unanswered',
      'invalid_request',
      ...OF_CALL,
      ...BODY,
    ],
  },
];
