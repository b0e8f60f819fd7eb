/**
 * Views of the call log that people keep: filters under a name, for themselves or for everybody in the workspace. Who
 * is no member any more loses his own; what he shared goes with him. Used by the console's routes.
 */
import { v7 as uuidv7 } from 'uuid';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';

export interface SavedView {
  id: string;
  name: string;
  /** `status=failed&createdAfter=…`, as an address has it. */
  query: string;
  isShared: boolean;
  isMine: boolean;
  /** Who made it. */
  madeBy: string;
}

interface Whose {
  workspaceId: string;
  userId: string;
}

const MOST_VIEWS = 100;
const UNIQUE_VIOLATION = '23505';

const SELECT = `SELECT v.id, v.name, v.query, v.is_shared AS "isShared", v.user_id = $2 AS "isMine", u.name AS "madeBy"
  FROM saved_views v JOIN users u ON u.id = v.user_id
  JOIN memberships m ON m.user_id = v.user_id AND m.workspace_id = v.workspace_id`;

/** One's own, and those that others share; by name. */
export function listViews(database: Queryable, { workspaceId, userId }: Whose): Promise<SavedView[]> {
  return database.query<SavedView>(
    `${SELECT} WHERE v.workspace_id = $1 AND (v.user_id = $2 OR v.is_shared) ORDER BY lower(v.name), v.id`,
    [workspaceId, userId],
  );
}

export async function saveView(
  database: Database,
  view: Whose & Pick<SavedView, 'name' | 'query' | 'isShared'>,
): Promise<SavedView> {
  const { workspaceId, userId, name, query, isShared } = view;
  const id = uuidv7();
  await database.transaction(async (tx) => {
    await tx.query('SELECT 1 FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
    const [known] = await tx.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM saved_views WHERE workspace_id = $1 AND user_id = $2',
      [workspaceId, userId],
    );
    if (known!.count >= MOST_VIEWS) {
      throw new OperatorError('refused', `You have ${MOST_VIEWS} views here: remove one that you do not need.`);
    }
    await told(
      name,
      tx.query(
        'INSERT INTO saved_views (id, workspace_id, user_id, name, query, is_shared) VALUES ($1, $2, $3, $4, $5, $6)',
        [id, workspaceId, userId, name, query, isShared],
      ),
    );
  });
  return (await readView(database, view, id))!;
}

/** Undefined: nobody's view, or one that others made and `mayAll` is false. */
export async function changeView(
  database: Database,
  whose: Whose & { mayAll: boolean },
  id: string,
  change: Partial<Pick<SavedView, 'name' | 'query' | 'isShared'>>,
): Promise<SavedView | undefined> {
  const { workspaceId, userId, mayAll } = whose;
  const { name = null, query = null, isShared = null } = change;
  const changing = database.query<{ one: number }>(
    `UPDATE saved_views SET name = coalesce($5, name), query = coalesce($6, query), is_shared = coalesce($7, is_shared)
     WHERE workspace_id = $1 AND id = $3 AND (user_id = $2 OR ($4 AND is_shared))
     RETURNING 1 AS one`,
    [workspaceId, userId, id, mayAll, name, query, isShared],
  );
  return (await told(name ?? '', changing)).length === 0 ? undefined : readView(database, whose, id);
}

/** False: there is none that one may remove. */
export async function removeView(
  database: Queryable,
  { workspaceId, userId, mayAll }: Whose & { mayAll: boolean },
  id: string,
): Promise<boolean> {
  const gone = await database.query(
    `DELETE FROM saved_views WHERE workspace_id = $1 AND id = $3 AND (user_id = $2 OR ($4 AND is_shared))
     RETURNING 1 AS one`,
    [workspaceId, userId, id, mayAll],
  );
  return gone.length > 0;
}

async function readView(database: Queryable, { workspaceId, userId }: Whose, id: string) {
  const [view] = await database.query<SavedView>(
    `${SELECT} WHERE v.workspace_id = $1 AND v.id = $3 AND (v.user_id = $2 OR v.is_shared)`,
    [workspaceId, userId, id],
  );
  return view;
}

async function told<Result>(name: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
    throw new OperatorError('exists', `You have a view called '${name}' already.`);
  }
}
