/** `/api/console/session` and `/api/console/link`: who is signed in, signing in and out, and taking a one-time link. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { packageRoot } from '../../config/built-entry.ts';
import { readLink, takeLink } from '../../users/one-time-links.ts';
import type { OpenIdProvider } from '../../users/openid/openid-provider.ts';
import { PasswordsBusy } from '../../users/password.ts';
import { rightsOf } from '../../users/roles.ts';
import { revokeSession, revokeToken, workspacesOf } from '../../users/sessions.ts';
import { auditPerson, enter, type SecondFactors, type SignInDeps, signIn } from '../../users/sign-in.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { linkAnswer, nothing, SET_COOKIE, sessionAnswer } from './answers.ts';
import { passkeyAnswerBody, passkeyAnswerOf, relyingPartyAt } from './relying-party.ts';
import { CONSOLE_PATH } from './second-door.ts';
import { clearSessionCookie, mustBePrivate, serviceAddress, sessionToken, setSessionCookie } from './session-cookie.ts';
import { personAt, refuseOtherSites } from './session-guard.ts';

export interface SessionRouteDeps extends SignInDeps {
  /** No slash at its end. */
  publicUrl: string;
  /** Null: nobody signs in so. */
  openId: OpenIdProvider | null;
}

export const SESSION_PATH = `${CONSOLE_PATH}/session`;
export const LINK_PATH = `${CONSOLE_PATH}/link`;
const BUSY_RETRY_SECONDS = 5;

const email = z.string().trim().min(3).max(255);
const password = z.string().min(1).max(1024);
const token = z.string().max(200).meta({ description: 'What stands behind `#/link/`' });

export const passwordBody = z.strictObject({ email, password }).meta({ id: 'EmailAndPassword' });
export const signInBody = z
  .strictObject({
    email,
    password,
    code: z.string().max(20).optional().meta({ description: 'Of the authenticator app' }),
    passkey: passkeyAnswerBody.optional().meta({ description: 'In place of the code' }),
  })
  .meta({ id: 'SignIn' });
export const linkBody = z.strictObject({ token }).meta({ id: 'LinkToken' });
export const takeLinkBody = z
  .strictObject({
    token,
    password,
    email: email.optional().meta({ description: 'Of the first user' }),
    name: z.string().trim().min(1).max(120).optional(),
  })
  .meta({ id: 'LinkTaken' });

