/**
 * The two checks before a body is read: whose request (step 1), and not too many (step 2 of contract §2). A route names the
 * scope it needs and gets `request.principal`. A failed check leaves the body unread.
 */
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { rateNames } from '../limits/limit-names.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import { takeFromRate, windowSeconds } from '../limits/rate-limit.ts';
import type { Scope } from '../workspaces/api-keys.ts';
import type { Authenticator, Principal } from './authentication.ts';
import { Refusal } from './refusal.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard; a route without a guard must not read it. */
    principal: Principal;
  }
}

/** The specification's only message for 429 on its own operation. */
const SPECIFIED_429 = 'Carrier rate limit exceeded';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of a specified operation that calls nobody: 429 has its plain message (contract §4). */
    plain429?: boolean;
  }
}

export type Guard = (scope: Scope) => onRequestAsyncHookHandler;

export function createGuard(deps: { authenticator: Authenticator; limitStore: LimitStore }): Guard {
  return (scope) => async (request: FastifyRequest, reply: FastifyReply) => {
    const specified = request.routeOptions.config.specified === true;
    const on429 = specified && request.routeOptions.config.plain429 !== true ? { message: SPECIFIED_429 } : {};
    const answer = await deps.authenticator.authenticate(request.headers.authorization, request.ip ?? 'local');
    if (!answer.ok) {
      if (answer.why === 'throttled') {
        throw new Refusal('auth_rate_limit', { ...on429, retryAfterSeconds: answer.retryAfterSeconds });
      }
      throw new Refusal('unauthorized', { headers: { 'www-authenticate': 'Bearer' } });
    }
    const { principal } = answer;
    if (!principal.scopes.includes(scope)) {
      if (specified) throw new Refusal('unauthorized');
      throw new Refusal('insufficient_scope', {
        message: `The API key lacks the scope ${scope}`,
        details: [{ field: 'Authorization', issue: `needs ${scope}` }],
      });
    }
    const rate = principal.requestRate;
    const taken = await takeFromRate(deps.limitStore, rateNames.apiKey(principal.keyId), rate);
    reply.header('ratelimit-policy', `"api";q=${rate.burst};w=${windowSeconds(rate)}`);
    if (!taken.ok) {
      reply.header('ratelimit', `"api";r=0;t=${taken.retryAfterSeconds}`);
      throw new Refusal('api_rate_limit', { ...on429, retryAfterSeconds: taken.retryAfterSeconds });
    }
    reply.header('ratelimit', `"api";r=${taken.remaining};t=${taken.resetSeconds}`);
    request.principal = principal;
  };
}

/** Who asks, for the audit row of what a request changes. */
export function changedBy(request: FastifyRequest): ChangedBy {
  return { actor: `key:${request.principal.keyId}`, ip: request.ip ?? null, requestId: request.id };
}
