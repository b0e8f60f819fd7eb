/**
 * Whose request is this? Step 1 of contract §2 and every route below `/api/developer`. Only the Authorization header
 * counts. The checksum is checked before any query; a row is cached for 1 s, so a revocation or the API switch holds
 * within 2 s on every node; an unknown id costs the same hash and comparison as a known one. Key text never reaches a
 * log.
 *
 * An address that guesses is shut (`failed-auth-throttle.ts`), and so is the key that is guessed at: what comes then is
 * judged by memory alone. Remembered are the hashes of the keys that were in use when this process started and of those
 * that it has let in since, so a right key goes on, and everything else gets the one refusal after one delay, which
 * tells a guesser nothing.
 */
import { timingSafeEqual } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { Logger } from 'pino';
import { type Clock, pause } from '../../media/contract/clock.ts';
import type { AuditActor } from '../audit/audit-entry.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import type { Queryable } from '../store/database.ts';
import { parseApiKey, sha256Of } from '../workspaces/api-key-format.ts';
import type { Scope } from '../workspaces/api-keys.ts';
import { createFailedAuthThrottle } from './failed-auth-throttle.ts';
import type { Masking } from './masking.ts';
import { Refusal } from './refusal.ts';

export interface Principal {
  /** Null: a person at the console, who has no key. */
  keyId: string | null;
  /** For the audit. */
  actor: AuditActor;
  /** What open streams are counted by, and end with: the key's id, or a session with its rights. */
  holder: string;
  /** Numbers are hidden from who asks, and filters by them refused; null: nothing is hidden. */
  masking: Masking | null;
  workspaceId: string;
  /** The workspace's slug, what a body calls `enterprise`. */
  slug: string;
  scopes: readonly Scope[];
  /** What the key is bound to; a key that it makes is too. */
  allowedCidrs: readonly string[];
  expiresAt: Date | null;
  requestRate: { perSecond: number; burst: number };
}

export type Authentication =
  | { ok: true; principal: Principal }
  | { ok: false; why: 'unauthorized' }
  | { ok: false; why: 'throttled'; retryAfterSeconds: number };

/** A key that was let in, and from where; for a person `keyId` is the `holder` of his principal. */
export interface KeyUse {
  keyId: string;
  address: string;
}

export interface Authenticator {
  /** `address` is the client's, as the last trusted proxy saw it. */
  authenticate(authorization: string | undefined, address: string): Promise<Authentication>;
  /**
   * In the order of `uses`: whether each would still be let in. For what goes on after its
   * request; asks the database once.
   */
  stillHold(uses: readonly KeyUse[]): Promise<boolean[]>;
  /** Remembers the keys that were used last. Never rejects: without it a key is known once it was right. */
  warm(): Promise<void>;
}

interface KeyRow {
  key_id: string;
  secret_sha256: Buffer;
  scopes: Scope[];
  allowed_cidrs: string[];
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  workspace_id: string;
  slug: string;
  api_enabled: boolean;
  api_requests_per_second: number;
  api_burst: number;
}

const CACHE_MS = 1_000;
const MOST_CACHED_KEYS = 10_000;
const LAST_USED_EVERY_MS = 60_000;
const UNKNOWN_SECRET = Buffer.alloc(32);
const UNAUTHORIZED: Authentication = { ok: false, why: 'unauthorized' };

const SELECT_KEY = `
  SELECT k.key_id, k.secret_sha256, k.scopes, k.allowed_cidrs, k.expires_at, k.revoked_at, k.last_used_at,
         w.id AS workspace_id, w.slug, w.api_enabled, w.api_requests_per_second, w.api_burst
  FROM api_keys k JOIN workspaces w ON w.id = k.workspace_id`;
const READ_KEY = `${SELECT_KEY} WHERE k.key_id = $1`;
/**
 * The same, and its use is noted: not where somebody else changes the key, and the note waits for no disk, because the
 * request waits for it.
 */