export function registerSession(app: FastifyInstance, guard: Guard, deps: SessionRouteDeps): void {
  const route = routesOn(app, guard);
  const { database } = deps;
  let version: string | null = null;

  route({
    method: 'get',
    path: SESSION_PATH,
    id: 'readConsoleSession',
    tag: 'Console',
    summary: 'Who is signed in, and what the person may where',
    description: 'While there is no user at all, the refusal says so in its `details`.',
    scope: 'person',
    answers: { 200: json('The person.', sessionAnswer) },
    async handler(request) {
      const { person, expiresAt, issuer } = request.signedIn!;
      const home = `${serviceAddress(request, deps.publicUrl)}/console/`;
      const { id, email: address, name, isOperator, hasPassword, totp, passkeys } = person;
      const workspaces = (await workspacesOf(database, id)).map(({ enterprise, name: called, role, hears }) => ({
        ...{ enterprise, name: called, role, hears },
        scopes: rightsOf(role, hears),
      }));
      version ??= await ownVersion();
      return {
        user: { id, email: address, name, isOperator, hasPassword, totp, passkeys },
        workspaces,
        expiresAt,
        signOutUrl: issuer === null ? null : (deps.openId?.signOutUrl(home) ?? null),
        serverTime: new Date(deps.clock.epochMs()),
        version,
        setup: { firstUser: false },
      };
    },
  });

  route({
    method: 'post',
    path: SESSION_PATH,
    id: 'signIn',
    tag: 'Console',
    summary: 'Sign in',
    description:
      'The session is a cookie that scripts cannot read, and that nothing but paths below `/api/console/` takes.',
    scope: null,
    body: signInBody,
    onRequest: fromHere(deps),
    answers: { 204: nothing('Signed in.', SET_COOKIE) },
    errors: [
      ...(['cross_site_request', 'insecure_address', 'wrong_credentials', 'second_factor_needed'] as const),
      ...(['sign_in_limit', 'sign_in_busy', 'invalid_request'] as const),
    ],
    async handler(request, reply) {
      const { passkey, ...given } = request.body;
      const shown = passkey === undefined ? {} : { passkey: passkeyAnswerOf(passkey) };
      const party = relyingPartyAt(request, deps.publicUrl);
      const answer = await unlessBusy(signIn(deps, { ...given, ...shown, ...cameFrom(request), party }));
      if (answer.kind === 'wrong') throw new Refusal('wrong_credentials');
      if (answer.kind === 'second_factor') throw secondFactorNeeded(answer.takes);
      if (answer.kind === 'too_many') throw new Refusal('sign_in_limit', answer);
      await beginSession(deps, request, reply, answer.token);
      return reply.code(204).send();
    },
  });

  route({
    method: 'delete',
    path: SESSION_PATH,
    id: 'signOut',
    tag: 'Console',
    summary: 'Sign out',
    description: 'The session ends at once, its open streams within 2 s.',
    scope: 'person',
    answers: { 204: nothing('Signed out.', SET_COOKIE) },
    async handler(request, reply) {
      const { sessionId } = request.signedIn!;
      const { id: userId } = personAt(request);
      await database.transaction(async (tx) => {
        await revokeSession(tx, { userId, sessionId });
        await auditPerson(tx, userId, byPerson(request), 'user.signed_out', { session: sessionId });
      });
      clearSessionCookie(request, reply);
      return reply.code(204).send();
    },
  });

  route({
    method: 'post',
    path: LINK_PATH,
    id: 'lookAtLink',
    tag: 'Console',
    summary: 'What a one-time link is for',
    description: 'It is not used by this. Its token travels in the body, where no log has it.',
    scope: null,
    body: linkBody,
    onRequest: fromHere(deps),
    answers: { 200: json('The link.', linkAnswer) },
    errors: ['cross_site_request', 'insecure_address', 'link_not_found', 'invalid_request'],
    async handler(request) {
      const link = await readLink(database, request.body.token);
      if (link === null) throw new Refusal('link_not_found');
      return link;
    },
  });

  route({
    method: 'post',
    path: `${LINK_PATH}/take`,
    id: 'takeLink',
    tag: 'Console',
    summary: 'Take a one-time link: set a password, and be signed in',
    description:
      'The first user gives `email` and `name` too, is an operator of the installation, and owner of the workspaces that are there. Other sessions of the person end. Whoever has one-time passwords or passkeys signs in with one afterwards.',
    scope: null,
    body: takeLinkBody,
    onRequest: fromHere(deps),
    answers: { 204: nothing('The password is set.', SET_COOKIE) },
    errors: [
      ...(['cross_site_request', 'insecure_address', 'link_not_found', 'already_exists', 'sign_in_busy'] as const),
      ...(['invalid_request', 'setting_refused'] as const),
    ],
    async handler(request, reply) {
      const from = cameFrom(request);
      const by = { ip: from.address, requestId: from.requestId };
      const taken = await refusing('link_not_found', unlessBusy(takeLink(deps, { ...request.body, by })));
      if (taken === null) throw new Refusal('link_not_found');
      if (!taken.secondFactor) await beginSession(deps, request, reply, await enter(database, taken.userId, from));
      return reply.code(204).send();
    },
  });
}

/** The cookie of a new session; what the browser had before ends. */
export async function beginSession(
  { database }: Pick<SessionRouteDeps, 'database'>,
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
): Promise<void> {
  const former = sessionToken(request);
  if (former !== null) await revokeToken(database, former);
  setSessionCookie(request, reply, token);
}

function secondFactorNeeded({ code, passkey }: SecondFactors): Refusal {
  const details = [
    ...(code ? [{ field: 'code', issue: 'The code of your authenticator is needed.' }] : []),
    ...(passkey ? [{ field: 'passkey', issue: 'One of your passkeys is needed.' }] : []),
  ];
  return new Refusal('second_factor_needed', { details });
}

/** Nothing of another site, and nothing in clear. */
export const fromHere =
  ({ publicUrl }: Pick<SessionRouteDeps, 'publicUrl'>) =>
  async (request: FastifyRequest): Promise<void> => {
    refuseOtherSites(request);
    mustBePrivate(request, publicUrl);
  };

export const byPerson = (request: FastifyRequest) => ({
  actor: `user:${personAt(request).id}` as const,
  ip: request.ip ?? null,
  requestId: request.id,
});

export const cameFrom = (request: FastifyRequest) => ({
  address: request.ip ?? 'local',
  agent: request.headers['user-agent'] ?? '',
  requestId: request.id,
});

export async function unlessBusy<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof PasswordsBusy
      ? new Refusal('sign_in_busy', { retryAfterSeconds: BUSY_RETRY_SECONDS })
      : error;
  }
}

async function ownVersion(): Promise<string> {
  const text = await readFile(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
