/**
 * The two checks before a body is read: whose request (step 1), and not too many (step 2 of contract §2). A route names
 * the scope it needs and gets `request.principal`. A failed check leaves the body unread.
 */
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { VOUCHED_HEADER, vouchedByKey } from '../../media/contract/vouched.ts';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { factsFor } from '../errors/error-codes.ts';
import { rateNames } from '../limits/limit-names.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import { takeFromRate, windowSeconds } from '../limits/rate-limit.ts';
import type { Right } from '../users/roles.ts';
import type { Scope } from '../workspaces/api-keys.ts';
import { type Authenticator, authenticationRefusal, type Principal } from './authentication.ts';
import type { Need, Operation } from './openapi/operation.ts';
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

type RequestRate = Principal['requestRate'];
export interface Guard {
  /**
   * The check of a route. `operator`: the operator's key, and no workspace's (`operator/operator-guard.ts`). `right`:
   * what a person needs, where that is finer than the scope.
   */
  (need: Need, right?: Right): onRequestAsyncHookHandler;
  /** Present: the routes are registered for people too, at other paths (`console/second-door.ts`). */
  door?: Door;
}

/** The other way to an operation that is described once. */
export interface Door {
  /** Null: the operation is not there. */
  pathOf(path: string, need: Need): string | null;
  /** What this door says of the operation, where that differs. */
  operationOf(operation: Operation): Operation;
}

export function createGuard(deps: {
  authenticator: Authenticator;
  limitStore: LimitStore;
  operator: onRequestAsyncHookHandler;
}): Guard {
  return (need) => {
    if (need === 'person')
      throw new Error('A key is no person: such a route is registered with the guard of the console.');
    return need === 'operator' ? deps.operator : createKeyGuard(deps, need);
  };
}

function createKeyGuard(
  deps: { authenticator: Authenticator; limitStore: LimitStore },
  scope: Scope,
): onRequestAsyncHookHandler {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const specified = request.routeOptions.config.specified === true;
    const on429 = specified && request.routeOptions.config.plain429 !== true ? { message: SPECIFIED_429 } : {};
    const answer = await deps.authenticator.authenticate(request.headers.authorization, request.ip ?? 'local');
    if (!answer.ok) throw authenticationRefusal(answer);
    const { principal } = answer;
    reply.header(VOUCHED_HEADER, vouchedByKey(principal.workspaceId));
    if (!principal.scopes.includes(scope)) {
      throw new Refusal('insufficient_scope', {
        ...(specified
          ? factsFor('insufficient_scope', specified)
          : { message: `The API key lacks the scope ${scope}` }),
        headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
        details: [{ field: 'Authorization', issue: `The key needs ${scope}` }],
      });
    }
    const rate = { name: rateNames.apiKey(principal.holder), ...principal.requestRate };
    await countRequest(deps.limitStore, { rate, on429 }, reply);
    request.principal = principal;
  };
}

/** One request of the rate, told in the headers of the IETF draft-11 form; throws when there is none left. */
export async function countRequest(
  limitStore: LimitStore,
  of: { rate: RequestRate & { name: string }; on429?: { message?: string } },
  reply: FastifyReply,
): Promise<void> {
  const taken = await takeFromRate(limitStore, of.rate.name, of.rate);
  reply.header('ratelimit-policy', `"api";q=${of.rate.burst};w=${windowSeconds(of.rate)}`);
  if (!taken.ok) {
    reply.header('ratelimit', `"api";r=0;t=${taken.retryAfterSeconds}`);
    throw new Refusal('api_rate_limit', { ...of.on429, retryAfterSeconds: taken.retryAfterSeconds });
  }
  reply.header('ratelimit', `"api";r=${taken.remaining};t=${taken.resetSeconds}`);
}

/** Who asks, for the audit row of what a request changes. */
export function changedBy(request: FastifyRequest): ChangedBy {
  return { actor: request.principal.actor, ip: request.ip ?? null, requestId: request.id };
}
