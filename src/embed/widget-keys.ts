/**
 * Public widget keys and the origins they are bound to, as the operator handles them (command line, demo) and as the embed
 * session reads them. A key is no secret: it stands in web pages, and what guards it is the list of origins.
 */
import { randomBytes } from 'node:crypto';
import type { Queryable } from '../store/database.ts';
import { OperatorError } from '../workspaces/operator-error.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { readAllowEntry } from './origin.ts';

export interface WidgetKey {
  publicKey: string;
  name: string;
  allowedOrigins: string[];
  enabled: boolean;
  revokedAt: Date | null;
  createdAt: Date;
}

/** A key in use, with what a session needs of its workspace. */
export interface ActiveWidgetKey {
  publicKey: string;
  workspaceId: string;
  enterprise: string;
  allowedOrigins: string[];
}

const ID_BYTES = 18;
const COLUMNS = `k.public_key AS "publicKey", k.name, k.allowed_origins AS "allowedOrigins", k.enabled,
  k.revoked_at AS "revokedAt", k.created_at AS "createdAt"`;

/** `allow`: origins as typed; throws an `OperatorError` at the first that is none. */
export async function createWidgetKey(
  database: Queryable,
  args: { slug: string; name: string; allow: readonly string[] },
): Promise<WidgetKey> {
  const { id } = await findWorkspace(database, args.slug);
  const publicKey = `pk_${randomBytes(ID_BYTES).toString('base64url').replace(/[-_]/g, '0')}`;
  const [row] = await database.query<WidgetKey>(
    `INSERT INTO widget_keys AS k (public_key, workspace_id, name, allowed_origins) VALUES ($1, $2, $3, $4) RETURNING ${COLUMNS}`,
    [publicKey, id, args.name, entriesOf(args.allow)],
  );
  return row!;
}

export async function listWidgetKeys(database: Queryable, args: { slug: string }): Promise<WidgetKey[]> {
  const { id } = await findWorkspace(database, args.slug);
  return database.query<WidgetKey>(
    `SELECT ${COLUMNS} FROM widget_keys k WHERE workspace_id = $1 ORDER BY created_at, public_key`,
    [id],
  );
}

/** Adds and takes away origins; both as typed. */
export async function changeOrigins(
  database: Queryable,
  args: { publicKey: string; allow: readonly string[]; deny: readonly string[] },
): Promise<WidgetKey> {
  return changed(
    await database.query<WidgetKey>(
      `UPDATE widget_keys k SET allowed_origins = ARRAY(
          SELECT DISTINCT one FROM unnest(k.allowed_origins || $2::text[]) AS one WHERE NOT (one = ANY ($3::text[])) ORDER BY one)
        WHERE public_key = $1 RETURNING ${COLUMNS}`,
      [args.publicKey, entriesOf(args.allow), entriesOf(args.deny)],
    ),
    args.publicKey,
  );
}

export async function setWidgetKeyEnabled(
  database: Queryable,
  args: { publicKey: string; enabled: boolean },
): Promise<WidgetKey> {
  return changed(
    await database.query<WidgetKey>(
      `UPDATE widget_keys k SET enabled = $2 WHERE public_key = $1 AND revoked_at IS NULL RETURNING ${COLUMNS}`,
      [args.publicKey, args.enabled],
    ),
    args.publicKey,
  );
}

/** For good. Sessions that run go on; new ones and their tokens are refused at once. */
export async function revokeWidgetKey(database: Queryable, args: { publicKey: string }): Promise<WidgetKey> {
  return changed(
    await database.query<WidgetKey>(
      `UPDATE widget_keys k SET revoked_at = coalesce(revoked_at, now()) WHERE public_key = $1 RETURNING ${COLUMNS}`,
      [args.publicKey],
    ),
    args.publicKey,
  );
}

/** Undefined: unknown, switched off or revoked, which nobody outside may tell apart. */
export async function findActiveWidgetKey(
  database: Queryable,
  publicKey: string,
): Promise<ActiveWidgetKey | undefined> {
  const rows = await database.query<ActiveWidgetKey>(
    `SELECT k.public_key AS "publicKey", k.workspace_id AS "workspaceId", w.slug AS enterprise, k.allowed_origins AS "allowedOrigins"
       FROM widget_keys k JOIN workspaces w ON w.id = k.workspace_id
      WHERE k.public_key = $1 AND k.enabled AND k.revoked_at IS NULL`,
    [publicKey],
  );
  return rows[0];
}

function changed(rows: readonly WidgetKey[], publicKey: string): WidgetKey {
  const [row] = rows;
  if (row === undefined) {
    throw new OperatorError(
      'not_found',
      `There is no widget key '${publicKey}', or it is revoked; see: parley widget list <slug>`,
    );
  }
  return row;
}

function entriesOf(typed: readonly string[]): string[] {
  const entries = typed.map((one) => {
    const read = readAllowEntry(one);
    if (!read.ok) throw new OperatorError('invalid', `${read.why}.`);
    return read.entry;
  });
  return [...new Set(entries)].toSorted();
}
