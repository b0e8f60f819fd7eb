/** The routes of limits, described for the published document. */
import { json, KEYED, none, type Operation, RATE_HEADERS } from '../openapi/operation.ts';
import { CHANGING, IF_MATCH, settings, TAGGED } from '../settings/described.ts';
import { limitSettingsAnswer, limitsAnswer } from './answers.ts';
import { LIMIT_SETTINGS_PATH, limitSettingsBody } from './limits-route.ts';

export const limitOperations: readonly Operation[] = [
  {
    ...none,
    method: 'get',
    route: '/api/developer/limits',
    id: 'readLimits',
    tag: 'Directory',
    summary: 'What the workspace and its lines may use, and use now',
    description: 'A change of a limit holds within a second.',
    scope: 'calls:read',
    answers: { 200: json('All limits.', limitsAnswer, RATE_HEADERS) },
    errors: KEYED,
  },
  {
    ...settings,
    method: 'get',
    route: LIMIT_SETTINGS_PATH,
    id: 'readLimitSettings',
    summary: 'The limits of the workspace and their caps',
    description: 'Limits of a line are with the line.',
    scope: 'settings:read',
    answers: { 200: json('The limits.', limitSettingsAnswer, TAGGED) },
    errors: KEYED,
  },
  {
    ...settings,
    method: 'patch',
    route: LIMIT_SETTINGS_PATH,
    id: 'changeLimitSettings',
    summary: "Change the workspace's limits within the operator's caps",
    description: 'Only those that are given. Live calls go on; a change holds within a second.',
    scope: 'settings:write',
    headers: IF_MATCH,
    body: limitSettingsBody,
    answers: { 200: json('The limits.', limitSettingsAnswer, TAGGED) },
    errors: ['workspace_not_found', ...CHANGING],
  },
];
