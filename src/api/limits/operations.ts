/** The route of limits, described for the published document. */
import { json, KEYED, none, type Operation, RATE_HEADERS } from '../openapi/operation.ts';
import { limitsAnswer } from './answers.ts';

export const limitOperations: readonly Operation[] = [
  {
    ...none,
    method: 'get',
    route: '/api/developer/limits',
    id: 'readLimits',
    tag: 'Directory',
    summary: 'What the workspace and its lines may use, and use now',
    description: 'The operator changes limits; a change holds within a second.',
    scope: 'calls:read',
    answers: { 200: json('All limits.', limitsAnswer, RATE_HEADERS) },
    errors: KEYED,
  },
];
