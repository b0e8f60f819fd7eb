/**
 * The numbers that a workspace must not dial (contract §15). Filled by clients, by the operator and by calls in which
 * somebody asked not to be called again; read by `dial-permit.ts` in the transaction that makes a call. Each change
 * raises the list's version, which every permit names.
 */
import { v7 as uuidv7 } from 'uuid';
import type { Queryable } from '../store/database.ts';

export interface Suppression {
  phone: string;
  reason: string | null;
  source: 'api' | 'operator' | 'call';
  /** The call in which it was asked for. */
  callUuid: string | null;
  createdAt: Date;
}

export interface ListedSuppression extends Suppression {
  /** For paging: newest have the greatest. */
  id: string;
}

const COLUMNS = `id, phone, reason, source, call_uuid AS "callUuid", created_at AS "createdAt"`;

/**
 * Numbers that are there already stay as they are. Returns the ids of those that are new. In a
 * transaction, or with one number.
 */
export async function suppress(
  tx: Queryable,
  workspaceId: string,
  numbers: readonly string[],
  entry: Pick<Suppression, 'reason' | 'source' | 'callUuid'>,
): Promise<string[]> {
  const unique = [...new Set(numbers)];
  const rows = await tx.query<{ id: string }>(
    `WITH added AS (
       INSERT INTO suppressions (workspace_id, phone, id, reason, source, call_uuid, created_at)
       SELECT $1, g.phone, g.id, $4, $5, $6, clock_timestamp() FROM unnest($2::text[], $3::uuid[]) AS g (phone, id)
       ON CONFLICT (workspace_id, phone) DO NOTHING RETURNING id
     ), raised AS (${raise('added')})
     SELECT id FROM added`,
    [workspaceId, unique, unique.map(() => uuidv7()), entry.reason, entry.source, entry.callUuid],
  );
  return rows.map(({ id }) => id);
}

/** Returns the ids of those that were there. */
export async function unsuppress(tx: Queryable, workspaceId: string, numbers: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `WITH gone AS (
       DELETE FROM suppressions WHERE workspace_id = $1 AND phone = ANY($2::text[]) RETURNING id
     ), raised AS (${raise('gone')})
     SELECT id FROM gone`,
    [workspaceId, [...numbers]],
  );
  return rows.map(({ id }) => id);
}

function raise(changed: string): string {
  return `INSERT INTO calling_policies AS p (workspace_id, suppression_version)
          SELECT $1, 1 WHERE EXISTS (SELECT 1 FROM ${changed})
          ON CONFLICT (workspace_id) DO UPDATE SET suppression_version = p.suppression_version + 1`;
}

/** At most `limit`, newest first; `before` is the id of the last one of the page before. */
export function listSuppressions(
  database: Queryable,
  workspaceId: string,
  page: { phone?: readonly string[] | undefined; before: string | null; limit: number },
): Promise<ListedSuppression[]> {
  return database.query<ListedSuppression>(
    `SELECT ${COLUMNS} FROM suppressions
     WHERE workspace_id = $1 AND ($2::text[] IS NULL OR phone = ANY ($2)) AND ($3::uuid IS NULL OR id < $3)
     ORDER BY id DESC LIMIT $4`,
    [workspaceId, page.phone ?? null, page.before, page.limit],
  );
}

export async function suppressionVersion(database: Queryable, workspaceId: string): Promise<number> {
  const [row] = await database.query<{ version: string }>(
    'SELECT suppression_version::text AS version FROM calling_policies WHERE workspace_id = $1',
    [workspaceId],
  );
  return Number(row?.version ?? 0);
}
