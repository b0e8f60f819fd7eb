/** The routes of recordings, described for the published document. */
import { z } from 'zod';
import { callParams } from '../calls/call-routes.ts';
import { COMMON, KEYED, none, type Operation, RATE_HEADERS } from '../openapi/operation.ts';
import { linkQuery, recordingQuery } from './recording-routes.ts';

const sound = { 'audio/ogg': z.file(), 'audio/wav': z.file() };
const HEADERS = { 'Accept-Ranges': '`bytes`', ETag: 'SHA-256 of the stored file' };

export const recordingOperations: readonly Operation[] = [
  {
    ...none,
    method: 'get',
    route: '/api/developer/calls/:callUuid/recording',
    id: 'readRecording',
    tag: 'Calls',
    summary: 'The recording of a call',
    description:
      'Redirects to a signed address that lives five minutes and needs no key. Stored is Ogg/Opus in stereo; every other form is made of it when it is asked for, which takes a second or two.',
    scope: 'calls:read',
    params: callParams,
    query: recordingQuery,
    answers: {
      302: { description: 'Where it is.', content: {}, headers: { ...RATE_HEADERS, Location: 'The signed address' } },
    },
    errors: ['recording_not_ready', 'invalid_request', 'invalid_call_id', 'call_not_found', ...KEYED],
  },
  {
    ...none,
    method: 'get',
    route: '/api/developer/recordings/:callUuid',
    id: 'downloadRecording',
    tag: 'Calls',
    summary: 'A recording, at its signed address',
    description:
      'The addresses in `recording.ready` and in the call log, and the one that `readRecording` redirects to. HEAD and single byte ranges are answered; no key is needed, so treat the address as a secret.',
    scope: null,
    params: callParams,
    query: linkQuery,
    headers: { Range: '`bytes=0-1023`', 'If-Range': 'An ETag' },
    answers: {
      200: { description: 'The file.', content: sound, headers: HEADERS },
      206: {
        description: 'The range.',
        content: sound,
        headers: { ...HEADERS, 'Content-Range': 'Which bytes of how many' },
      },
    },
    errors: [
      'link_invalid',
      'link_expired',
      'recording_not_ready',
      'range_not_satisfiable',
      'recording_store_unavailable',
      'recording_busy',
      'recording_unreadable',
      'invalid_request',
      'invalid_call_id',
      ...COMMON,
    ],
  },
];
