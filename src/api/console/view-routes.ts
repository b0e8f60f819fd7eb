/**
 * `/api/console/w/{enterprise}/views`: views of the call log that people keep, for themselves or for everybody in the
 * workspace. The rules are `src/users/saved-views.ts`.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Database } from '../../store/database.ts';
import { isStorable } from '../../store/storable.ts';
import { changeView, listViews, removeView, saveView } from '../../users/saved-views.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { uuid, wholeList } from '../openapi/shared-answers.ts';
import { id } from '../query-values.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { given } from '../settings/given.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { nothing } from './answers.ts';
import { WORKSPACE_PATH } from './second-door.ts';
import { personAt } from './session-guard.ts';

const VIEWS_PATH = `${WORKSPACE_PATH}/views`;

const name = z.string().trim().min(1).max(120).refine(isStorable, 'must not hold a NUL character');
const query = z
  .string()
  .max(4_000)
  .refine(isStorable, 'must not hold a NUL character')
  .meta({ description: 'Filters of the call log as an address has them: `status=failed&hasRecovery=true`' });
const isShared = z.boolean().meta({ description: 'Everybody in the workspace sees it' });

const workspaceParams = z.object({ enterprise: z.string() });
const viewParams = z.object({ enterprise: z.string(), viewId: id });
const newViewBody = z.strictObject({ name, query, isShared: isShared.default(false) }).meta({ id: 'NewView' });
const viewChangeBody = z
  .strictObject({ name: name.optional(), query: query.optional(), isShared: isShared.optional() })
  .meta({ id: 'ViewChange' });

const view = z
  .strictObject({
    id: uuid,
    name: z.string(),
    query: z.string(),
    isShared: z.boolean(),
    isMine: z.boolean(),
    madeBy: z.string(),
  })
  .meta({ id: 'View' });
const viewsAnswer = wholeList(view).meta({ id: 'Views' });
const storedViewAnswer = z.strictObject({ success: z.literal(true), view }).meta({ id: 'StoredView' });

export function registerViews(app: FastifyInstance, guard: Guard, { database }: { database: Database }): void {
  const route = routesOn(app, guard);
  const one = `${VIEWS_PATH}/:viewId`;

  route({
    method: 'get',
    path: VIEWS_PATH,
    id: 'listViews',
    tag: 'Console',
    summary: 'Your views of the call log, and those that others share',
    description: 'By name.',
    scope: 'person',
    right: 'calls:read',
    params: workspaceParams,
    answers: { 200: json('All of them.', viewsAnswer) },
    handler: async (request) => ({ data: await listViews(database, whose(request)), nextCursor: null }),
  });

  route({
    method: 'post',
    path: VIEWS_PATH,
    id: 'saveView',
    tag: 'Console',
    summary: 'Keep filters of the call log under a name',
    description: 'For yourself, or for everybody in the workspace.',
    scope: 'person',
    right: 'calls:read',
    params: workspaceParams,
    body: newViewBody,
    answers: { 201: json('The view.', storedViewAnswer) },
    errors: ['already_exists', 'setting_refused'],
    async handler(request, reply) {
      const saved = await refusing('view_not_found', saveView(database, { ...whose(request), ...request.body }));
      return reply.code(201).send({ success: true, view: saved });
    },
  });

  route({
    method: 'patch',
    path: one,
    id: 'changeView',
    tag: 'Console',
    summary: 'Rename a view, share it or keep it to yourself',
    description: 'Your own; one that others share, with the right settings:write.',
    scope: 'person',
    right: 'calls:read',
    params: viewParams,
    body: viewChangeBody,
    answers: { 200: json('The view.', storedViewAnswer) },
    errors: ['view_not_found', 'already_exists'],
    async handler(request) {
      const changing = changeView(database, whose(request), request.params.viewId, given(request.body));
      const changed = await refusing('view_not_found', changing);
      if (changed === undefined) throw new Refusal('view_not_found');
      return { success: true, view: changed };
    },
  });

  route({
    method: 'delete',
    path: one,
    id: 'removeView',
    tag: 'Console',
    summary: 'Remove a view',
    description: 'Your own; one that others share, with the right settings:write.',
    scope: 'person',
    right: 'calls:read',
    params: viewParams,
    answers: { 204: nothing('Removed.') },
    errors: ['view_not_found'],
    async handler(request, reply) {
      const isGone = await removeView(database, whose(request), request.params.viewId);
      if (!isGone) throw new Refusal('view_not_found');
      return reply.code(204).send();
    },
  });
}

function whose(request: FastifyRequest<{ Params: { enterprise: string } }>) {
  const { workspaceId, scopes } = request.principal;
  return {
    workspaceId,
    userId: personAt(request as FastifyRequest).id,
    mayAll: scopes.includes('settings:write'),
  };
}
