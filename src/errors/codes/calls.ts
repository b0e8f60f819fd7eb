/** The codes that only the routes of calls answer. */
import type { CodeFacts } from '../code-facts.ts';

export const CALL_ERROR_CODES = {
  event_stream_limit: {
    status: 429,
    message: 'Too many event streams',
    meaning:
      'A key may have 100 event streams open at a time, a call 20. End one, or read the events as a list, without `Accept: text/event-stream`.',
  },
  export_not_found: {
    status: 404,
    message: 'Export not found',
    meaning: 'You have no export of this id: it was deleted, is older than a day, or is somebody else’s.',
  },
  export_not_ready: {
    status: 409,
    message: 'Export not ready',
    meaning: 'It is still being written, or failed: its `state` says which.',
  },
  transcript_not_ready: {
    status: 404,
    message: 'Transcript not ready',
    meaning:
      'Nothing was said in the call, or not yet, or the transcript was deleted; see `transcriptStatus` of the call.',
  },
  call_live: {
    status: 409,
    message: 'Call has not ended',
    meaning: 'Only a call that has ended can be deleted; end it first (POST …/hangup).',
  },
  call_not_in_progress: {
    status: 409,
    message: 'Call is not in progress',
    meaning: 'Only a call that was answered, has not ended and has its media connected can be controlled.',
  },
  action_not_possible: {
    status: 409,
    message: 'The call cannot do this now',
    meaning: '`details` says why; the call goes on unchanged.',
  },
  action_not_supported: {
    status: 422,
    message: 'Action not supported for this call',
    meaning: 'The action exists in the contract, but calls of this kind, agent or carrier do not have it.',
  },
  control_unanswered: {
    status: 409,
    message: 'The call did not confirm the action',
    meaning:
      'The media process did not answer within 3 s: the action may or may not have happened. The events of the call say.',
  },
} as const satisfies Record<string, CodeFacts>;
