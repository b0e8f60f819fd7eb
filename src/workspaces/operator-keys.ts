/**
 * Keys of the service's operator: they create workspaces and switch their API access, and open nothing that is a
 * workspace's own. Made by the command line alone, so that no key of the API can make a stronger one. Stored and shown
 * like API keys.
 */
import { timingSafeEqual } from 'node:crypto';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';
import { makeApiKey, parseApiKey, sha256Of } from './api-key-format.ts';

export interface OperatorKey {
  keyId: string;
  name: string;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  createdAt: Date;
}

const COLUMNS = `key_id AS "keyId", name, revoked_at AS "revokedAt", last_used_at AS "lastUsedAt", created_at AS "createdAt"`;
const UNKNOWN_SECRET = Buffer.alloc(32);

/** `text` is the key itself, returned this once. */
export async function createOperatorKey(
  database: Database,
  args: { name: string; by: ChangedBy },
): Promise<OperatorKey & { text: string }> {
  if (args.name.trim() === '') throw new OperatorError('invalid', 'The key needs a name, to know it by.');
  const made = makeApiKey(undefined, 'oper');
  return database.transaction(async (tx) => {
    const [row] = await tx.query<OperatorKey>(
      `INSERT INTO operator_keys (key_id, name, secret_sha256) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`,
      [made.keyId, args.name, sha256Of(made.secret)],
    );
    await audit(tx, args.by, 'operator_key.created', row!);
    return { ...row!, text: made.text };
  });
}

export function listOperatorKeys(database: Queryable): Promise<OperatorKey[]> {
  return database.query<OperatorKey>(`SELECT ${COLUMNS} FROM operator_keys ORDER BY created_at`);
}

/** Effective at once: no node keeps them. Revoking twice is fine. */
export async function revokeOperatorKey(
  database: Database,
  args: { keyId: string; by: ChangedBy },
): Promise<OperatorKey> {
  return database.transaction(async (tx) => {
    const [row] = await tx.query<OperatorKey>(
      `UPDATE operator_keys SET revoked_at = coalesce(revoked_at, now()) WHERE key_id = $1 RETURNING ${COLUMNS}`,
      [args.keyId],
    );
    if (row === undefined) {
      throw new OperatorError('not_found', `There is no operator key '${args.keyId}'`, 'see: parley operator list');
    }
    await audit(tx, args.by, 'operator_key.revoked', row);
    return row;
  });
}

/** SHA-256 of the secret by key id, of those that may come; the ones used last, if there are very many. */
export async function operatorKeyHashes(database: Queryable, most: number): Promise<Map<string, Buffer>> {
  const rows = await database.query<{ keyId: string; secret: Buffer }>(
    `SELECT key_id AS "keyId", secret_sha256 AS secret FROM operator_keys WHERE revoked_at IS NULL
     ORDER BY last_used_at DESC NULLS LAST LIMIT $1`,
    [most],
  );
  return new Map(rows.map(({ keyId, secret }) => [keyId, secret]));
}

/** The id of the key whose text this is; null when there is none, or it is revoked. */
export async function findOperatorKey(database: Queryable, text: string): Promise<string | null> {
  const parts = parseApiKey(text, 'oper');
  if (parts === null) return null;
  const [row] = await database.query<{ secret: Buffer }>(
    'SELECT secret_sha256 AS secret FROM operator_keys WHERE key_id = $1 AND revoked_at IS NULL',
    [parts.keyId],
  );
  if (!timingSafeEqual(row?.secret ?? UNKNOWN_SECRET, sha256Of(parts.secret))) return null;
  await database.query('UPDATE operator_keys SET last_used_at = now() WHERE key_id = $1', [parts.keyId]);
  return parts.keyId;
}

function audit(tx: Queryable, by: ChangedBy, action: string, { keyId, name, revokedAt }: OperatorKey): Promise<void> {
  return recordAudit(tx, {
    workspaceId: null,
    by,
    action,
    target: `operator_key:${keyId}`,
    after: { name, revokedAt },
  });
}
