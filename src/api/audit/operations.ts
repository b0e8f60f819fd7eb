/** The route of the audit, described for the published document. */
import { json, KEYED, none, type Operation, RATE_HEADERS } from '../openapi/operation.ts';
import { auditAnswer } from './answers.ts';
import { auditQuery } from './audit-route.ts';

export const auditOperations: readonly Operation[] = [
  {
    ...none,
    method: 'get',
    route: '/api/developer/audit',
    id: 'listAudit',
    tag: 'Directory',
    summary: 'Who changed what in the workspace, newest first',
    description:
      'In pages. Rows are chained by their hashes and never change; `parley audit verify` checks the whole chain.',
    scope: 'audit:read',
    query: auditQuery,
    answers: { 200: json('A page.', auditAnswer, RATE_HEADERS) },
    errors: [...KEYED, 'invalid_request', 'invalid_cursor'],
  },
];
