/**
 * `/api/console/openid`: signing in by an OpenID provider, and the provider's accounts of whoever is signed in. A way
 * to it begins with a request of a page of ours, which is told where the browser goes; it comes back to
 * `CALLBACK_PATH`, and from there to the console, signed in or with the code of what was wrong.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ErrorCode } from '../../errors/error-codes.ts';
import { OperatorError } from '../../errors/operator-error.ts';
import { takeTryOfAnybody } from '../../users/guessing.ts';
import { linkIdentity, listIdentities, personOf, removeIdentity } from '../../users/openid/openid-people.ts';
import { type OpenIdProvider, OpenIdRefused, OpenIdUnavailable } from '../../users/openid/openid-provider.ts';
import { beginRound, takeRound } from '../../users/openid/openid-round.ts';
import { readSession } from '../../users/sessions.ts';
import { auditPerson, enter } from '../../users/sign-in.ts';
import type { Guard } from '../guard.ts';
import { json } from '../openapi/operation.ts';
import { Refusal } from '../refusal.ts';
import { routesOn } from '../route.ts';
import { refusing } from '../settings/setting-refusal.ts';
import { identitiesAnswer, nothing, openIdUrlAnswer, SET_COOKIE, signInWaysAnswer } from './answers.ts';
import { ONCE_MORE_CODES, onceMore, onceMoreBody } from './once-more.ts';
import { CONSOLE_PATH } from './second-door.ts';
import { clearRoundCookie, roundSecret, serviceAddress, sessionToken, setRoundCookie } from './session-cookie.ts';
import { personAt } from './session-guard.ts';
import { beginSession, byPerson, cameFrom, fromHere, type SessionRouteDeps } from './session-routes.ts';

const OPENID_PATH = `${CONSOLE_PATH}/openid`;
/** Not below `/api/`: providers add parameters of their own, which there are refused. */
const CALLBACK_PATH = '/console/openid/callback';
const IDENTITIES_PATH = `${CONSOLE_PATH}/me/identities`;
const RETRY_SECONDS = 10;

export const identityParams = z.object({ identityId: z.guid({ error: 'must be a UUID' }) });
/** Whatever comes back leads to a page: what is no state of ours is none. */
const callbackQuery = z.looseObject({ state: z.string().max(200).optional().catch(undefined) });

const BEGIN_CODES = ['openid_off', 'openid_unavailable', 'sign_in_limit'] as const;

