/** The codes of leads and their import, for `../error-codes.ts`. */
import type { CodeFacts } from '../code-facts.ts';

export const LEAD_CODES = {
  invalid_lead_id: { status: 400, message: 'Invalid lead ID format', meaning: 'A lead id is a UUID.' },
  lead_not_found: {
    status: 404,
    message: 'Lead not found',
    meaning: 'The workspace has no lead of this id; it may have been deleted.',
  },
  lead_active_call: {
    status: 409,
    message: 'Lead already has an active call',
    meaning: 'A call of this lead is not over yet; `lastCallUuid` of the lead names it.',
  },
  duplicate_call: {
    status: 409,
    message: 'Duplicate call in progress',
    meaning:
      'A call with the same number, agent and line is not over yet. To call all the same, send an Idempotency-Key.',
  },
  do_not_contact: {
    status: 403,
    message: 'Call blocked by compliance policy',
    meaning: 'The lead is `do_not_contact`.',
  },
  external_id_taken: {
    status: 409,
    message: 'Another lead has this externalId',
    meaning: 'An `externalId` belongs to one lead of the workspace.',
  },
  invalid_phone: {
    status: 400,
    message: "Invalid 'phone' format",
    meaning:
      'The number must be in international form, like +14155550123; blanks, dashes and parentheses are taken out, no country is guessed.',
  },
  conflicting_phone_fields: {
    status: 400,
    message: 'Conflicting phone fields',
    meaning: '`phone`, `phone_number` and `mobile` hold different numbers.',
  },
  invalid_notes: {
    status: 400,
    message: "Invalid 'notes' format",
    meaning: '`notes` must be a string of at most 4,000 characters.',
  },
  invalid_source: {
    status: 400,
    message: "Invalid 'source' format",
    meaning: '`source` must be a string of at most 120 characters.',
  },
  invalid_externalId: {
    status: 400,
    message: "Invalid 'externalId' format",
    meaning: '`externalId` must be a string of at most 128 characters.',
  },
  invalid_timezone: {
    status: 400,
    message: "Invalid 'timezone' format",
    meaning: '`timezone` must be an IANA name, like America/Los_Angeles.',
  },
  invalid_consent: {
    status: 400,
    message: "Invalid 'consent' format",
    meaning: '`consent` must be an object of `type`, `source`, `at` (ISO 8601) and `proofUrl`; `type` is required.',
  },
  import_not_found: { status: 404, message: 'Import not found', meaning: 'The workspace has no import of this id.' },
  invalid_import_id: { status: 400, message: 'Invalid import ID format', meaning: 'An import id is a UUID.' },
  import_over: {
    status: 409,
    message: 'Import has ended',
    meaning: 'Only an import that is queued or running can be called off; the leads that it stored stay.',
  },
  unsupported_import_type: {
    status: 415,
    message: 'Content-Type must be text/csv or application/x-ndjson',
    meaning: 'Send the file itself as the body, as text/csv with a header line, or as application/x-ndjson.',
  },
  import_empty: { status: 400, message: 'The file has no rows', meaning: 'The file is empty, or has a header only.' },
  import_too_many_rows: {
    status: 400,
    message: 'The file has more than 10000 rows',
    meaning: 'Cut it into files of at most 10,000 rows.',
  },
  import_too_costly: {
    status: 400,
    message: 'The file is too costly to read',
    meaning:
      'It takes too much time or memory to read. Cut it into smaller files, and look for quotes that are not meant.',
  },
  import_no_phone_column: {
    status: 400,
    message: 'The file has no phone column',
    meaning: 'The first line must name the columns; one must be `phone`, `phone_number` or `mobile`.',
  },
  import_duplicate_column: {
    status: 400,
    message: 'The file has a column twice',
    meaning: 'Two columns of the header are the same field of a lead; `details` names it.',
  },
  invalid_status: {
    status: 400,
    message: "Invalid 'status' format",
    meaning: '`status` can be changed to `new` or `do_not_contact`; the other states follow from calls.',
  },
} as const satisfies Record<string, CodeFacts>;
