/**
 * `/api/developer/workspaces`, for the operator's key alone: create and rename workspaces, switch their API access, set
 * their limits with their caps, and make a workspace's first key. The rules are `src/workspaces`; the command line runs
 * the same functions.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Database } from '../../store/database.ts';
import { makeOwner } from '../../users/memberships.ts';
import { createApiKey } from '../../workspaces/api-keys.ts';
import {
  createWorkspace,
  findWorkspace,
  listWorkspaces,
  renameWorkspace,
  setApiEnabled,
  setWorkspaceLimits,
} from '../../workspaces/workspaces.ts';
import type { Guard } from '../guard.ts';
import { newKeyAnswer } from '../keys/answers.ts';
import { newKeyBody, shown } from '../keys/key-routes.ts';
import { limitSettingsBody } from '../limits/limits-route.ts';
import { json } from '../openapi/operation.ts';
import { routesOn } from '../route.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { storedWorkspaceAnswer, workspaceAnswer, workspacesAnswer } from './answers.ts';
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

export function registerWorkspaces(app: FastifyInstance, guard: Guard, deps: { database: Database }): void {
  const route = routesOn(app, guard);
  const { database } = deps;
  const one = `${WORKSPACES_PATH}/:slug`;

  route({
    method: 'get',
    path: WORKSPACES_PATH,
    id: 'listWorkspaces',
    tag: 'Operator',
    summary: 'All workspaces of the service',
    description: 'With their switch for API access, limits and caps.',
    scope: 'operator',
    answers: { 200: json('All of them.', workspacesAnswer) },
    handler: async () => ({ data: await listWorkspaces(database), nextCursor: null }),
  });

  route({
    method: 'post',
    path: WORKSPACES_PATH,
    id: 'createWorkspace',
    tag: 'Operator',
    summary: 'Create a workspace',
    description: 'Its API access is off at first.',
    scope: 'operator',
    body: newWorkspaceBody,
    answers: { 201: json('The workspace.', storedWorkspaceAnswer) },
    errors: ['already_exists'],
    async handler(request, reply) {
      const wanted = { ...request.body, by: byOperator(request) };
      const workspace = await refusing('workspace_not_found', createWorkspace(database, wanted));
      // Who makes it at the console would not get in.
      const owner = request.signedIn?.person;
      if (owner !== undefined) {
        const made = { workspaceId: workspace.id, userId: owner.id, by: wanted.by };
        await database.transaction((tx) => makeOwner(tx, made));
      }
      return reply.code(201).send({ success: true, workspace });
    },
  });

  route({
    method: 'get',
    path: one,
    id: 'readWorkspace',
    tag: 'Operator',
    summary: 'A workspace',
    description: 'By its short name.',
    scope: 'operator',
    params: workspaceParams,
    answers: { 200: json('The workspace.', workspaceAnswer) },
    errors: ['workspace_not_found'],
    handler: (request) => refusing('workspace_not_found', findWorkspace(database, request.params.slug)),
  });

  route({
    method: 'patch',
    path: one,
    id: 'changeWorkspace',
    tag: 'Operator',
    summary: 'Rename it, switch its API access on or off, set its limits with their caps',
    description:
      'Off: every key of the workspace is refused within 2 s. A limit is at once the cap of what the workspace may set.',
    scope: 'operator',
    params: workspaceParams,
    body: workspaceChangeBody,
    answers: { 200: json('The workspace.', storedWorkspaceAnswer) },
    errors: ['workspace_not_found'],
    async handler(request) {
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
    },
  });

  route({
    method: 'post',
    path: `${one}/keys`,
    id: 'createWorkspaceKey',
    tag: 'Operator',
    summary: "Make a workspace's key, such as its first",
    description: 'API access must be on. With `settings:write` it makes the others by itself.',
    scope: 'operator',
    params: workspaceParams,
    body: newKeyBody,
    answers: { 201: json('The key, this once.', newKeyAnswer) },
    errors: ['workspace_not_found', 'setting_refused'],
    async handler(request, reply) {
      const wanted = { slug: request.params.slug, ...request.body, by: byOperator(request) };
      const made = await refusing('workspace_not_found', createApiKey(database, wanted));
      return reply.code(201).send({ success: true, key: shown(made), secret: made.text });
    },
  });
}
