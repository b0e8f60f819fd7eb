/**
 * `/api/developer/limits` (contract §15, Capacity): what the workspace and its lines may use, and use now; and the workspace's own
 * change of its limits, within the operator's caps.
 */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { readCapacity } from '../../limits/capacity.ts';
import type { Database } from '../../store/database.ts';
import { findWorkspace, setWorkspaceLimits, type Workspace } from '../../workspaces/workspaces.ts';
import { changedBy, type Guard } from '../guard.ts';
import { etagOf, expectMatch } from '../settings/etag.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';

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

export function registerLimits(plain: FastifyInstance, guard: Guard, deps: { database: Database }): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database } = deps;

  app.get('/api/developer/limits', { onRequest: guard('calls:read') }, async (request) => {
    const capacity = await readCapacity(database, request.principal.workspaceId);
    if (capacity === undefined) throw new Error('The workspace of a valid key is gone.');
    return capacity;
  });

  app.get(LIMIT_SETTINGS_PATH, { onRequest: guard('settings:read') }, async (request, reply) => {
    const workspace = await findWorkspace(database, request.principal.slug);
    reply.header('etag', etagOf(workspace.limits));
    return shown(workspace);
  });

  const changing = { onRequest: guard('settings:write'), schema: { body: limitSettingsBody } };
  app.patch(LIMIT_SETTINGS_PATH, changing, async (request, reply) => {
    const { slug } = request.principal;
    const expect = expectMatch<Workspace>(request, ({ limits }) => limits);
    const wanted = { slug, limits: given(request.body), withinCaps: true, by: changedBy(request), expect };
    const workspace = await refusing('workspace_not_found', setWorkspaceLimits(database, wanted));
    reply.header('etag', etagOf(workspace.limits));
    return shown(workspace);
  });
}

const shown = ({ limits, caps }: Workspace): object => ({ limits, caps });
