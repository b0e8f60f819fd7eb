/** Codes that only the webhook routes answer with. */
import type { CodeFacts } from '../code-facts.ts';

export const WEBHOOK_ERROR_CODES = {
  webhook_not_set: {
    status: 404,
    message: 'No webhook URL',
    meaning: 'The workspace has no webhook URL; set it: PUT /api/developer/webhooks, or parley webhook set.',
  },
  webhook_disabled: {
    status: 409,
    message: 'Webhooks are switched off',
    meaning:
      'The URL answered 410, failed for five days, or was switched off. POST /api/developer/webhooks/enable sends what waits.',
  },
  delivery_not_found: {
    status: 404,
    message: 'Delivery not found',
    meaning: 'The workspace has no webhook delivery of this id; those that were given up are kept 30 days.',
  },
  webhook_too_old: {
    status: 409,
    message: 'The event is too old to be sent again',
    meaning: 'Bodies of delivered events are kept 30 days; the call log still has what they said.',
  },
} as const satisfies Record<string, CodeFacts>;
