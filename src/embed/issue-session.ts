/**
 * `POST /api/embed/session`, decided: the table of contract §8, top to bottom (fields → key → origin → agent → limits),
 * and then the token. The route puts the answer into HTTP. Nothing is kept of a token: the
 * claim of its socket makes the call.
 */
import { v7 as uuidv7 } from 'uuid';
import type { EmbedLimits } from '../limits/embed-limits.ts';
import type { Database } from '../store/database.ts';
import { isAllowed, isOrigin } from './origin.ts';
import type { SessionTokens } from './session-token.ts';
import { findWebAgent, type WebAgent } from './web-agents.ts';
import { findActiveWidgetKey } from './widget-keys.ts';

export interface IssueDeps {
  database: Database;
  tokens: SessionTokens;
  limits: Pick<EmbedLimits, 'ask'>;
  /** Hosted pages live there: always allowed for any key (contract §17). */
  ownOrigin: string;
  /**
   * Whether a new session would find a place: it takes one when its socket is claimed, so a
   * token that is not used holds none.
   */
  admits(): boolean;
  /** The agent's greeting is rendered while the visitor is asked for the microphone. Never throws, never waits. */
  prepare(agent: WebAgent): void;
}

export interface SessionRequest {
  body: unknown;
  /** The `Origin` header. */
  origin: string | undefined;
  remoteAddress: string;
}

export type IssueAnswer =
  | { ok: true; token: string }
  | {
      ok: false;
      code:
        | 'missing_fields'
        | 'invalid_parent_origin'
        | 'invalid_public_key'
        | 'origin_not_allowed'
        | 'agent_not_found'
        | 'embed_rate_limit'
        | 'concurrency_limit'
        | 'draining';
      retryAfterSeconds?: number;
      /** More of the answer: what the limit is. */
      headers?: Record<string, string>;
    };

const REQUIRED = ['publicKey', 'agentId', 'parentOrigin'] as const;
const LONGEST_KEY = 100;
const RETRY_DRAINING_SECONDS = 5;

/** Rejects when the database is away. */
export async function issueSession(deps: IssueDeps, request: SessionRequest): Promise<IssueAnswer> {
  const { database } = deps;
  const { body, origin } = request;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { ok: false, code: 'missing_fields' };
  const { publicKey, agentId, parentOrigin } = body as Record<(typeof REQUIRED)[number], unknown>;
  if ([publicKey, agentId, parentOrigin].some(isAbsent)) return { ok: false, code: 'missing_fields' };
  if (!isOrigin(parentOrigin)) return { ok: false, code: 'invalid_parent_origin' };

  const key = isKeyText(publicKey) ? await findActiveWidgetKey(database, publicKey) : undefined;
  if (key === undefined) return { ok: false, code: 'invalid_public_key' };

  const isListed = parentOrigin === deps.ownOrigin || isAllowed(parentOrigin, key.allowedOrigins);
  if (origin !== parentOrigin || !isListed) {
    return { ok: false, code: 'origin_not_allowed' };
  }

  const agent = await findWebAgent(database, { workspaceId: key.workspaceId, agentId });
  if (agent === undefined) return { ok: false, code: 'agent_not_found' };

  const address = request.remoteAddress;
  const asked = await deps.limits.ask({ address, publicKey: key.publicKey, workspaceId: key.workspaceId });
  if (!asked.ok) return asked;
  if (!deps.admits()) return { ok: false, code: 'draining', retryAfterSeconds: RETRY_DRAINING_SECONDS };

  const token = await deps.tokens.sign({
    // Its call will have the same id.
    jti: uuidv7(),
    ent: key.enterprise,
    agentId: agent.agentId,
    origin: parentOrigin,
    pk: key.publicKey,
  });
  deps.prepare(agent);
  return { ok: true, token };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** PostgreSQL takes no NUL in a text. */
function isKeyText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_KEY && !value.includes('\u0000');
}
