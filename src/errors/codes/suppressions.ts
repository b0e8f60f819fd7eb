/** The codes of the suppression list, for `../error-codes.ts`. */
import type { CodeFacts } from '../code-facts.ts';

export const SUPPRESSION_CODES = {
  suppression_not_found: {
    status: 404,
    message: 'Suppression not found',
    meaning: 'The number is not on the suppression list of the workspace.',
  },
} as const satisfies Record<string, CodeFacts>;
