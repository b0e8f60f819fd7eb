/** The routes of API keys, described for the published document. */
import { BODY, json, KEYED, ONCE, type Operation, RATE_HEADERS, REPLAYED } from '../openapi/operation.ts';
import { CHANGING, CREATING, IF_MATCH, settings, TAGGED } from '../settings/described.ts';
import { keyAnswer, keysAnswer, newKeyAnswer, rotatedKeyAnswer, storedKeyAnswer } from './answers.ts';
import { KEYS_PATH, keyChangeBody, keyParams, newKeyBody, rotateBody } from './key-routes.ts';

export const keyOperations: readonly Operation[] = [
  {
    ...settings,
    method: 'get',
    route: KEYS_PATH,
    id: 'listKeys',
    summary: 'The API keys of the workspace',
    description: 'Revoked and expired ones too, without their secrets.',
    scope: 'settings:read',
    answers: { 200: json('All of them.', keysAnswer, RATE_HEADERS) },
    errors: KEYED,
  },
  {
    ...settings,
    method: 'post',
    route: KEYS_PATH,
    id: 'createKey',
    summary: 'Make a key',
    description:
      'Its text is in the answer and nowhere else. It has no scope, address range or life beyond that of the key that asks. A workspace has at most five live keys.',
    scope: 'settings:write',
    headers: ONCE,
    body: newKeyBody,
    answers: { 201: json('The key, this once.', newKeyAnswer, REPLAYED) },
    errors: CREATING,
  },
  {
    ...settings,
    method: 'get',
    route: `${KEYS_PATH}/:keyId`,
    id: 'readKey',
    summary: 'A key',
    description: 'A revoked or expired one too, without its secret.',
    scope: 'settings:read',
    params: keyParams,
    answers: { 200: json('The key.', keyAnswer, TAGGED) },
    errors: ['key_not_found', ...KEYED],
  },
  {
    ...settings,
    method: 'patch',
    route: `${KEYS_PATH}/:keyId`,
    id: 'changeKey',
    summary: 'Change name, scopes, address ranges or end of life of a key',
    description:
      'Only what is given, of a live key; holds within 2 s. It is widened to no scope, address range or life beyond that of the key that asks.',
    scope: 'settings:write',
    headers: IF_MATCH,
    params: keyParams,
    body: keyChangeBody,
    answers: { 200: json('The key.', storedKeyAnswer, TAGGED) },
    errors: ['key_not_found', ...CHANGING],
  },
  {
    ...settings,
    method: 'post',
    route: `${KEYS_PATH}/:keyId/rotate`,
    id: 'rotateKey',
    summary: 'Make a key like this one, which then ends',
    description:
      'The old key stays valid for `overlapSeconds`, a minute to a week, so that its users can be changed in between.',
    scope: 'settings:write',
    headers: ONCE,
    params: keyParams,
    body: rotateBody,
    bodyOptional: true,
    answers: { 201: json('The new key, this once.', rotatedKeyAnswer, REPLAYED) },
    errors: ['key_not_found', ...CREATING],
  },
  {
    ...settings,
    method: 'delete',
    route: `${KEYS_PATH}/:keyId`,
    id: 'revokeKey',
    summary: 'End a key',
    description: 'Holds within 2 s on every node, for the key that asks too. Revoking twice is fine.',
    scope: 'settings:write',
    params: keyParams,
    answers: { 200: json('The key.', storedKeyAnswer, RATE_HEADERS) },
    errors: ['key_not_found', 'invalid_request', ...KEYED, ...BODY],
  },
];
