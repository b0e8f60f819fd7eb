/**
 * `/api/console/session/passkey`: signing in with a passkey, alone or beside a password. Asking and answering are two
 * requests: what is asked is signed once, within five minutes.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { askAnyPasskey, askBesidePassword, signInByPasskey } from '../../users/sign-in.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { nothing, passkeyOptionsAnswer, SET_COOKIE } from './answers.ts';
import { passkeyAnswerBody, passkeyAnswerOf, relyingPartyMust } from './relying-party.ts';
import {
  beginSession,
  cameFrom,
  fromHere,
  passwordBody,
  SESSION_PATH,
  type SessionRouteDeps,
  unlessBusy,
} from './session-routes.ts';

const PASSKEY_PATH = `${SESSION_PATH}/passkey`;

export const askPasskeyBody = z
  .strictObject({ beside: passwordBody.optional() })
  .meta({ id: 'PasskeyAsked', description: '`beside`: the password beside which the passkey is a second factor' });
export const passkeySignInBody = z.strictObject({ answer: passkeyAnswerBody }).meta({ id: 'PasskeySignIn' });

const HERE = ['cross_site_request', 'insecure_address', 'passkeys_unavailable', 'sign_in_limit'] as const;

export function registerPasskeySignIn(app: FastifyInstance, guard: Guard, deps: SessionRouteDeps): void {
  const route = routesOn(app, guard);

  route({
    method: 'post',
    path: `${PASSKEY_PATH}/options`,
    id: 'askForPasskey',
    tag: 'Console',
    summary: 'What a browser asks a passkey',
    description:
      'For `navigator.credentials.get`. With `beside` the passkeys of that person alone, and the answer goes to `POST /api/console/session`; without it whichever the person chooses, and the answer goes to `POST /api/console/session/passkey`.',
    scope: null,
    body: askPasskeyBody,
    onRequest: fromHere(deps),
    answers: { 200: json('Good once, for five minutes.', passkeyOptionsAnswer) },
    errors: [...HERE, 'wrong_credentials', 'sign_in_busy', 'invalid_request'],
    async handler(request) {
      const party = relyingPartyMust(request, deps.publicUrl);
      const from = cameFrom(request);
      const { beside } = request.body;
      const answer =
        beside === undefined
          ? await askAnyPasskey(deps, { ...from, party })
          : await unlessBusy(askBesidePassword(deps, { ...beside, ...from, party }));
      if (answer.kind === 'too_many') throw new Refusal('sign_in_limit', answer);
      if (answer.kind === 'wrong') throw new Refusal('wrong_credentials');
      return answer.options;
    },
  });

  route({
    method: 'post',
    path: PASSKEY_PATH,
    id: 'signInByPasskey',
    tag: 'Console',
    summary: 'Sign in with a passkey',
    description: 'One that knows its person, by a finger, a face or a PIN. Nothing else is asked for.',
    scope: null,
    body: passkeySignInBody,
    onRequest: fromHere(deps),
    answers: { 204: nothing('Signed in.', SET_COOKIE) },
    errors: [...HERE, 'wrong_passkey', 'invalid_request'],
    async handler(request, reply) {
      const party = relyingPartyMust(request, deps.publicUrl);
      const asked = { ...cameFrom(request), answer: passkeyAnswerOf(request.body.answer), party };
      const answer = await signInByPasskey(deps, asked);
      if (answer.kind === 'too_many') throw new Refusal('sign_in_limit', answer);
      if (answer.kind === 'wrong') throw new Refusal('wrong_passkey');
      await beginSession(deps, request, reply, answer.token);
      return reply.code(204).send();
    },
  });
}
