/**
 * `/api/developer/workspaces`, for the operator's key alone: create and rename workspaces, switch their API access, set their limits with their
 * caps, and make a workspace's first key. The rules are `src/workspaces`; the command line runs the same functions.
 */
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Database } from '../../store/database.ts';
import { createApiKey } from '../../workspaces/api-keys.ts';
import {
  createWorkspace,
  findWorkspace,
  listWorkspaces,
  renameWorkspace,
  setApiEnabled,
  setWorkspaceLimits,
} from '../../workspaces/workspaces.ts';
import { newKeyBody, shown } from '../keys/key-routes.ts';
import { limitSettingsBody } from '../limits/limits-route.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { byOperator } from './operator-guard.ts';

export const WORKSPACES_PATH = '/api/developer/workspaces';

const slug = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be 1 to 63 small letters, digits and -');
const name = z.string().trim().min(1).max(120);
export const workspaceParams = z.object({ slug });
export const newWorkspaceBody = z.strictObject({ slug, name }).meta({ id: 'NewWorkspace' });
export const workspaceChangeBody = z
  .strictObject({
    name: name.optional().meta({ description: 'What people call it; `slug` stays' }),
    apiEnabled: z.boolean().optional(),
    limits: limitSettingsBody.optional().meta({ description: 'Also the caps of what the workspace may set by itself' }),
  })
  .meta({ id: 'WorkspaceChange' });

export function registerWorkspaces(
  plain: FastifyInstance,
  operatorGuard: onRequestAsyncHookHandler,
  deps: { database: Database },
): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { database } = deps;
  const operator = { onRequest: operatorGuard };
  const one = `${WORKSPACES_PATH}/:slug`;

  app.get(WORKSPACES_PATH, operator, async () => ({ data: await listWorkspaces(database), nextCursor: null }));

  app.post(WORKSPACES_PATH, { ...operator, schema: { body: newWorkspaceBody } }, async (request, reply) => {
    const wanted = { ...request.body, by: byOperator(request) };
    const workspace = await refusing('workspace_not_found', createWorkspace(database, wanted));
    return reply.code(201).send({ success: true, workspace });
  });

  app.get(one, { ...operator, schema: { params: workspaceParams } }, (request) =>
    refusing('workspace_not_found', findWorkspace(database, request.params.slug)),
  );

  const changing = { ...operator, schema: { params: workspaceParams, body: workspaceChangeBody } };
  app.patch(one, changing, async (request) => {
    const { slug: named } = request.params;
    const { name: called, apiEnabled, limits } = request.body;
    const by = byOperator(request);
    let workspace = await refusing('workspace_not_found', findWorkspace(database, named));
    if (called !== undefined) workspace = await renameWorkspace(database, { slug: named, name: called, by });
    if (limits !== undefined) {
      const wanted = { slug: named, limits: given(limits), by };
      workspace = await refusing('workspace_not_found', setWorkspaceLimits(database, wanted));
    }
    if (apiEnabled !== undefined) workspace = await setApiEnabled(database, { slug: named, enabled: apiEnabled, by });
    return { success: true, workspace };
  });

  app.post(
    `${one}/keys`,
    { ...operator, schema: { params: workspaceParams, body: newKeyBody } },
    async (request, reply) => {
      const wanted = { slug: request.params.slug, ...request.body, by: byOperator(request) };
      const made = await refusing('workspace_not_found', createApiKey(database, wanted));
      return reply.code(201).send({ success: true, key: shown(made), secret: made.text });
    },
  );
}
