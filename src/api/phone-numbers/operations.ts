/** The routes of phone numbers, described for the published document. */
import { json, KEYED, ONCE, type Operation, RATE_HEADERS, REPLAYED } from '../openapi/operation.ts';
import { CHANGING, CREATING, IF_MATCH, settings, TAGGED } from '../settings/described.ts';
import { deletedPhoneNumberAnswer, phoneNumberAnswer, phoneNumbersAnswer, storedPhoneNumberAnswer } from './answers.ts';
import { credentialsBody, lineChangeBody, lineParams, newLineBody, PHONE_NUMBERS_PATH } from './phone-number-routes.ts';

const one = `${PHONE_NUMBERS_PATH}/:lineId`;
const changing = { ...settings, scope: 'settings:write', headers: IF_MATCH, params: lineParams } as const;

export const phoneNumberOperations: readonly Operation[] = [
  {
    ...settings,
    tag: 'Directory',
    method: 'get',
    route: PHONE_NUMBERS_PATH,
    id: 'listPhoneNumbers',
    summary: 'The phone numbers of the workspace',
    description: 'Their ids are what `from` wants.',
    scope: 'agents:read',
    answers: { 200: json('All of them.', phoneNumbersAnswer, RATE_HEADERS) },
    errors: KEYED,
  },
  {
    ...settings,
    method: 'post',
    route: PHONE_NUMBERS_PATH,
    id: 'createPhoneNumber',
    summary: 'Add a phone line',
    description:
      'Credentials may follow later; until then no call can be placed from it. Its limits are at most those that the operator allows the workspace.',
    scope: 'settings:write',
    headers: ONCE,
    body: newLineBody,
    answers: { 201: json('The line.', storedPhoneNumberAnswer, { ...REPLAYED, ETag: TAGGED.ETag }) },
    errors: CREATING,
  },
  {
    ...settings,
    method: 'get',
    route: one,
    id: 'readPhoneNumber',
    summary: 'A phone line',
    description: 'Whether it has credentials is shown, never which.',
    scope: 'settings:read',
    params: lineParams,
    answers: { 200: json('The line.', phoneNumberAnswer, TAGGED) },
    errors: ['line_not_found', 'invalid_request', ...KEYED],
  },
  {
    ...changing,
    method: 'patch',
    route: one,
    id: 'changePhoneNumber',
    summary: "Change a line's limits",
    description: 'Holds within a second; live calls go on.',
    body: lineChangeBody,
    answers: { 200: json('The line.', storedPhoneNumberAnswer, TAGGED) },
    errors: ['line_not_found', ...CHANGING],
  },
  {
    ...changing,
    method: 'put',
    route: `${one}/credentials`,
    id: 'setPhoneNumberCredentials',
    summary: 'Set the telephony credentials of a line',
    description: 'Write-only. New calls use them; a live call is ended with those that it was placed with.',
    body: credentialsBody,
    answers: { 200: json('The line.', storedPhoneNumberAnswer, TAGGED) },
    errors: ['line_not_found', ...CHANGING],
  },
  {
    ...changing,
    method: 'delete',
    route: one,
    id: 'deletePhoneNumber',
    summary: 'Remove a line',
    description: 'No call is placed from it any more; its live calls go on. Its credentials are gone a day later.',
    answers: { 200: json('It is gone.', deletedPhoneNumberAnswer, RATE_HEADERS) },
    errors: ['line_not_found', ...CHANGING],
  },
];
