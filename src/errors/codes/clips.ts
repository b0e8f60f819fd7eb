/** The codes that only the routes of clips answer. */
import type { CodeFacts } from '../code-facts.ts';

export const CLIP_CODES = {
  invalid_clip: {
    status: 400,
    message: 'The file is no clip',
    meaning:
      'It is damaged, encrypted, silent, longer than three minutes, or of a kind that is not read here; `details` says which, and the way out.',
  },
  clip_too_large: {
    status: 413,
    message: 'Clip file too large',
    meaning: 'A file may have 10 MB. A voice needs less: send Ogg Opus, or one channel.',
  },
  unsupported_clip_type: {
    status: 415,
    message: 'Content-Type must be multipart/form-data',
    meaning:
      'Send a form with the fields `name`, `file` and, if you like, `text`: curl -F name=welcome -F file=@welcome.ogg …',
  },
  clip_not_found: { status: 404, message: 'Clip not found', meaning: 'The workspace has no clip of this id.' },
  clip_in_use: {
    status: 409,
    message: 'Clip is in use',
    meaning: 'The current version of an agent plays it; `details` names the agents. Change them first.',
  },
  clips_busy: {
    status: 503,
    message: 'Too many conversions',
    meaning: 'Too many files are being made into clips at the moment; repeat after Retry-After.',
  },
} as const satisfies Record<string, CodeFacts>;
