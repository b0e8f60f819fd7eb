/** `/api/console/me`: what people change of themselves: name, password, one-time passwords, sessions. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { beginOneTimePassword, confirmOneTimePassword, removeOneTimePassword } from '../../users/one-time-password.ts';
import { checkPassword } from '../../users/password.ts';
import { endLinks, renamePerson, setPassword } from '../../users/people.ts';
import { listSessions, revokeSession, revokeSessions } from '../../users/sessions.ts';
import { auditPerson } from '../../users/sign-in.ts';
import { forgetPassword } from '../../users/ways-in.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { nothing, sessionsAnswer, totpAnswer } from './answers.ts';
import { ONCE_MORE_CODES, onceMore, onceMoreBody } from './once-more.ts';
import { relyingPartyMust } from './relying-party.ts';
import { CONSOLE_PATH } from './second-door.ts';
import { personAt } from './session-guard.ts';
import { byPerson, type SessionRouteDeps, unlessBusy } from './session-routes.ts';

export const ME_PATH = `${CONSOLE_PATH}/me`;

const password = z.string().min(1).max(1024);
export const nameBody = z.strictObject({ name: z.string().trim().min(1).max(120) }).meta({ id: 'MyName' });
export const passwordBody = z
  .strictObject({
    current: password.optional().meta({ description: 'Left out by who has none, and has just signed in' }),
    password: password.meta({ description: '12 to 128 characters' }),
  })
  .meta({ id: 'MyPassword' });
export const codeBody = z.strictObject({ code: z.string().max(20) }).meta({ id: 'OneTimePassword' });
export const sessionParams = z.object({ sessionId: z.guid({ error: 'must be a UUID' }) });

export function registerMe(app: FastifyInstance, guard: Guard, deps: SessionRouteDeps): void {
  const route = routesOn(app, guard);
  const { database } = deps;

  route({
    method: 'patch',
    path: ME_PATH,
    id: 'changeMyName',
    tag: 'Console',
    summary: 'What the person is called',
    description: 'Others see it in the list of users and in the audit.',
    scope: 'person',
    body: nameBody,
    answers: { 204: nothing('Changed.') },
    async handler(request, reply) {
      const { id } = personAt(request);
      await database.transaction(async (tx) => {
        await renamePerson(tx, id, request.body.name);
        await auditPerson(tx, id, byPerson(request), 'user.renamed');
      });
      return reply.code(204).send();
    },
  });

  route({
    method: 'post',
    path: `${ME_PATH}/password`,
    id: 'changeMyPassword',
    tag: 'Console',
    summary: 'Set another password',
    description: 'All other sessions of the person end, and links for a new password.',
    scope: 'person',
    body: passwordBody,
    answers: { 204: nothing('Changed.') },
    errors: [...ONCE_MORE_CODES],
    async handler(request, reply) {
      const { id } = personAt(request);
      const { current, password: wanted } = request.body;
      await refusing(
        'user_not_found',
        Promise.resolve().then(() => checkPassword(wanted)),
      );
      await onceMore(deps, request, current);
      const hash = await unlessBusy(deps.hashing.hash(wanted));
      await database.transaction(async (tx) => {
        await setPassword(tx, id, hash);
        await endLinks(tx, id);
        await revokeSessions(tx, id, request.signedIn!.sessionId);
        await auditPerson(tx, id, byPerson(request), 'user.password_changed');
      });
      return reply.code(204).send();
    },
  });

  route({
    method: 'delete',
    path: `${ME_PATH}/password`,
    id: 'removeMyPassword',
    tag: 'Console',
    summary: 'Sign in with passkeys alone from now on',
    description:
      'Takes the password once more, and two passkeys: one may be lost. All other sessions of the person end.',
    scope: 'person',
    body: onceMoreBody,
    answers: { 204: nothing('There is no password any more.') },
    errors: [...ONCE_MORE_CODES, 'passkeys_unavailable', 'setting_refused'],
    async handler(request, reply) {
      const { id: userId } = personAt(request);
      const { host } = relyingPartyMust(request, deps.publicUrl);
      await onceMore(deps, request, request.body.password);
      const forgetting = database.transaction(async (tx) => {
        await forgetPassword(tx, { userId, host });
        await endLinks(tx, userId);
        await revokeSessions(tx, userId, request.signedIn!.sessionId);
        await auditPerson(tx, userId, byPerson(request), 'user.password_removed');
      });
      await refusing('user_not_found', forgetting);
      return reply.code(204).send();
    },
  });

  route({
    method: 'post',
    path: `${ME_PATH}/totp`,
    id: 'beginOneTimePasswords',
    tag: 'Console',
    summary: 'A secret for an authenticator app',
    description:
      'Takes the password once more. It holds once a code of it was confirmed. 409 while one holds: remove it first.',
    scope: 'person',
    body: onceMoreBody,
    answers: { 200: json('The secret, this once.', totpAnswer) },
    errors: [...ONCE_MORE_CODES, 'already_exists'],
    async handler(request) {
      await onceMore(deps, request, request.body.password);
      const begun = await beginOneTimePassword(database, deps, personAt(request));
      if (begun === null) {
        const issue = 'are asked for already; remove them first (DELETE)';
        throw new Refusal('already_exists', { details: [{ field: 'totp', issue }] });
      }
      return begun;
    },
  });

  route({
    method: 'post',
    path: `${ME_PATH}/totp/confirm`,
    id: 'confirmOneTimePasswords',
    tag: 'Console',
    summary: 'Ask for one-time passwords from now on',
    description: 'With a code of the secret that was made.',
    scope: 'person',
    body: codeBody,
    answers: { 204: nothing('They are asked for at each sign-in.') },
    errors: ['wrong_code'],
    async handler(request, reply) {
      const { id: userId } = personAt(request);
      const isConfirmed = await database.transaction(async (tx) => {
        const confirmed = await confirmOneTimePassword(tx, deps, { userId, code: request.body.code });
        if (confirmed) await auditPerson(tx, userId, byPerson(request), 'user.totp_added');
        return confirmed;
      });
      if (!isConfirmed) throw new Refusal('wrong_code');
      return reply.code(204).send();
    },
  });

  route({
    method: 'delete',
    path: `${ME_PATH}/totp`,
    id: 'removeOneTimePasswords',
    tag: 'Console',
    summary: 'Ask for one-time passwords no more',
    description: 'Takes the password once more. Fine where there are none.',
    scope: 'person',
    body: onceMoreBody,
    answers: { 204: nothing('They are not asked for.') },
    errors: [...ONCE_MORE_CODES],
    async handler(request, reply) {
      const { id } = personAt(request);
      await onceMore(deps, request, request.body.password);
      await database.transaction(async (tx) => {
        if (await removeOneTimePassword(tx, id)) await auditPerson(tx, id, byPerson(request), 'user.totp_removed');
      });
      return reply.code(204).send();
    },
  });

  route({
    method: 'get',
    path: `${ME_PATH}/sessions`,
    id: 'listMySessions',
    tag: 'Console',
    summary: 'Where the person is signed in',
    description: 'The newest first.',
    scope: 'person',
    answers: { 200: json('All of them.', sessionsAnswer) },
    async handler(request) {
      const { sessionId } = request.signedIn!;
      const found = await listSessions(database, personAt(request).id);
      return { data: found.map((one) => ({ ...one, isThis: one.id === sessionId })), nextCursor: null };
    },
  });

  route({
    method: 'delete',
    path: `${ME_PATH}/sessions/:sessionId`,
    id: 'endMySession',
    tag: 'Console',
    summary: 'Sign out elsewhere',
    description: 'Holds at once, for open streams within 2 s.',
    scope: 'person',
    params: sessionParams,
    answers: { 204: nothing('It has ended.') },
    errors: ['session_not_found'],
    async handler(request, reply) {
      const { id: userId } = personAt(request);
      const { sessionId } = request.params;
      const hasEnded = await database.transaction(async (tx) => {
        const ended = await revokeSession(tx, { userId, sessionId });
        if (ended) await auditPerson(tx, userId, byPerson(request), 'user.session_ended', { session: sessionId });
        return ended;
      });
      if (!hasEnded) throw new Refusal('session_not_found');
      return reply.code(204).send();
    },
  });
}
