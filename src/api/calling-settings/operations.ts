/** The calling settings, described for the published document. */
import { z } from 'zod';
import { json, KEYED, type Operation } from '../openapi/operation.ts';
import { uuid } from '../openapi/shared-answers.ts';
import { CHANGING, IF_MATCH, settings, TAGGED } from '../settings/described.ts';
import { CALLING_SETTINGS_PATH, callingBody } from './calling-setting-routes.ts';

const callingAnswer = z
  .strictObject({
    window: z
      .strictObject({ start: z.string(), end: z.string(), days: z.array(z.int()), timezone: z.string() })
      .nullable(),
    allowedCountries: z.array(z.string()).nullable(),
    blockedCountries: z.array(z.string()),
    guardCalls: z.boolean(),
    guardLeads: z.boolean(),
    defaultAgentId: uuid.nullable(),
    defaultLineId: uuid.nullable(),
  })
  .meta({ id: 'CallingSettings' });

export const callingSettingOperations: readonly Operation[] = [
  {
    ...settings,
    method: 'get',
    route: CALLING_SETTINGS_PATH,
    id: 'readCallingSettings',
    summary: 'When and where the workspace calls, and with which agent and line',
    description: 'Numbers that must not be called are suppressions.',
    scope: 'settings:read',
    answers: { 200: json('The settings.', callingAnswer, TAGGED) },
    errors: KEYED,
  },
  {
    ...settings,
    method: 'patch',
    route: CALLING_SETTINGS_PATH,
    id: 'changeCallingSettings',
    summary: 'Change when, where and with what the workspace calls',
    description: 'Only what is given. Every dial from now on follows it; live calls go on.',
    scope: 'settings:write',
    headers: IF_MATCH,
    body: callingBody,
    answers: { 200: json('The settings.', callingAnswer, TAGGED) },
    errors: ['agent_not_found', 'line_not_found', ...CHANGING],
  },
];
