/** The routes of the directory, described for the published document. */
import { agentsAnswer, errorCodesAnswer, phoneNumbersAnswer } from './directory-answers.ts';
import { COMMON, json, KEYED, none, type Operation, RATE_HEADERS } from './openapi/operation.ts';

export const directoryOperations: readonly Operation[] = [
  {
    ...none,
    method: 'get',
    route: '/api/developer/agents',
    id: 'listAgents',
    tag: 'Directory',
    summary: 'The agents of the workspace',
    description: 'Their ids are what `agentId` wants.',
    scope: 'agents:read',
    answers: { 200: json('All of them.', agentsAnswer, RATE_HEADERS) },
    errors: KEYED,
  },
  {
    ...none,
    method: 'get',
    route: '/api/developer/phone-numbers',
    id: 'listPhoneNumbers',
    tag: 'Directory',
    summary: 'The phone numbers of the workspace',
    description: 'Their ids are what `from` wants.',
    scope: 'agents:read',
    answers: { 200: json('All of them.', phoneNumbersAnswer, RATE_HEADERS) },
    errors: KEYED,
  },
  {
    ...none,
    method: 'get',
    route: '/api/developer/error-codes',
    id: 'listErrorCodes',
    scope: null,
    tag: 'Directory',
    summary: 'Every X-Error-Code, its status and its meaning',
    description: 'The same list as in this document.',
    answers: { 200: json('The list.', errorCodesAnswer) },
    errors: COMMON,
  },
];
