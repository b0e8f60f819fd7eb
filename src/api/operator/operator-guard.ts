/**
 * Lets the operator's key through, and nobody else: a workspace's key is told that it is not the operator's, any other text that it
 * is none. Guesses are counted with those of workspace keys, by address.
 */
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Clock } from '../../../media/contract/clock.ts';
import type { ChangedBy } from '../../audit/audit-entry.ts';
import { rateNames } from '../../limits/limit-names.ts';
import type { LimitStore } from '../../limits/limit-store.ts';
import { takeFromRate } from '../../limits/rate-limit.ts';
import type { Database } from '../../store/database.ts';
import { parseApiKey } from '../../workspaces/api-key-format.ts';
import { findOperatorKey } from '../../workspaces/operator-keys.ts';
import type { Authenticator } from '../authentication.ts';
import { createFailedAuthThrottle } from '../failed-auth-throttle.ts';
import { Refusal } from '../refusal.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The public id of the operator's key; set by this guard. */
    operatorKeyId: string | null;
  }
}

const RATE = { perSecond: 20, burst: 40 };

export function createOperatorGuard(deps: {
  database: Database;
  clock: Clock;
  limitStore: LimitStore;
  authenticator: Authenticator;
}): onRequestAsyncHookHandler {
  const throttle = createFailedAuthThrottle({ clock: deps.clock, store: deps.limitStore });
  return async (request: FastifyRequest) => {
    const { authorization } = request.headers;
    const address = request.ip ?? 'local';
    const text = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
    if (parseApiKey(text) !== null) {
      const answer = await deps.authenticator.authenticate(authorization, address);
      if (answer.ok) throw new Refusal('operator_only');
      throw refusalOf(answer);
    }
    const waitSeconds = await throttle.take(address);
    if (waitSeconds > 0) throw refusalOf({ why: 'throttled', retryAfterSeconds: waitSeconds });
    const keyId = await findOperatorKey(deps.database, text);
    if (keyId === null) throw refusalOf({ why: 'unauthorized' });
    throttle.giveBack(address);
    const taken = await takeFromRate(deps.limitStore, rateNames.apiKey(`operator:${keyId}`), RATE);
    if (!taken.ok) throw new Refusal('api_rate_limit', { retryAfterSeconds: taken.retryAfterSeconds });
    request.operatorKeyId = keyId;
  };
}

export function byOperator(request: FastifyRequest): ChangedBy {
  return { actor: `operator:${request.operatorKeyId}`, ip: request.ip ?? null, requestId: request.id };
}

function refusalOf(answer: { why: 'unauthorized' } | { why: 'throttled'; retryAfterSeconds: number }): Refusal {
  return answer.why === 'throttled'
    ? new Refusal('auth_rate_limit', { retryAfterSeconds: answer.retryAfterSeconds })
    : new Refusal('unauthorized', { headers: { 'www-authenticate': 'Bearer' } });
}
