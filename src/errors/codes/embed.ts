/** Codes of the embed session (contract §8), for the list in `src/errors/error-codes.ts`. */
import type { CodeFacts } from '../code-facts.ts';

export const EMBED_CODES = {
  invalid_parent_origin: {
    status: 400,
    message: "Invalid 'parentOrigin' format",
    meaning: '`parentOrigin` must be a bare origin as `location.origin` gives it: scheme, host, port, no path.',
  },
  invalid_public_key: {
    status: 401,
    message: 'Invalid public key',
    meaning: 'The widget key is unknown, switched off or revoked.',
  },
  origin_not_allowed: {
    status: 403,
    message: 'Origin not allowed',
    meaning:
      "The Origin header is missing, differs from `parentOrigin`, or is none of the widget key's; the operator allows it with `parley widget allow`.",
  },
  embed_rate_limit: {
    status: 429,
    message: 'Too many sessions',
    meaning: 'More than 10 sessions in a minute from this address, or 60 with this key.',
  },
} as const satisfies Record<string, CodeFacts>;
