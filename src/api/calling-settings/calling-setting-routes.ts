/**
 * `/api/developer/calling-settings`: hours and countries in which the workspace calls, the guard against the same call
 * twice, and the agent and line of leads' calls that name none. The rules are `src/suppressions/calling-policy.ts`; the
 * command line runs the same.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Database } from '../../store/database.ts';
import {
  type CallingSettings,
  changeCallingSettings,
  readCallingSettings,
  readCountries,
  readWindow,
} from '../../suppressions/calling-policy.ts';
import { changedBy, type Guard } from '../guard.ts';
import { ETAG, json } from '../openapi/operation.ts';
import { routesOn } from '../route.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { callingAnswer } from './answers.ts';

export const CALLING_SETTINGS_PATH = '/api/developer/calling-settings';

const id = z.guid({ error: 'must be a UUID' }).transform((text) => text.toLowerCase());
const countries = z.array(z.string().max(2)).max(250);

export const callingBody = z
  .strictObject({
    window: z
      .strictObject({
        start: z.string().max(5).meta({ description: '09:00' }),
        end: z.string().max(5).meta({ description: '20:00, within one day' }),
        days: z.array(z.int().min(1).max(7)).min(1).max(7).meta({ description: '1 is Monday' }),
        timezone: z.string().max(64).meta({ description: 'IANA, or `recipient`: that of the called person' }),
      })
      .nullish()
      .meta({ description: 'Null: at any time' }),
    allowedCountries: countries.min(1).nullish().meta({ description: 'ISO 3166; null: any' }),
    blockedCountries: countries.optional(),
    guardCalls: z.boolean().optional().meta({ description: 'Refuse a call while the same one is not over' }),
    guardLeads: z.boolean().optional(),
    defaultAgentId: id.nullish(),
    defaultLineId: id.nullish(),
  })
  .meta({ id: 'CallingSettingsChange' });

export function registerCallingSettings(app: FastifyInstance, guard: Guard, deps: { database: Database }): void {
  const route = routesOn(app, guard);
  const { database } = deps;

  route({
    method: 'get',
    path: CALLING_SETTINGS_PATH,
    id: 'readCallingSettings',
    tag: 'Settings',
    summary: 'When and where the workspace calls, and with which agent and line',
    description: 'Numbers that must not be called are suppressions.',
    scope: 'settings:read',
    answers: { 200: json('The settings.', callingAnswer, ETAG) },
    async handler(request, reply) {
      const found = await readCallingSettings(database, request.principal.workspaceId);
      reply.header('etag', etagOf(found));
      return found;
    },
  });

  route({
    method: 'patch',
    path: CALLING_SETTINGS_PATH,
    id: 'changeCallingSettings',
    tag: 'Settings',
    summary: 'Change when, where and with what the workspace calls',
    description: 'Only what is given. Every dial from now on follows it; live calls go on.',
    scope: 'settings:write',
    ifMatch: true,
    body: callingBody,
    answers: { 200: json('The settings.', callingAnswer, ETAG) },
    errors: ['agent_not_found', 'line_not_found', 'setting_refused'],
    async handler(request, reply) {
      const { workspaceId } = request.principal;
      const expect = expectMatch<CallingSettings>(request, (current) => current);
      const code = request.body.defaultLineId === undefined ? 'agent_not_found' : 'line_not_found';
      const changed = await refusing(
        request.body.defaultAgentId === undefined ? code : 'agent_not_found',
        (async () =>
          changeCallingSettings(database, workspaceId, changeOf(request.body), changedBy(request), expect))(),
      );
      reply.header('etag', etagOf(changed));
      return changed;
    },
  });
}

function changeOf({ window, allowedCountries, blockedCountries, ...rest }: z.output<typeof callingBody>) {
  return given({
    ...rest,
    window: window && readWindow(`${window.start}-${window.end}`, window.days.join(','), window.timezone),
    allowedCountries: allowedCountries && readCountries(allowedCountries.join(',')),
    blockedCountries:
      blockedCountries === undefined || blockedCountries.length === 0
        ? blockedCountries
        : readCountries(blockedCountries.join(',')),
  });
}
