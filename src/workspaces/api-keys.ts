/**
 * API keys of a workspace (contract §7): at most five live ones, and as many that are being rotated out, each shown
 * once. Used by the command line, the settings API and the demo. Only the id and the secret's SHA-256 are stored; the
 * text is returned by `createApiKey` and `rotateApiKey`, never again. A key that makes, rotates or widens another gives
 * no more than it has itself (`Grantor`).
 */
import ipaddr from 'ipaddr.js';
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';
import { makeApiKey, sha256Of } from './api-key-format.ts';
import { findWorkspace } from './workspaces.ts';

export const SCOPES = [
  'calls:write',
  'calls:read',
  'leads:write',
  'leads:read',
  'webhooks:write',
  'agents:read',
  'audit:read',
  'settings:read',
  'settings:write',
  'bench',
] as const;
export type Scope = (typeof SCOPES)[number];

export interface ApiKey {
  keyId: string;
  name: string;
  scopes: Scope[];
  allowedCidrs: string[];
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  createdAt: Date;
}

/** `text` is the key itself: hand it to its user and forget it. */
export interface NewApiKey extends ApiKey {
  text: string;
}

/** The key that asks for another one; absent: the operator does. */
export interface Grantor {
  scopes: readonly Scope[];
  allowedCidrs: readonly string[];
  expiresAt: Date | null;
}

const MOST_VALID_KEYS = 5;
const ROTATION_SECONDS = { preset: 24 * 3600, least: 60, most: 7 * 24 * 3600 };
const VALID = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())';
export const KEY_COLUMNS = `key_id AS "keyId", name, scopes, allowed_cidrs AS "allowedCidrs", expires_at AS "expiresAt",
  revoked_at AS "revokedAt", last_used_at AS "lastUsedAt", created_at AS "createdAt"`;

export async function createApiKey(
  database: Database,
  args: {
    slug: string;
    name: string;
    scopes: readonly string[];
    allowedCidrs?: readonly string[];
    expiresAt?: Date | null;
    by?: ChangedBy;
    grantor?: Grantor | undefined;
  },
): Promise<NewApiKey> {
  const scopes = checkScopes(args.scopes);
  const cidrs = args.allowedCidrs ?? [];
  checkCidrs(cidrs);
  const { expiresAt = null } = args;
  mayGrant(args.grantor, { scopes, allowedCidrs: cidrs, expiresAt });
  if (args.name.trim() === '') throw new OperatorError('invalid', 'The key needs a name, to know it by.');
  return database.transaction(async (tx) => {
    if (expiresAt !== null) await mustLieAhead(tx, expiresAt);
    const workspaceId = await lockWorkspace(tx, args.slug);
    const made = await insertKey(tx, workspaceId, {
      name: args.name,
      scopes,
      allowedCidrs: [...cidrs],
      expiresAt,
      madeBy: keyOf(args.by),
    });
    await audit(tx, workspaceId, args.by, 'key.created', made.keyId, null, shownInAudit(made));
    return made;
  });
}

export async function listApiKeys(database: Queryable, args: { slug: string }): Promise<ApiKey[]> {
  const { id } = await findWorkspace(database, args.slug);
  return database.query<ApiKey>(`SELECT ${KEY_COLUMNS} FROM api_keys WHERE workspace_id = $1 ORDER BY created_at`, [
    id,
  ]);
}

/** Effective on every node within 2 s. Revoking twice is fine. */
export async function revokeApiKey(
  database: Database,
  args: { slug: string; keyId: string; by?: ChangedBy },
): Promise<ApiKey> {
  return database.transaction(async (tx) => {
    const { id } = await findWorkspace(tx, args.slug);
    const [before] = await tx.query<ApiKey>(
      `SELECT ${KEY_COLUMNS} FROM api_keys WHERE workspace_id = $1 AND key_id = $2 FOR UPDATE`,
      [id, args.keyId],
    );
    const [key] = await tx.query<ApiKey>(
      `UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE workspace_id = $1 AND key_id = $2 RETURNING ${KEY_COLUMNS}`,
      [id, args.keyId],
    );
    if (key === undefined || before === undefined) throw unknownKey(args);
    if (before.revokedAt === null)
      await audit(tx, id, args.by, 'key.revoked', key.keyId, shownInAudit(before), shownInAudit(key));
    return key;
  });
}

