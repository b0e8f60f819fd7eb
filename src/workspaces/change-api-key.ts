/**
 * Reads and changes what may be changed of an API key: name, scopes, address ranges, end of life; never its text. Used
 * by the settings API and the command line. A key that widens another gives no more than it has itself; to narrow or
 * rename takes nothing.
 */
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';
import {
  type ApiKey,
  auditKey,
  checkCidrs,
  checkScopes,
  type Grantor,
  isValid,
  isWithin,
  KEY_COLUMNS,
  mayGrant,
  mustLieAhead,
  shownInAudit,
  unknownKey,
} from './api-keys.ts';
import { findWorkspace } from './workspaces.ts';

export interface ApiKeyChange {
  name?: string;
  scopes?: readonly string[];
  allowedCidrs?: readonly string[];
  expiresAt?: Date | null;
}

/** Revoked and expired ones too. */
export async function readApiKey(database: Queryable, args: { slug: string; keyId: string }): Promise<ApiKey> {
  const { id } = await findWorkspace(database, args.slug);
  const sql = `SELECT ${KEY_COLUMNS} FROM api_keys WHERE workspace_id = $1 AND key_id = $2`;
  const [key] = await database.query<ApiKey>(sql, [id, args.keyId]);
  if (key === undefined) throw unknownKey(args);
  return key;
}

/** Only what is given, of a live key. Effective on every node within 2 s. */
export async function changeApiKey(
  database: Database,
  args: {
    slug: string;
    keyId: string;
    change: ApiKeyChange;
    by?: ChangedBy;
    grantor?: Grantor | undefined;
    /** Throws when what is there is not what the editor has seen. */
    expect?: ((current: ApiKey) => void) | undefined;
  },
): Promise<ApiKey> {
  const { change, grantor } = args;
  if (change.name?.trim() === '') throw new OperatorError('invalid', 'The key needs a name, to know it by.');
  if (change.allowedCidrs !== undefined) checkCidrs(change.allowedCidrs);
  return database.transaction(async (tx) => {
    if (change.expiresAt) await mustLieAhead(tx, change.expiresAt);
    const { id } = await findWorkspace(tx, args.slug);
    const sql = `SELECT ${KEY_COLUMNS} FROM api_keys WHERE workspace_id = $1 AND key_id = $2 FOR UPDATE`;
    const [before] = await tx.query<ApiKey>(sql, [id, args.keyId]);
    if (before === undefined || !isValid(before)) throw unknownKey(args);
    args.expect?.(before);
    const after = {
      name: change.name ?? before.name,
      scopes: change.scopes === undefined ? before.scopes : checkScopes(change.scopes),
      allowedCidrs: [...(change.allowedCidrs ?? before.allowedCidrs)],
      expiresAt: change.expiresAt === undefined ? before.expiresAt : change.expiresAt,
    };
    if (widens(before, after)) mayGrant(grantor, after);
    if (livesLonger(before, after)) await mustStay(tx, args.keyId);
    const [changed] = await tx.query<ApiKey>(
      `UPDATE api_keys SET name = $2, scopes = $3, allowed_cidrs = $4, expires_at = $5 WHERE key_id = $1 RETURNING ${KEY_COLUMNS}`,
      [args.keyId, after.name, after.scopes, after.allowedCidrs, after.expiresAt],
    );
    const told = { workspaceId: id, by: args.by ?? BY_OPERATOR, action: 'key.changed', keyId: args.keyId };
    await auditKey(tx, { ...told, before: shownInAudit(before), after: shownInAudit(changed!) });
    return changed!;
  });
}

/** A key that another has replaced is not among the five: it ends when the rotation said, or sooner. */
async function mustStay(tx: Queryable, keyId: string): Promise<void> {
  const sql = 'SELECT 1 AS one FROM api_keys WHERE key_id = $1 AND replaced_by IS NOT NULL';
  if ((await tx.query(sql, [keyId])).length === 0) return;
  throw new OperatorError('invalid', 'The key is being rotated out: it can end sooner than it will, not later.');
}

function livesLonger({ expiresAt: before }: Grantor, { expiresAt: after }: Grantor): boolean {
  return before !== null && (after === null || after > before);
}

/** Does a key open more, from more places or for longer than before? */
function widens(before: Grantor, after: Grantor): boolean {
  if (after.scopes.some((scope) => !before.scopes.includes(scope))) return true;
  const isBound =
    before.allowedCidrs.length === 0 ||
    (after.allowedCidrs.length > 0 &&
      after.allowedCidrs.every((inner) => before.allowedCidrs.some((outer) => isWithin(inner, outer))));
  if (!isBound) return true;
  return livesLonger(before, after);
}
