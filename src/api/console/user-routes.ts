/**
 * `/api/console/w/{enterprise}/users`: who may what in a workspace, and `…/operator/workspaces/{slug}/join`, by which
 * an operator gets into one that others made. The rules are `src/users/memberships.ts`; the command line runs the
 * same functions.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Database } from '../../store/database.ts';
import {
  addMember,
  changeMember,
  LastOwner,
  listMembers,
  makeOwner,
  removeMember,
  resetMember,
} from '../../users/memberships.ts';
import { linkAddress, type NewLink } from '../../users/one-time-links.ts';
import { ROLES } from '../../users/roles.ts';
import { findWorkspace } from '../../workspaces/workspaces.ts';
import { changedBy, type Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { WORKSPACES_PATH, workspaceParams } from '../operator/workspace-routes.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { addedUserAnswer, nothing, resetUserAnswer, storedUserAnswer, usersAnswer } from './answers.ts';
import { CONSOLE_PATH, WORKSPACE_PATH } from './second-door.ts';
import { personAt } from './session-guard.ts';
import { byPerson } from './session-routes.ts';

export const USERS_PATH = `${WORKSPACE_PATH}/users`;
export const JOIN_PATH = `${CONSOLE_PATH}/operator${WORKSPACES_PATH.slice('/api/developer'.length)}/:slug/join`;

const role = z.enum(ROLES);
const hears = z.boolean().meta({ description: 'An analyst who may listen to recordings; all other roles may' });
export const workspaceUserParams = z.object({ enterprise: z.string() });
export const userParams = z.object({ enterprise: z.string(), userId: z.guid({ error: 'must be a UUID' }) });
export const newUserBody = z
  .strictObject({
    email: z.string().trim().min(3).max(255),
    name: z.string().trim().min(1).max(120),
    role,
    hears: hears.default(false),
  })
  .meta({ id: 'NewUser' });
export const userChangeBody = z
  .strictObject({ role: role.optional(), hears: hears.optional() })
  .meta({ id: 'UserChange' });

export function registerUsers(
  app: FastifyInstance,
  guard: Guard,
  deps: { database: Database; publicUrl: string },
): void {
  const route = routesOn(app, guard);
  const { database } = deps;
  const one = `${USERS_PATH}/:userId`;
  const shownLink = ({ token }: NewLink): string => linkAddress(deps.publicUrl, token);

  route({
    method: 'get',
    path: USERS_PATH,
    id: 'listUsers',
    tag: 'Console',
    summary: 'The people of the workspace',
    description: 'With their roles.',
    scope: 'person',
    right: 'users:read',
    params: workspaceUserParams,
    answers: { 200: json('All of them.', usersAnswer) },
    async handler(request) {
      return { data: await listMembers(database, request.principal.workspaceId), nextCursor: null };
    },
  });

  route({
    method: 'post',
    path: USERS_PATH,
    id: 'addUser',
    tag: 'Console',
    summary: 'Let somebody into the workspace',
    description:
      'Whoever has not come in yet does by the link in the answer, which is shown once and lives a day. Owners alone name owners. People of workspaces in which you are not as much are let in by the operator of the service: nobody has proved that the address is theirs.',
    scope: 'person',
    right: 'users:write',
    params: workspaceUserParams,
    body: newUserBody,
    answers: { 201: json('The user.', addedUserAnswer) },
    errors: ['already_exists', 'setting_refused'],
    async handler(request, reply) {
      const wanted = { ...asked(request), askingUserId: personAt(request).id, ...request.body };
      const { member, link } = await ruled(addMember(database, wanted));
      const shown = link === null ? null : shownLink(link);
      return reply.code(201).send({ success: true, user: member, link: shown });
    },
  });

  route({
    method: 'patch',
    path: one,
    id: 'changeUser',
    tag: 'Console',
    summary: 'Give somebody another role',
    description: 'Holds at once, for open streams within 2 s. The last owner stays one.',
    scope: 'person',
    right: 'users:write',
    params: userParams,
    body: userChangeBody,
    answers: { 200: json('The user.', storedUserAnswer) },
    errors: ['user_not_found', 'last_owner', 'setting_refused'],
    async handler(request) {
      const change = { ...asked(request), userId: request.params.userId, ...request.body };
      return { success: true, user: found(await ruled(changeMember(database, change))) };
    },
  });

  route({
    method: 'delete',
    path: one,
    id: 'removeUser',
    tag: 'Console',
    summary: 'Let somebody into the workspace no more',
    description: 'Holds at once, for open streams within 2 s. Who is in no workspace any more has no account either.',
    scope: 'person',
    right: 'users:write',
    params: userParams,
    answers: { 204: nothing('Removed.') },
    errors: ['user_not_found', 'last_owner', 'setting_refused'],
    async handler(request, reply) {
      const wasThere = await ruled(removeMember(database, { ...asked(request), userId: request.params.userId }));
      if (!wasThere) throw new Refusal('user_not_found');
      return reply.code(204).send();
    },
  });

  route({
    method: 'post',
    path: `${one}/reset`,
    id: 'resetUser',
    tag: 'Console',
    summary: 'A link with which somebody sets a new password',
    description:
      'Ends the former link. Not for operators of the service, nor for people of workspaces in which you are not as much: whoever has the link is that person.',
    scope: 'person',
    right: 'users:write',
    params: userParams,
    answers: { 200: json('The link, this once.', resetUserAnswer) },
    errors: ['user_not_found', 'setting_refused'],
    async handler(request) {
      const change = { ...asked(request), userId: request.params.userId, askingUserId: personAt(request).id };
      const { member, link } = found(await ruled(resetMember(database, change)));
      return { success: true, user: member, link: shownLink(link) };
    },
  });

  route({
    method: 'post',
    path: JOIN_PATH,
    id: 'joinWorkspace',
    tag: 'Console',
    summary: 'Become an owner of a workspace, as an operator of the service',
    description: 'In the audit of the workspace. Fine twice.',
    scope: 'person',
    params: workspaceParams,
    answers: { 204: nothing('You are an owner.') },
    errors: ['operator_only'],
    async handler(request, reply) {
      const { id: userId, isOperator } = personAt(request);
      if (!isOperator) throw new Refusal('operator_only');
      const { slug } = request.params;
      const { id: workspaceId } = await refusing('workspace_not_found', findWorkspace(database, slug));
      await database.transaction((tx) => makeOwner(tx, { workspaceId, userId, by: byPerson(request) }));
      return reply.code(204).send();
    },
  });
}

const asked = (request: FastifyRequest) => ({
  workspaceId: request.principal.workspaceId,
  asking: request.signedIn!.membership!.role,
  by: changedBy(request),
});

function found<Thing extends object>(thing: Thing | null): Thing {
  if (thing === null) throw new Refusal('user_not_found');
  return thing;
}

async function ruled<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await refusing('user_not_found', work);
  } catch (error) {
    throw error instanceof LastOwner ? new Refusal('last_owner') : error;
  }
}
