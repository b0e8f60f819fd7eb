/**
 * Public widget keys and the origins they are bound to, as the operator handles them (command line, demo) and as the
 * embed session reads them. A key is no secret: it stands in web pages, and what guards it is the list of origins.
 */
import { randomBytes } from 'node:crypto';
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';
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
  database: Database,
  args: { slug: string; name: string; allow: readonly string[]; by?: ChangedBy },
): Promise<WidgetKey> {
  const allowedOrigins = entriesOf(args.allow);
  const name = checkedName(args.name);
  const publicKey = `pk_${randomBytes(ID_BYTES).toString('base64url').replace(/[-_]/g, '0')}`;
  return database.transaction(async (tx) => {
    const { id } = await findWorkspace(tx, args.slug);
    const [row] = await tx.query<WidgetKey>(
      `INSERT INTO widget_keys AS k (public_key, workspace_id, name, allowed_origins) VALUES ($1, $2, $3, $4) RETURNING ${COLUMNS}`,
      [publicKey, id, name, allowedOrigins],
    );
    await audit(tx, id, args.by, 'widget_key.created', publicKey, null, row!);
    return row!;
  });
}

export async function listWidgetKeys(database: Queryable, args: { slug: string }): Promise<WidgetKey[]> {
  const { id } = await findWorkspace(database, args.slug);
  return database.query<WidgetKey>(
    `SELECT ${COLUMNS} FROM widget_keys k WHERE workspace_id = $1 ORDER BY created_at, public_key`,
    [id],
  );
}

/** Which key; `slug`: only of this workspace. The operator's commands name the key alone. */
export interface WidgetKeyNamed {
  publicKey: string;
  slug?: string;
  by?: ChangedBy;
  /** Throws when what is there is not what the editor has seen. */
  expect?: ((current: WidgetKey) => void) | undefined;
}

export async function readWidgetKey(
  database: Queryable,
  args: { publicKey: string; slug: string },
): Promise<WidgetKey> {
  const key = (await listWidgetKeys(database, args)).find(({ publicKey }) => publicKey === args.publicKey);
  if (key === undefined) throw unknownKey(args.publicKey);
  return key;
}

/** Changes what is given; the list of origins, as typed, is replaced whole. */
export async function changeWidgetKey(
  database: Database,
  args: WidgetKeyNamed & { change: { name?: string; enabled?: boolean; allow?: readonly string[] } },
): Promise<WidgetKey> {
  const { name, enabled, allow } = args.change;
  const after = {
    name: name === undefined ? null : checkedName(name),
    allow: allow === undefined ? null : entriesOf(allow),
  };
  return change(database, args, 'widget_key.changed', (tx) =>
    tx.query<WidgetKey>(
      `UPDATE widget_keys k SET name = coalesce($2, name), enabled = coalesce($3, enabled),
         allowed_origins = coalesce($4::text[], allowed_origins)
       WHERE public_key = $1 AND revoked_at IS NULL RETURNING ${COLUMNS}`,
      [args.publicKey, after.name, enabled ?? null, after.allow],
    ),
  );
}

/** Adds and takes away origins; both as typed. */
export async function changeOrigins(
  database: Database,
  args: WidgetKeyNamed & { allow: readonly string[]; deny: readonly string[] },
): Promise<WidgetKey> {
  const [allow, deny] = [entriesOf(args.allow), entriesOf(args.deny)];
  return change(database, args, 'widget_key.changed', (tx) =>
    tx.query<WidgetKey>(
      `UPDATE widget_keys k SET allowed_origins = ARRAY(
          SELECT DISTINCT one FROM unnest(k.allowed_origins || $2::text[]) AS one WHERE NOT (one = ANY ($3::text[])) ORDER BY one)
        WHERE public_key = $1 RETURNING ${COLUMNS}`,
      [args.publicKey, allow, deny],
    ),
  );
}

export function setWidgetKeyEnabled(
  database: Database,
  args: WidgetKeyNamed & { enabled: boolean },
): Promise<WidgetKey> {
  return changeWidgetKey(database, { ...args, change: { enabled: args.enabled } });
}

/** For good. Sessions that run go on; new ones and their tokens are refused at once. */
export function revokeWidgetKey(database: Database, args: WidgetKeyNamed): Promise<WidgetKey> {
  return change(database, args, 'widget_key.revoked', (tx) =>
    tx.query<WidgetKey>(
      `UPDATE widget_keys k SET revoked_at = coalesce(revoked_at, now()) WHERE public_key = $1 RETURNING ${COLUMNS}`,
      [args.publicKey],
    ),
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

/** Holds the row from reading to writing, so that the audit's `before` is what the change replaces. */
async function change(
  database: Database,
  args: WidgetKeyNamed,
  action: string,
  work: (tx: Queryable) => Promise<WidgetKey[]>,
): Promise<WidgetKey> {
  return database.transaction(async (tx) => {
    const [held] = await tx.query<WidgetKey & { workspaceId: string }>(
      `SELECT ${COLUMNS}, k.workspace_id AS "workspaceId" FROM widget_keys k JOIN workspaces w ON w.id = k.workspace_id
       WHERE k.public_key = $1 AND ($2::text IS NULL OR w.slug = $2) FOR UPDATE OF k`,
      [args.publicKey, args.slug ?? null],
    );
    if (held === undefined) throw unknownKey(args.publicKey);
    const { workspaceId, ...before } = held;
    args.expect?.(before);
    const [after] = await work(tx);
    if (after === undefined) throw unknownKey(args.publicKey);
    await audit(tx, workspaceId, args.by, action, args.publicKey, before, after);
    return after;
  });
}

function audit(
  tx: Queryable,
  workspaceId: string,
  by: ChangedBy = BY_OPERATOR,
  action: string,
  publicKey: string,
  before: WidgetKey | null,
  after: WidgetKey,
): Promise<void> {
  const target = `widget_key:${publicKey}`;
  return recordAudit(tx, { workspaceId, by, action, target, before: before && shown(before), after: shown(after) });
}

const shown = ({ name, allowedOrigins, enabled, revokedAt }: WidgetKey): object => ({
  name,
  allowedOrigins,
  enabled,
  revokedAt,
});

function unknownKey(publicKey: string): OperatorError {
  return new OperatorError(
    'not_found',
    `There is no widget key '${publicKey}', or it is revoked`,
    'see: parley widget list <slug>',
  );
}

function checkedName(name: string): string {
  if (name.trim() === '' || name.length > 120)
    throw new OperatorError('invalid', 'The name must have 1 to 120 characters.');
  return name;
}

function entriesOf(typed: readonly string[]): string[] {
  const entries = typed.map((one) => {
    const read = readAllowEntry(one);
    if (!read.ok) throw new OperatorError('invalid', `${read.why}.`);
    return read.entry;
  });
  return [...new Set(entries)].toSorted();
}
