/** The codes that only the routes of recordings answer, and that of a legal hold. */
import type { CodeFacts } from '../code-facts.ts';

export const RECORDING_CODES = {
  link_invalid: {
    status: 403,
    message: 'Invalid link',
    meaning:
      'The address was changed, or signed by another installation. Ask for the recording with the API key again.',
  },
  link_expired: {
    status: 410,
    message: 'Link expired',
    meaning: 'Ask for the recording with the API key again: GET /api/developer/calls/{callUuid}/recording.',
  },
  range_not_satisfiable: {
    status: 416,
    message: 'Range not satisfiable',
    meaning: 'The range begins behind the end of the file; Content-Range has its size.',
  },
  recording_store_unavailable: {
    status: 503,
    message: 'Recording store unavailable',
    meaning: 'Where recordings lie does not answer now. Nothing is lost; try again.',
  },
  recording_busy: {
    status: 503,
    message: 'Too many conversions',
    meaning:
      'Too many recordings are being converted at the moment. The stored form (stereo, ogg) needs no conversion.',
  },
  recording_unreadable: {
    status: 500,
    message: 'Recording cannot be decrypted',
    meaning: 'It was made under another master key. The operator has to start the service with that key.',
  },
  legal_hold: {
    status: 409,
    message: 'Call is under legal hold',
    meaning:
      'Nothing of it is removed until the hold is released; GET /api/developer/legal-holds says who has placed it and why.',
  },
} as const satisfies Record<string, CodeFacts>;
