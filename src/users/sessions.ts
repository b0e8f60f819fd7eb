/**
 * Sessions of people: 256 random bits that the browser keeps, of which only the SHA-256 is stored. One ends 12 h after
 * its last request, 7 days after its sign-in (12 h after one by an OpenID provider), and when it is revoked. It holds
 * no rights: those are read with it at each request, so a role that is taken away holds at once.
 */
import { createHash, randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { Database, Queryable } from '../store/database.ts';
import { PERSON_COLUMNS, type Person } from './people.ts';
import type { Role } from './roles.ts';

export interface Membership {
  workspaceId: string;
  /** The workspace's slug. */
  enterprise: string;
  /** What people call the workspace. */
  name: string;
  role: Role;
  hears: boolean;
  /** Raised by every change. */
  version: number;
  /** What the workspace lets a client ask. */
  requestRate: { perSecond: number; burst: number };
}

export interface SignedIn {
  sessionId: string;
  person: Person;
  signedInAt: Date;
  /** The OpenID provider by which it began; null: by a password or a passkey. */
  issuer: string | null;
  /** When it ends by itself at the latest. */
  expiresAt: Date;
  /** In the workspace that was asked for; null: in none. */
  membership: Membership | null;
}

export interface SessionView {
  id: string;
  createdAt: Date;
  lastSeenAt: Date;
  expiresAt: Date;
  ip: string;
  userAgent: string;
}

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const AGENT_CHARACTERS = 200;
/** `s` is a session that holds. */
const HOLDS = `s.revoked_at IS NULL AND s.expires_at > now() AND s.seen_at > now() - interval '12 hours'`;
const MEMBERSHIP = `m.workspace_id AS "workspaceId", w.slug AS enterprise, w.name AS "workspaceName", m.role, m.hears, m.version,
  w.api_requests_per_second AS "perSecond", w.api_burst AS burst`;
/** Ended ones say from which addresses somebody has come before. */
const KEPT = `interval '30 days'`;

interface SessionRow {
  sessionId: string;
  signedInAt: Date;
  expiresAt: Date;
  isNoted: boolean;
  issuer: string | null;
}

interface MembershipRow {
  workspaceId: string | null;
  enterprise: string;
  workspaceName: string;
  role: Role;
  hears: boolean;
  version: number;
  perSecond: number;
  burst: number;
}

export const secretToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');
export const tokenHash = (token: string): Buffer => createHash('sha256').update(token).digest();
/** What no token can be is not looked for. */
export const isToken = (text: string): boolean => TOKEN.test(text);

/** The token is returned this once. `issuer`: of an OpenID provider, who is asked again after 12 h. */
export async function createSession(
  tx: Queryable,
  of: { userId: string; address: string; agent: string; issuer?: string | undefined },
): Promise<{ sessionId: string; token: string }> {
  const token = secretToken();
  const sessionId = uuidv7();
  await tx.query(
    `INSERT INTO user_sessions (id, user_id, token_sha256, expires_at, address, agent, issuer)
     VALUES ($1, $2, $3, now() + CASE WHEN $6::text IS NULL THEN interval '7 days' ELSE interval '12 hours' END, $4, $5, $6)`,
    [sessionId, of.userId, tokenHash(token), of.address, of.agent.slice(0, AGENT_CHARACTERS), of.issuer ?? null],
  );
  return { sessionId, token };
}

/** `enterprise`: the workspace that is asked for, if one is. Notes once a minute that the session is used. */
export async function readSession(
  database: Queryable,
  token: string,
  enterprise: string | null,
): Promise<SignedIn | null> {
  if (!isToken(token)) return null;
  const [row] = await database.query<Person & MembershipRow & SessionRow>(
    `SELECT ${PERSON_COLUMNS}, s.id AS "sessionId", s.created_at AS "signedInAt", s.expires_at AS "expiresAt", s.issuer,
            s.seen_at > now() - interval '1 minute' AS "isNoted", ${MEMBERSHIP}
     FROM user_sessions s JOIN users u ON u.id = s.user_id AND u.removed_at IS NULL
     LEFT JOIN (memberships m JOIN workspaces w ON w.id = m.workspace_id) ON m.user_id = u.id AND w.slug = $2
     WHERE s.token_sha256 = $1 AND ${HOLDS}`,
    [tokenHash(token), enterprise],
  );
  if (row === undefined) return null;
  const { sessionId, signedInAt, expiresAt, isNoted, issuer } = row;
  const { id, email, name, isOperator, hasPassword, totp, passkeys, createdAt } = row;
  if (!isNoted) {
    await database.query(
      `UPDATE user_sessions SET seen_at = now() WHERE id = $1 AND seen_at < now() - interval '1 minute'`,
      [sessionId],
    );
  }
  return {
    sessionId,
    signedInAt,
    issuer,
    expiresAt,
    person: { id, email, name, isOperator, hasPassword, totp, passkeys, createdAt },
    membership: membershipOf(row),
  };
}

export async function workspacesOf(database: Queryable, userId: string): Promise<Membership[]> {
  const rows = await database.query<MembershipRow>(
    `SELECT ${MEMBERSHIP} FROM memberships m JOIN workspaces w ON w.id = m.workspace_id WHERE m.user_id = $1 ORDER BY w.slug`,
    [userId],
  );
  return rows.flatMap((row) => membershipOf(row) ?? []);
}

function membershipOf({ workspaceName: name, perSecond, burst, ...row }: MembershipRow): Membership | null {
  const { workspaceId, enterprise, role, hears, version } = row;
  if (workspaceId === null) return null;
  return { workspaceId, enterprise, name, role, hears, version, requestRate: { perSecond, burst } };
}

/** What goes on after its request: by this session, with these rights. */
export interface SessionUse {
  sessionId: string;
  workspaceId: string;
  /** Of the membership. */
  version: number;
}

/** In the order of `uses`: whether each would still be let in with the same rights. */
export async function sessionsHold(database: Queryable, uses: readonly SessionUse[]): Promise<boolean[]> {
  if (uses.length === 0) return [];
  const rows = await database.query<SessionUse>(
    `SELECT s.id AS "sessionId", m.workspace_id AS "workspaceId", m.version
     FROM user_sessions s JOIN users u ON u.id = s.user_id AND u.removed_at IS NULL
     JOIN memberships m ON m.user_id = u.id
     WHERE s.id = ANY ($1::uuid[]) AND ${HOLDS}`,
    [[...new Set(uses.map(({ sessionId }) => sessionId))]],
  );
  const name = ({ sessionId, workspaceId, version }: SessionUse): string => `${sessionId} ${workspaceId} ${version}`;
  const holding = new Set(rows.map(name));
  return uses.map((use) => holding.has(name(use)));
}

export function listSessions(database: Queryable, userId: string): Promise<SessionView[]> {
  return database.query<SessionView>(
    `SELECT s.id, s.created_at AS "createdAt", s.seen_at AS "lastSeenAt", s.expires_at AS "expiresAt",
            s.address AS ip, s.agent AS "userAgent"
     FROM user_sessions s WHERE s.user_id = $1 AND ${HOLDS} ORDER BY s.created_at DESC`,
    [userId],
  );
}

/** Whether the person had it. Holds at once. */
export async function revokeSession(tx: Queryable, of: { userId: string; sessionId: string }): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE user_sessions s SET revoked_at = now() WHERE s.user_id = $1 AND s.id = $2 AND ${HOLDS} RETURNING s.id`,
    [of.userId, of.sessionId],
  );
  return rows.length > 0;
}

/** What the browser had before, whoever's it was: a sign-in begins anew. */
export async function revokeToken(tx: Queryable, token: string): Promise<void> {
  if (!isToken(token)) return;
  await tx.query('UPDATE user_sessions SET revoked_at = now() WHERE token_sha256 = $1 AND revoked_at IS NULL', [
    tokenHash(token),
  ]);
}

/** All of the person's but `exceptId`. */
export async function revokeSessions(tx: Queryable, userId: string, exceptId: string | null = null): Promise<void> {
  await tx.query(
    'UPDATE user_sessions SET revoked_at = now() WHERE user_id = $1 AND revoked_at IS NULL AND id IS DISTINCT FROM $2',
    [userId, exceptId],
  );
}

/** Whether the person was signed in from this address in the last 30 days. */
export async function hasComeFrom(database: Queryable, userId: string, address: string): Promise<boolean> {
  const rows = await database.query('SELECT 1 AS one FROM user_sessions WHERE user_id = $1 AND address = $2 LIMIT 1', [
    userId,
    address,
  ]);
  return rows.length > 0;
}

/** Hourly, like everything else that is old. */
export async function purgeUserSessions(database: Database): Promise<void> {
  await database.query(`DELETE FROM user_sessions WHERE created_at < now() - ${KEPT}`);
  await database.query(`DELETE FROM user_links WHERE expires_at < now() - ${KEPT}`);
}
