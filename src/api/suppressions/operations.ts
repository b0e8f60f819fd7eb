/** The routes of the suppression list, described for the published document. */
import { BODY, json, KEYED, none, type Operation, RATE_HEADERS } from '../openapi/operation.ts';
import { suppressedAnswer, suppressionsAnswer, unsuppressedAnswer } from './answers.ts';
import { SUPPRESSIONS_PATH, suppressionBody, suppressionsQuery, unsuppressQuery } from './suppression-routes.ts';

export const suppressionOperations: readonly Operation[] = [
  {
    ...none,
    method: 'get',
    route: SUPPRESSIONS_PATH,
    id: 'listSuppressions',
    tag: 'Leads',
    summary: 'The numbers that must not be dialled, newest first',
    description: 'In pages. With `phone`: whether this number is among them.',
    scope: 'leads:read',
    query: suppressionsQuery,
    answers: { 200: json('A page.', suppressionsAnswer, RATE_HEADERS) },
    errors: [...KEYED, 'invalid_request', 'invalid_cursor'],
  },
  {
    ...none,
    method: 'post',
    route: SUPPRESSIONS_PATH,
    id: 'suppress',
    tag: 'Leads',
    summary: 'Put numbers on the list',
    description: 'Holds for every call that begins after the answer. A number that is there already stays as it is.',
    scope: 'leads:write',
    body: suppressionBody,
    answers: {
      200: json('All of them were there.', suppressedAnswer, RATE_HEADERS),
      201: json('They are on the list.', suppressedAnswer, RATE_HEADERS),
    },
    errors: [...KEYED, ...BODY, 'missing_fields', 'conflicting_phone_fields', 'invalid_phone', 'invalid_request'],
  },
  {
    ...none,
    method: 'delete',
    route: SUPPRESSIONS_PATH,
    id: 'unsuppress',
    tag: 'Leads',
    summary: 'Take a number off the list',
    description: 'Also one that came there by a call: have a reason.',
    scope: 'leads:write',
    query: unsuppressQuery,
    answers: { 200: json('It may be dialled.', unsuppressedAnswer, RATE_HEADERS) },
    errors: [...KEYED, ...BODY, 'invalid_request', 'suppression_not_found'],
  },
];