const READ_AND_NOTE = `
  WITH noted AS (
    UPDATE api_keys SET last_used_at = now() FROM (SELECT set_config('synchronous_commit', 'off', true) AS commits) AS disk
     WHERE disk.commits = 'off' AND key_id = (
       SELECT key_id FROM api_keys
        WHERE key_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
          AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute') FOR UPDATE SKIP LOCKED))
  ${READ_KEY}`;
const READ_KEYS = `${SELECT_KEY} WHERE k.key_id = ANY ($1::text[])`;
const READ_USED = `${SELECT_KEY} WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
  ORDER BY k.last_used_at DESC NULLS LAST LIMIT $1`;

export function createAuthenticator(deps: {
  database: Queryable;
  clock: Clock;
  log: Logger;
  limitStore: LimitStore;
}): Authenticator {
  const { database, clock, log } = deps;
  const throttle = createFailedAuthThrottle({ clock, store: deps.limitStore });
  const cache = new Map<string, { row: KeyRow; readAtMs: number; usedNotedAtMs: number }>();

  /** By credentials: until they are looked up, and may be known. */
  const trying = new Map<string, Promise<void>>();

  /** At most once a minute a key and node. */
  const isNoteDue = (notedAtMs: number): boolean => clock.nowMs() - notedAtMs >= LAST_USED_EVERY_MS;

  /** `isUse`: by whoever has the key's secret, from where it may be used. */
  const readKey = async (keyId: string, isUse: boolean): Promise<KeyRow | undefined> => {
    const cached = cache.get(keyId);
    if (cached !== undefined && clock.nowMs() - cached.readAtMs < CACHE_MS) return cached.row;
    const readAtMs = clock.nowMs();
    const isToNote = isUse && cached !== undefined && isNoteDue(cached.usedNotedAtMs);
    // One that fails is not tried again by the next request.
    if (isToNote) cached.usedNotedAtMs = readAtMs;
    const [row] = await database.query<KeyRow>(isToNote ? READ_AND_NOTE : READ_KEY, [keyId]);
    const usedNotedAtMs = cache.get(keyId)?.usedNotedAtMs ?? cached?.usedNotedAtMs ?? Number.NEGATIVE_INFINITY;
    cache.delete(keyId);
    if (row !== undefined) cache.set(keyId, { row, readAtMs, usedNotedAtMs });
    if (cache.size > MOST_CACHED_KEYS) cache.delete(cache.keys().next().value!);
    return row;
  };

  /** Where it was not noted as the key was read; failing to note it must not fail the request. */
  const noteUse = (keyId: string): void => {
    const cached = cache.get(keyId);
    if (cached === undefined || !isNoteDue(cached.usedNotedAtMs)) return;
    cached.usedNotedAtMs = clock.nowMs();
    database
      .query(
        `UPDATE api_keys SET last_used_at = now()
         WHERE key_id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
        [keyId],
      )
      .catch((error: unknown) => log.warn({ keyId, err: error }, 'the use of an API key could not be noted'));
  };

  /**
   * Of credentials that were not right here before: their key's row, or how long nobody may try. A key that is new
   * here, in many requests at once, is one that is looked up, and not as many guesses; where the look fails, it fails
   * for all of them.
   */
  const tryUnproven = (
    credentials: string,
    address: string,
    keyId: string | undefined,
  ): Promise<{ waitSeconds: number; row: KeyRow | undefined }> => {
    const tried = throttle.take(address, keyId).then(async (waitSeconds) => {
      if (waitSeconds > 0 || keyId === undefined) return { waitSeconds, row: undefined };
      try {
        return { waitSeconds, row: await readKey(keyId, false) };
      } catch (error) {
        throttle.giveBack(address, keyId);
        throw error;
      }
    });
    const over = tried.then(() => {}).finally(() => trying.delete(credentials));
    // Where nobody waits for it, its failure is that of this request alone.
    over.catch(() => {});
    trying.set(credentials, over);
    return tried;
  };

  return {
    async warm() {
      try {
        const readAtMs = Number.NEGATIVE_INFINITY;
        for (const row of (await database.query<KeyRow>(READ_USED, [MOST_CACHED_KEYS])).toReversed()) {
          if (!cache.has(row.key_id)) cache.set(row.key_id, { row, readAtMs, usedNotedAtMs: readAtMs });
        }
      } catch (error) {
        log.warn({ err: error }, 'the keys in use could not be read; each is known once it has been used');
      }
    },
    async stillHold(uses) {
      const rows = await database.query<KeyRow>(READ_KEYS, [[...new Set(uses.map(({ keyId }) => keyId))]]);
      const byId = new Map(rows.map((row) => [row.key_id, row]));
      return uses.map(({ keyId, address }) => {
        const row = byId.get(keyId);
        return row !== undefined && isUsable(row, address, clock.epochMs());
      });
    },
    async authenticate(authorization, address) {
      if (authorization === undefined) {
        const shutSeconds = throttle.shutSeconds(address);
        return shutSeconds > 0 ? refuseLate(clock, shutSeconds) : UNAUTHORIZED;
      }
      const text = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
      const parts = parseApiKey(text);
      const secret = sha256Of(parts?.secret ?? text);
      const credentials = `${parts?.keyId} ${secret.toString('hex')}`;
      const before = trying.get(credentials);
      if (before !== undefined) await before;
      const known = parts === null ? undefined : cache.get(parts.keyId)?.row;
      // Guesses are not heard any more, but a key that was right before goes on, from the same address too.
      const proven = known !== undefined && timingSafeEqual(known.secret_sha256, secret);
      let row: KeyRow | undefined;
      if (proven) row = await readKey(known.key_id, isUsable(known, address, clock.epochMs()));
      else {
        const tried = await tryUnproven(credentials, address, parts?.keyId);
        if (tried.waitSeconds > 0) return refuseLate(clock, tried.waitSeconds);
        row = tried.row;
      }
      const matches = timingSafeEqual(row?.secret_sha256 ?? UNKNOWN_SECRET, secret);
      if (row === undefined || !matches || !isUsable(row, address, clock.epochMs())) {
        if (proven) await throttle.take(address);
        return UNAUTHORIZED;
      }
      if (!proven) throttle.giveBack(address, parts?.keyId);
      noteUse(row.key_id);
      return {
        ok: true,
        principal: {
          keyId: row.key_id,
          actor: `key:${row.key_id}`,
          holder: row.key_id,
          masking: null,
          workspaceId: row.workspace_id,
          slug: row.slug,
          scopes: row.scopes,
          allowedCidrs: row.allowed_cidrs,
          expiresAt: row.expires_at,
          requestRate: { perSecond: row.api_requests_per_second, burst: row.api_burst },
        },
      };
    },
  };
}

/** The same for all that a shut address sends. */
const REFUSAL_DELAY_MS = 500;

/** What an address is told that is shut, and not a moment sooner. */
export async function refuseLate(
  clock: Pick<Clock, 'after'>,
  retryAfterSeconds: number,
): Promise<Extract<Authentication, { why: 'throttled' }>> {
  await pause(clock, REFUSAL_DELAY_MS);
  return { ok: false, why: 'throttled', retryAfterSeconds };
}

/** As a request is refused that is nobody's. */
export function authenticationRefusal(answer: Extract<Authentication, { ok: false }>): Refusal {
  const headers = { 'www-authenticate': 'Bearer' };
  if (answer.why === 'unauthorized') return new Refusal('unauthorized', { headers });
  return new Refusal('auth_rate_limit', { headers, retryAfterSeconds: answer.retryAfterSeconds });
}

function isUsable(row: KeyRow, address: string, nowEpochMs: number): boolean {
  if (!row.api_enabled || row.revoked_at !== null) return false;
  if (row.expires_at !== null && row.expires_at.getTime() <= nowEpochMs) return false;
  return row.allowed_cidrs.length === 0 || row.allowed_cidrs.some((cidr) => contains(cidr, address));
}

/** An IPv4 client of an IPv6 socket (`::ffff:192.0.2.1`) counts as IPv4. */
function contains(cidr: string, address: string): boolean {
  if (!ipaddr.isValid(address) || !ipaddr.isValidCIDR(cidr)) return false;
  const client = ipaddr.process(address);
  const [range, bits] = ipaddr.parseCIDR(cidr);
  return client.kind() === range.kind() && client.match(range, bits);
}
