/** `/api/console/me/passkeys`: the passkeys of whoever is signed in: listing, adding, naming, removing. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { addPasskey, askForNewPasskey } from '../../users/passkey-use.ts';
import { listPasskeys, removePasskey, renamePasskey } from '../../users/passkeys.ts';
import { auditPerson } from '../../users/sign-in.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { addedPasskeyAnswer, newPasskeyOptionsAnswer, nothing, passkeysAnswer } from './answers.ts';
import { ONCE_MORE_CODES, onceMore, onceMoreBody } from './once-more.ts';
import { newPasskeyAnswerBody, newPasskeyAnswerOf, relyingPartyMust } from './relying-party.ts';
import { CONSOLE_PATH } from './second-door.ts';
import { personAt } from './session-guard.ts';
import { byPerson, type SessionRouteDeps } from './session-routes.ts';

const PASSKEYS_PATH = `${CONSOLE_PATH}/me/passkeys`;

const name = z.string().trim().min(1).max(60);
export const passkeyParams = z.object({ passkeyId: z.guid({ error: 'must be a UUID' }) });
export const newPasskeyBody = z.strictObject({ name, answer: newPasskeyAnswerBody }).meta({ id: 'NewPasskey' });
export const passkeyNameBody = z.strictObject({ name }).meta({ id: 'PasskeyName' });

export function registerPasskeys(app: FastifyInstance, guard: Guard, deps: SessionRouteDeps): void {
  const route = routesOn(app, guard);
  const { database } = deps;
  const one = `${PASSKEYS_PATH}/:passkeyId`;

  route({
    method: 'get',
    path: PASSKEYS_PATH,
    id: 'listMyPasskeys',
    tag: 'Console',
    summary: 'The passkeys of the person',
    description: 'The oldest first.',
    scope: 'person',
    answers: { 200: json('All of them.', passkeysAnswer) },
    async handler(request) {
      return { data: await listPasskeys(database, personAt(request).id), nextCursor: null };
    },
  });

  route({
    method: 'post',
    path: `${PASSKEYS_PATH}/options`,
    id: 'askForNewPasskey',
    tag: 'Console',
    summary: 'What a browser asks for a new passkey',
    description: 'For `navigator.credentials.create`. Takes the password once more.',
    scope: 'person',
    body: onceMoreBody,
    answers: { 200: json('Good once, for five minutes.', newPasskeyOptionsAnswer) },
    errors: [...ONCE_MORE_CODES, 'passkeys_unavailable'],
    async handler(request) {
      const party = relyingPartyMust(request, deps.publicUrl);
      await onceMore(deps, request, request.body.password);
      return askForNewPasskey(database, personAt(request), party);
    },
  });

  route({
    method: 'post',
    path: PASSKEYS_PATH,
    id: 'addMyPasskey',
    tag: 'Console',
    summary: 'Add a passkey',
    description:
      'With what the browser has answered. From then on it signs the person in, and a password alone does not any more.',
    scope: 'person',
    body: newPasskeyBody,
    answers: { 201: json('The passkey.', addedPasskeyAnswer) },
    errors: ['passkeys_unavailable', 'already_exists', 'setting_refused'],
    async handler(request, reply) {
      const party = relyingPartyMust(request, deps.publicUrl);
      const { id: userId } = personAt(request);
      const answer = newPasskeyAnswerOf(request.body.answer);
      const adding = addPasskey(database, { userId, party, name: request.body.name, answer }, (tx, { id }) =>
        auditPerson(tx, userId, byPerson(request), 'user.passkey_added', { passkey: id, host: party.host }),
      );
      return reply.code(201).send({ success: true, passkey: await refusing('passkey_not_found', adding) });
    },
  });

  route({
    method: 'patch',
    path: one,
    id: 'renameMyPasskey',
    tag: 'Console',
    summary: 'Call a passkey something else',
    description: 'So that its owner knows which one it is.',
    scope: 'person',
    params: passkeyParams,
    body: passkeyNameBody,
    answers: { 200: json('The passkey.', addedPasskeyAnswer) },
    errors: ['passkey_not_found'],
    async handler(request) {
      const { id: userId } = personAt(request);
      const { passkeyId } = request.params;
      const renaming = database.transaction(async (tx) => {
        const named = await renamePasskey(tx, { userId, passkeyId, name: request.body.name });
        if (named !== null)
          await auditPerson(tx, userId, byPerson(request), 'user.passkey_renamed', { passkey: passkeyId });
        return named;
      });
      const passkey = await refusing('passkey_not_found', renaming);
      if (passkey === null) throw new Refusal('passkey_not_found');
      return { success: true, passkey };
    },
  });

  route({
    method: 'delete',
    path: one,
    id: 'removeMyPasskey',
    tag: 'Console',
    summary: 'Remove a passkey',
    description: 'Takes the password once more. The last one of somebody without a password stays.',
    scope: 'person',
    params: passkeyParams,
    body: onceMoreBody,
    answers: { 204: nothing('It signs nobody in any more.') },
    errors: [...ONCE_MORE_CODES, 'passkey_not_found', 'setting_refused'],
    async handler(request, reply) {
      const { id: userId } = personAt(request);
      const { passkeyId } = request.params;
      await onceMore(deps, request, request.body.password);
      const removing = database.transaction(async (tx) => {
        const wasThere = await removePasskey(tx, { userId, passkeyId });
        if (wasThere) await auditPerson(tx, userId, byPerson(request), 'user.passkey_removed', { passkey: passkeyId });
        return wasThere;
      });
      if (!(await refusing('passkey_not_found', removing))) throw new Refusal('passkey_not_found');
      return reply.code(204).send();
    },
  });
}
