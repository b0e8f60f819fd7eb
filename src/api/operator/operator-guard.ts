/**
 * Lets the operator's key through, and nobody else: a workspace's key is told that it is not the operator's, any other
 * text that it is none. Guesses are counted with those of workspace keys, by address and by key; one that was there
 * when this process started, or was right since, goes on where others are shut out.
 */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../../../media/contract/clock.ts';
import { VOUCHED_HEADER, vouchedByKey } from '../../../media/contract/vouched.ts';
import type { AuditActor, ChangedBy } from '../../audit/audit-entry.ts';
import { rateNames } from '../../limits/limit-names.ts';
import type { LimitStore } from '../../limits/limit-store.ts';
import type { Database } from '../../store/database.ts';
import { parseApiKey, sha256Of } from '../../workspaces/api-key-format.ts';
import { findOperatorKey, operatorKeyHashes } from '../../workspaces/operator-keys.ts';
import { type Authenticator, authenticationRefusal, refuseLate } from '../authentication.ts';
import { createFailedAuthThrottle } from '../failed-auth-throttle.ts';
import { countRequest } from '../guard.ts';
import { Refusal } from '../refusal.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The operator's key by its public id, or a person; set by this guard or the console's. */
    operator: AuditActor | null;
  }
}

export interface OperatorGuard {
  hook: onRequestAsyncHookHandler;
  /** Remembers the keys that there are. Never rejects: without it a key is known once it was right. */
  warm(): Promise<void>;
}

const MOST_REMEMBERED = 10_000;
const RATE = { perSecond: 20, burst: 40 };

export function createOperatorGuard(deps: {
  database: Database;
  clock: Clock;
  log: Logger;
  limitStore: LimitStore;
  authenticator: Authenticator;
}): OperatorGuard {
  const throttle = createFailedAuthThrottle({ clock: deps.clock, store: deps.limitStore });
  /** SHA-256 by key id; there are few operators. */
  const proven = new Map<string, Buffer>();
  async function warm(): Promise<void> {
    try {
      for (const [keyId, secret] of await operatorKeyHashes(deps.database, MOST_REMEMBERED)) proven.set(keyId, secret);
    } catch (error) {
      deps.log.warn({ err: error }, 'the keys of operators could not be read; each is known once it has been used');
    }
  }
  async function hook(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { authorization } = request.headers;
    const address = request.ip ?? 'local';
    const text = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
    if (parseApiKey(text) !== null) {
      const answer = await deps.authenticator.authenticate(authorization, address);
      if (answer.ok) throw new Refusal('operator_only');
      throw authenticationRefusal(answer);
    }
    const parts = parseApiKey(text, 'oper');
    const secret = sha256Of(parts?.secret ?? text);
    const known = proven.get(parts?.keyId ?? '');
    const isProven = known !== undefined && timingSafeEqual(known, secret);
    if (!isProven) {
      const isShown = authorization !== undefined;
      const waitSeconds = isShown ? await throttle.take(address, parts?.keyId) : throttle.shutSeconds(address);
      if (waitSeconds > 0) throw authenticationRefusal(await refuseLate(deps.clock, waitSeconds));
    }
    const keyId = await findOperatorKey(deps.database, text);
    if (keyId === null) {
      if (isProven && parts !== null) proven.delete(parts.keyId);
      throw authenticationRefusal({ ok: false, why: 'unauthorized' });
    }
    if (!isProven) throttle.giveBack(address, parts?.keyId);
    proven.set(keyId, secret);
    reply.header(VOUCHED_HEADER, vouchedByKey('operator'));
    const rate = { name: rateNames.apiKey(`operator:${keyId}`), ...RATE };
    await countRequest(deps.limitStore, { rate }, reply);
    request.operator = `operator:${keyId}`;
  }
  return { hook, warm };
}

export function byOperator(request: FastifyRequest): ChangedBy {
  if (request.operator === null) throw new Error('This route has no guard that lets operators in.');
  return { actor: request.operator, ip: request.ip ?? null, requestId: request.id };
}