export function registerOpenId(app: FastifyInstance, guard: Guard, deps: SessionRouteDeps): void {
  const route = routesOn(app, guard);
  const { database, openId } = deps;
  const callbackAt = (request: FastifyRequest): string =>
    new URL(`${serviceAddress(request, deps.publicUrl)}${CALLBACK_PATH}`).href;

  route({
    method: 'get',
    path: `${CONSOLE_PATH}/sign-in`,
    id: 'readSignInWays',
    tag: 'Console',
    summary: 'By what one can sign in here',
    description: 'Beside a password and passkeys.',
    scope: null,
    answers: { 200: json('The ways.', signInWaysAnswer) },
    handler: () => Promise.resolve({ openId: openId === null ? null : { name: openId.settings.name } }),
  });

  route({
    method: 'post',
    path: OPENID_PATH,
    id: 'beginOpenId',
    tag: 'Console',
    summary: 'Sign in by the OpenID provider',
    description: 'The browser goes to the address in the answer, and comes back signed in within ten minutes.',
    scope: null,
    onRequest: fromHere(deps),
    answers: { 200: json('Where to go.', openIdUrlAnswer, SET_COOKIE) },
    errors: ['cross_site_request', 'insecure_address', ...BEGIN_CODES],
    handler: (request, reply) => begin(request, reply, null),
  });

  route({
    method: 'get',
    path: CALLBACK_PATH,
    id: 'endOpenId',
    tag: 'Console',
    summary: 'Where the provider sends the browser back to',
    description:
      'Leads to the console: signed in, or at `#/refused/{code}`. What comes back counts once, in the browser in which it was asked for.',
    scope: null,
    query: callbackQuery,
    answers: { 302: nothing('To the console.', { ...SET_COOKIE, Location: 'A page of it' }) },
    async handler(request, reply) {
      const code = await end(request, reply, request.query.state ?? '');
      clearRoundCookie(request, reply);
      const page = code === null ? '#/' : `#/refused/${code}`;
      reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
      return reply.redirect(`/console/${page}`, 302);
    },
  });

  route({
    method: 'get',
    path: IDENTITIES_PATH,
    id: 'listMyIdentities',
    tag: 'Console',
    summary: 'As whom the OpenID provider knows the person',
    description: 'The oldest first.',
    scope: 'person',
    answers: { 200: json('All of them.', identitiesAnswer) },
    async handler(request) {
      return { data: await listIdentities(database, personAt(request).id), nextCursor: null };
    },
  });

  route({
    method: 'post',
    path: IDENTITIES_PATH,
    id: 'addMyIdentity',
    tag: 'Console',
    summary: 'Let an account at the OpenID provider sign the person in',
    description: 'Takes the password once more. The browser goes to the address in the answer, and comes back.',
    scope: 'person',
    body: onceMoreBody,
    answers: { 200: json('Where to go.', openIdUrlAnswer, SET_COOKIE) },
    errors: [...ONCE_MORE_CODES, ...BEGIN_CODES],
    async handler(request, reply) {
      await onceMore(deps, request, request.body.password);
      return begin(request, reply, request.signedIn!.sessionId);
    },
  });

  route({
    method: 'delete',
    path: `${IDENTITIES_PATH}/:identityId`,
    id: 'removeMyIdentity',
    tag: 'Console',
    summary: 'Let that account sign the person in no more',
    description: 'Takes the password once more. The last way in stays.',
    scope: 'person',
    params: identityParams,
    body: onceMoreBody,
    answers: { 204: nothing('It signs nobody in any more.') },
    errors: [...ONCE_MORE_CODES, 'identity_not_found', 'setting_refused'],
    async handler(request, reply) {
      const { id: userId } = personAt(request);
      const { identityId } = request.params;
      await onceMore(deps, request, request.body.password);
      const removing = database.transaction(async (tx) => {
        const wasThere = await removeIdentity(tx, { userId, identityId });
        if (wasThere)
          await auditPerson(tx, userId, byPerson(request), 'user.identity_removed', { identity: identityId });
        return wasThere;
      });
      if (!(await refusing('identity_not_found', removing))) throw new Refusal('identity_not_found');
      return reply.code(204).send();
    },
  });

  async function begin(request: FastifyRequest, reply: FastifyReply, sessionId: string | null) {
    const provider = providerMust();
    const taken = await takeTryOfAnybody(deps.limitStore, cameFrom(request).address);
    if (taken.kind === 'too_many') throw new Refusal('sign_in_limit', taken);
    const { secret, round } = await beginRound(database, { sessionId });
    try {
      const url = await provider.authorizationUrl(round, callbackAt(request));
      setRoundCookie(request, reply, secret);
      return { url };
    } catch (error) {
      if (!(error instanceof OpenIdUnavailable)) throw error;
      deps.log.warn({ reason: error.message }, 'the OpenID provider cannot be asked; see OIDC_ISSUER');
      throw new Refusal('openid_unavailable', { retryAfterSeconds: RETRY_SECONDS });
    }
  }

  /** Null: signed in, or the identity was added. */
  async function end(request: FastifyRequest, reply: FastifyReply, state: string): Promise<ErrorCode | null> {
    if (openId === null) return 'openid_off';
    const secret = roundSecret(request);
    const taken = secret === null ? null : await takeRound(database, { secret, state });
    if (taken === null) return 'openid_refused';
    const { search } = new URL(request.url, deps.publicUrl);
    try {
      const claims = await openId.claimsOf(taken.round, new URL(`${callbackAt(request)}${search}`));
      if (taken.sessionId !== null) return await link(request, taken.sessionId, claims);
      const from = cameFrom(request);
      const by = { ip: from.address, requestId: from.requestId };
      const found = await personOf(database, claims, { settings: openId.settings, by });
      if (found.kind === 'refused') return found.code;
      const token = await enter(database, found.userId, { ...from, issuer: claims.issuer });
      await beginSession(deps, request, reply, token);
      return null;
    } catch (error) {
      if (error instanceof OpenIdUnavailable) return told(error, 'openid_unavailable');
      if (error instanceof OpenIdRefused) return told(error, 'openid_refused');
      throw error;
    }
  }

  /** The session that asked is the one that comes back: else a page could add its own account to somebody else. */
  async function link(
    request: FastifyRequest,
    sessionId: string,
    claims: Awaited<ReturnType<OpenIdProvider['claimsOf']>>,
  ): Promise<ErrorCode | null> {
    const token = sessionToken(request);
    const signedIn = token === null ? null : await readSession(database, token, null);
    if (signedIn?.sessionId !== sessionId) return 'openid_refused';
    const userId = signedIn.person.id;
    const by = { actor: `user:${userId}` as const, ip: request.ip ?? null, requestId: request.id };
    try {
      await linkIdentity(database, claims, { userId, by });
      return null;
    } catch (error) {
      if (error instanceof OperatorError) return 'openid_taken';
      throw error;
    }
  }

  function told(error: Error, code: ErrorCode): ErrorCode {
    deps.log.warn({ reason: error.message, code }, 'a sign-in by the OpenID provider came to nothing');
    return code;
  }

  function providerMust(): OpenIdProvider {
    if (openId === null) throw new Refusal('openid_off');
    return openId;
  }
}
