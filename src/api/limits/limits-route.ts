/**
 * `/api/developer/limits` (contract §15, Capacity): what the workspace and its lines may use, and use now; and the
 * workspace's own change of its limits, within the operator's caps.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { readCapacity } from '../../limits/capacity.ts';
import type { Database } from '../../store/database.ts';
import { findWorkspace, setWorkspaceLimits, type Workspace } from '../../workspaces/workspaces.ts';
import { changedBy, type Guard } from '../guard.ts';
import { ETAG, json } from '../openapi/operation.ts';
import { routesOn } from '../route.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { limitSettingsAnswer, limitsAnswer } from './answers.ts';

export const LIMIT_SETTINGS_PATH = '/api/developer/limit-settings';

const limit = z.int().min(0).max(1_000_000);
export const limitSettingsBody = z
  .strictObject({
    concurrentCalls: limit.optional(),
    callsPerSecond: limit.optional(),
    apiRequestsPerSecond: limit.optional(),
    apiBurst: limit.optional(),
    webSessions: limit.optional(),
    reservedPhoneCalls: limit
      .nullish()
      .describe('null: half of `concurrentCalls`, rounded up (of one none), as it is until it is set'),
  })
  .meta({ id: 'LimitSettingsChange', description: '0 lets nothing through.' });

export function registerLimits(app: FastifyInstance, guard: Guard, deps: { database: Database }): void {
  const route = routesOn(app, guard);
  const { database } = deps;

  route({
    method: 'get',
    path: '/api/developer/limits',
    id: 'readLimits',
    tag: 'Directory',
    summary: 'What the workspace and its lines may use, and use now',
    description: 'A change of a limit holds within a second.',
    scope: 'calls:read',
    answers: { 200: json('All limits.', limitsAnswer) },
    async handler(request) {
      const capacity = await readCapacity(database, request.principal.workspaceId);
      if (capacity === undefined) throw new Error('The workspace of a valid key is gone.');
      return capacity;
    },
  });

  route({
    method: 'get',
    path: LIMIT_SETTINGS_PATH,
    id: 'readLimitSettings',
    tag: 'Settings',
    summary: 'The limits of the workspace and their caps',
    description: 'Limits of a line are with the line.',
    scope: 'settings:read',
    answers: { 200: json('The limits.', limitSettingsAnswer, ETAG) },
    async handler(request, reply) {
      const workspace = await findWorkspace(database, request.principal.slug);
      reply.header('etag', etagOf(workspace.limits));
      return shown(workspace);
    },
  });

  route({
    method: 'patch',
    path: LIMIT_SETTINGS_PATH,
    id: 'changeLimitSettings',
    tag: 'Settings',
    summary: "Change the workspace's limits within the operator's caps",
    description: 'Only those that are given. Live calls go on; a change holds within a second.',
    scope: 'settings:write',
    ifMatch: true,
    body: limitSettingsBody,
    answers: { 200: json('The limits.', limitSettingsAnswer, ETAG) },
    errors: ['workspace_not_found', 'setting_refused'],
    async handler(request, reply) {
      const { slug } = request.principal;
      const expect = expectMatch<Workspace>(request, ({ limits }) => limits);
      const wanted = { slug, limits: given(request.body), withinCaps: true, by: changedBy(request), expect };
      const workspace = await refusing('workspace_not_found', setWorkspaceLimits(database, wanted));
      reply.header('etag', etagOf(workspace.limits));
      return shown(workspace);
    },
  });
}

const shown = ({ limits, caps }: Workspace): object => ({ limits, caps });