/** A second key like the first, which stays valid for `overlapSeconds` (24 h; 60 s to 7 days) and counts no more. */
export async function rotateApiKey(
  database: Database,
  args: {
    slug: string;
    keyId: string;
    overlapSeconds?: number | undefined;
    by?: ChangedBy;
    grantor?: Grantor | undefined;
  },
): Promise<{ created: NewApiKey; replaced: ApiKey }> {
  const overlap = args.overlapSeconds ?? ROTATION_SECONDS.preset;
  if (!(overlap >= ROTATION_SECONDS.least && overlap <= ROTATION_SECONDS.most)) {
    throw new OperatorError(
      'invalid',
      'The old key may stay valid for 60 seconds to 7 days; to end it now, revoke it.',
    );
  }
  return database.transaction(async (tx) => {
    const workspaceId = await lockWorkspace(tx, args.slug);
    const [old] = await tx.query<ApiKey>(
      `SELECT ${KEY_COLUMNS} FROM api_keys WHERE workspace_id = $1 AND key_id = $2 AND ${VALID}`,
      [workspaceId, args.keyId],
    );
    if (old === undefined) throw unknownKey(args);
    mayGrant(args.grantor, { ...old, expiresAt: args.grantor?.expiresAt ?? null });
    const wanted = { ...old, expiresAt: args.grantor?.expiresAt ?? null, madeBy: null };
    const created = await insertKey(tx, workspaceId, wanted, old.keyId);
    const [replaced] = await tx.query<ApiKey>(
      `UPDATE api_keys SET expires_at = least(expires_at, now() + $2 * interval '1 second'), replaced_by = $3
       WHERE key_id = $1 RETURNING ${KEY_COLUMNS}`,
      [args.keyId, overlap, created.keyId],
    );
    await audit(tx, workspaceId, args.by, 'key.rotated', args.keyId, shownInAudit(old), {
      ...shownInAudit(replaced!),
      replacedBy: created.keyId,
    });
    await audit(tx, workspaceId, args.by, 'key.created', created.keyId, null, shownInAudit(created));
    return { created, replaced: replaced! };
  });
}

/** Two keys at once must not make a sixth, so the workspace's row is locked while they are counted. */
async function lockWorkspace(tx: Queryable, slug: string): Promise<string> {
  const workspace = await findWorkspace(tx, slug);
  if (!workspace.apiEnabled) {
    throw new OperatorError('refused', `API access is off for '${slug}'`, `first: parley workspace api enable ${slug}`);
  }
  await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR UPDATE', [workspace.id]);
  return workspace.id;
}

async function insertKey(
  tx: Queryable,
  workspaceId: string,
  key: {
    name: string;
    scopes: readonly Scope[];
    allowedCidrs: readonly string[];
    expiresAt: Date | null;
    /** The key that asked for it. */
    madeBy: string | null;
  },
  /** The key that this one takes the place of. */
  rotatedOut: string | null = null,
): Promise<NewApiKey> {
  const [held] = await tx.query<{ kept: number; leaving: number }>(
    `SELECT count(*) FILTER (WHERE replaced_by IS NULL AND key_id IS DISTINCT FROM $2)::int AS kept,
            count(*) FILTER (WHERE replaced_by IS NOT NULL OR key_id = $2)::int AS leaving
     FROM api_keys WHERE workspace_id = $1 AND ${VALID}`,
    [workspaceId, rotatedOut],
  );
  if (held!.kept >= MOST_VALID_KEYS) {
    throw new OperatorError('refused', `A workspace has at most ${MOST_VALID_KEYS} live keys; revoke one first.`);
  }
  if (held!.leaving > MOST_VALID_KEYS) {
    throw new OperatorError(
      'refused',
      `${MOST_VALID_KEYS} keys that were rotated out are still valid; revoke one of them, or wait until it has ended.`,
    );
  }
  const made = makeApiKey();
  const [row] = await tx.query<ApiKey>(
    `INSERT INTO api_keys (key_id, workspace_id, name, secret_sha256, scopes, allowed_cidrs, expires_at, counted_as)
     VALUES ($1, $2, $3, $4, $5, $6, $7,
             (SELECT coalesce(k.counted_as, k.key_id) FROM api_keys k WHERE k.workspace_id = $2 AND k.key_id = $8))
     RETURNING ${KEY_COLUMNS}`,
    [
      made.keyId,
      workspaceId,
      key.name,
      sha256Of(made.secret),
      [...key.scopes],
      [...key.allowedCidrs],
      key.expiresAt,
      // Else a key would escape its ceilings by making others.
      rotatedOut ?? key.madeBy,
    ],
  );
  return { ...row!, text: made.text };
}

const keyOf = (by: ChangedBy | undefined): string | null => /^key:(.+)$/.exec(by?.actor ?? '')?.[1] ?? null;

/** By the clock that will judge it. A key that was never valid is a mistake in the request. */
export async function mustLieAhead(tx: Queryable, expiresAt: Date): Promise<void> {
  const [row] = await tx.query<{ ahead: boolean }>('SELECT $1::timestamptz > now() AS ahead', [expiresAt]);
  if (row?.ahead === true) return;
  throw new OperatorError(
    'invalid',
    `\`expiresAt\` must lie in the future; ${expiresAt.toISOString()} is past. To end a key now, revoke it.`,
  );
}

/** Else whoever has a key that may make keys has every scope, from every address, for ever. */
export function mayGrant(grantor: Grantor | undefined, wanted: Grantor): void {
  if (grantor === undefined) return;
  const beyond = wanted.scopes.filter((scope) => !grantor.scopes.includes(scope));
  if (beyond.length > 0) {
    throw new OperatorError(
      'refused',
      `A key gives only scopes that it has itself; this one lacks ${beyond.join(', ')}.`,
    );
  }
  const { allowedCidrs, expiresAt } = grantor;
  const isBound =
    allowedCidrs.length === 0 ||
    (wanted.allowedCidrs.length > 0 &&
      wanted.allowedCidrs.every((inner) => allowedCidrs.some((outer) => isWithin(inner, outer))));
  if (!isBound) {
    throw new OperatorError(
      'refused',
      `This key is bound to ${allowedCidrs.join(', ')}; one that it makes must be too.`,
    );
  }
  if (expiresAt !== null && (wanted.expiresAt === null || wanted.expiresAt > expiresAt)) {
    throw new OperatorError('refused', `This key ends at ${expiresAt.toISOString()}; one that it makes ends no later.`);
  }
}

export function isWithin(inner: string, outer: string): boolean {
  const [innerAddress, innerBits] = ipaddr.parseCIDR(inner);
  const [outerAddress, outerBits] = ipaddr.parseCIDR(outer);
  if (innerAddress.kind() !== outerAddress.kind() || innerBits < outerBits) return false;
  return innerAddress.match(outerAddress, outerBits);
}

/** What the audit keeps of a key: never its text. */
export const shownInAudit = ({ name, scopes, allowedCidrs, expiresAt, revokedAt }: ApiKey): object => ({
  name,
  scopes,
  allowedCidrs,
  expiresAt,
  revokedAt,
});

function audit(
  tx: Queryable,
  workspaceId: string,
  by: ChangedBy = BY_OPERATOR,
  action: string,
  keyId: string,
  before: unknown,
  after: unknown,
): Promise<void> {
  return auditKey(tx, { workspaceId, by, action, keyId, before, after });
}

export function auditKey(
  tx: Queryable,
  { keyId, ...told }: Omit<Parameters<typeof recordAudit>[1], 'target'> & { keyId: string },
): Promise<void> {
  return recordAudit(tx, { ...told, target: `key:${keyId}` });
}

/** As `VALID` says in SQL. */
export function isValid({ revokedAt, expiresAt }: ApiKey): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt.getTime() > Date.now());
}

export function checkCidrs(cidrs: readonly string[]): void {
  const wrong = cidrs.find((cidr) => !ipaddr.isValidCIDR(cidr));
  if (wrong !== undefined) throw new OperatorError('invalid', `'${wrong}' is no address range like 203.0.113.0/24.`);
}

export function checkScopes(scopes: readonly string[]): Scope[] {
  const unknown = scopes.filter((scope) => !SCOPES.includes(scope as Scope));
  if (unknown.length > 0 || scopes.length === 0) {
    const what = unknown.length > 0 ? `Unknown scopes: ${unknown.join(', ')}.` : 'A key needs at least one scope.';
    throw new OperatorError('invalid', `${what} There are: ${SCOPES.join(', ')}.`);
  }
  return [...new Set(scopes)] as Scope[];
}

export function unknownKey(args: { slug: string; keyId: string }): OperatorError {
  return new OperatorError(
    'not_found',
    `Workspace '${args.slug}' has no live key '${args.keyId}'`,
    `see: parley key list ${args.slug}`,
  );
}
