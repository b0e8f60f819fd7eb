/**
 * Workspaces as the operator handles them: create, list, switch the API on, set limits. Used by
 * the command line and the demo.
 */
import { v7 as uuidv7 } from 'uuid';
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { KEPT_FOR_PHONE } from '../limits/phone-share.ts';
import type { Database, Queryable } from '../store/database.ts';

export interface Workspace {
  id: string;
  slug: string;
  name: string;
  apiEnabled: boolean;
  limits: WorkspaceLimits;
  caps: LimitCaps;
  createdAt: Date;
}

/** The most that a workspace may set its own limits to. */
export type LimitCaps = Omit<WorkspaceLimits, 'reservedPhoneCalls'>;

export interface WorkspaceLimits {
  concurrentCalls: number;
  callsPerSecond: number;
  apiRequestsPerSecond: number;
  apiBurst: number;
  /** Browser sessions at once; they count as calls too. */
  webSessions: number;
  /** Of `concurrentCalls`, so many are never given to browser sessions. */
  reservedPhoneCalls: number;
}

/**
 * What is given; `reservedPhoneCalls` null: half of `concurrentCalls`, rounded up (of one
 * none), until somebody says otherwise.
 */
export type LimitChange = Partial<LimitCaps> & { reservedPhoneCalls?: number | null };

const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;
const COLUMNS = `id, slug, name, api_enabled, max_concurrent_calls, max_calls_per_second, api_requests_per_second,
  api_burst, max_web_sessions, ${KEPT_FOR_PHONE} AS kept_for_phone, limit_caps, created_at`;

interface Row {
  id: string;
  slug: string;
  name: string;
  api_enabled: boolean;
  max_concurrent_calls: number;
  max_calls_per_second: number;
  api_requests_per_second: number;
  api_burst: number;
  max_web_sessions: number;
  kept_for_phone: number;
  limit_caps: LimitCaps;
  created_at: Date;
}

const toWorkspace = (row: Row): Workspace => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  apiEnabled: row.api_enabled,
  limits: {
    concurrentCalls: row.max_concurrent_calls,
    callsPerSecond: row.max_calls_per_second,
    apiRequestsPerSecond: row.api_requests_per_second,
    apiBurst: row.api_burst,
    webSessions: row.max_web_sessions,
    reservedPhoneCalls: row.kept_for_phone,
  },
  caps: row.limit_caps,
  createdAt: row.created_at,
});

/** The API is off until `setApiEnabled`, as the specification has it. */
export async function createWorkspace(
  database: Database,
  args: { slug: string; name: string; by?: ChangedBy },
): Promise<Workspace> {
  if (!SLUG.test(args.slug)) {
    throw new OperatorError(
      'invalid',
      `'${args.slug}' is no workspace name: use 1 to 63 small letters, digits and '-', not beginning with '-'.`,
    );
  }
  if (args.name.trim() === '') throw new OperatorError('invalid', 'The name must not be empty.');
  return database.transaction(async (tx) => {
    const [row] = await tx.query<Row>(
      `INSERT INTO workspaces (id, slug, name) VALUES ($1, $2, $3) ON CONFLICT (slug) DO NOTHING RETURNING ${COLUMNS}`,
      [uuidv7(), args.slug, args.name],
    );
    if (row === undefined)
      throw new OperatorError('exists', `There already is a workspace '${args.slug}'; choose another.`);
    const { slug, name } = args;
    await audit(tx, row.id, args.by, 'workspace.created', null, { slug, name });
    return toWorkspace(row);
  });
}

/** What people call it; the short name in requests stays. */
export async function renameWorkspace(
  database: Database,
  args: { slug: string; name: string; by?: ChangedBy },
): Promise<Workspace> {
  if (args.name.trim() === '') throw new OperatorError('invalid', 'The name must not be empty.');
  return database.transaction(async (tx) => {
    const { id, name } = await lockedWorkspace(tx, args.slug);
    const sql = `UPDATE workspaces SET name = $2 WHERE id = $1 RETURNING ${COLUMNS}`;
    const [row] = await tx.query<Row>(sql, [id, args.name]);
    await audit(tx, id, args.by, 'workspace.renamed', { name }, { name: args.name });
    return toWorkspace(row!);
  });
}

export async function listWorkspaces(database: Queryable): Promise<Workspace[]> {
  return (await database.query<Row>(`SELECT ${COLUMNS} FROM workspaces ORDER BY slug`)).map(toWorkspace);
}

/** Throws `not_found`, naming the workspaces that there are. */
export async function findWorkspace(database: Queryable, slug: string): Promise<Workspace> {
  const [row] = await database.query<Row>(`SELECT ${COLUMNS} FROM workspaces WHERE slug = $1`, [slug]);
  if (row !== undefined) return toWorkspace(row);
  const known = (await listWorkspaces(database)).map((workspace) => workspace.slug);
  throw known.length === 0
    ? new OperatorError(
        'not_found',
        `There is no workspace '${slug}', nor any other`,
        `make it with: parley workspace create ${slug} --name NAME`,
      )
    : new OperatorError('not_found', `There is no workspace '${slug}'; there are: ${known.join(', ')}.`);
}

/**
 * The operator's switch (contract §7): while it is off, keys give 401 and none can be made. Takes effect within 2 s.
 */
export async function setApiEnabled(
  database: Database,
  args: { slug: string; enabled: boolean; by?: ChangedBy },
): Promise<Workspace> {
  return database.transaction(async (tx) => {
    const { id, apiEnabled } = await lockedWorkspace(tx, args.slug);
    const [row] = await tx.query<Row>(`UPDATE workspaces SET api_enabled = $2 WHERE id = $1 RETURNING ${COLUMNS}`, [
      id,
      args.enabled,
    ]);
    const action = args.enabled ? 'workspace.api_enabled' : 'workspace.api_disabled';
    await audit(tx, id, args.by, action, { apiEnabled }, { apiEnabled: args.enabled });
    return toWorkspace(row!);
  });
}

/**
 * Changes what is given; 0 is a limit too, and lets nothing through. Nothing given: shows what there is. The operator's
 * change is also the cap of what the workspace may set by itself; with `withinCaps` it is the workspace that asks.
 */
export async function setWorkspaceLimits(
  database: Database,
  args: {
    slug: string;
    limits: LimitChange;
    withinCaps?: boolean;
    by?: ChangedBy;
    expect?: ((current: Workspace) => void) | undefined;
  },
): Promise<Workspace> {
  for (const [name, value] of Object.entries(args.limits)) checkLimit(name, value);
  if (Object.keys(args.limits).length === 0) return findWorkspace(database, args.slug);
  return database.transaction(async (tx) => {
    const before = await lockedWorkspace(tx, args.slug);
    args.expect?.(before);
    const { reservedPhoneCalls, ...capped } = args.limits;
    if (args.withinCaps === true) mustBeWithin(before.caps, capped);
    const limits = { ...before.limits, ...capped };
    const caps = args.withinCaps === true ? before.caps : { ...before.caps, ...capped };
    const [row] = await tx.query<Row>(
      `UPDATE workspaces SET max_concurrent_calls = $2, max_calls_per_second = $3, api_requests_per_second = $4,
         api_burst = $5, max_web_sessions = $6, limit_caps = $7::jsonb,
         phone_calls_kept = CASE WHEN $8 THEN $9::integer ELSE phone_calls_kept END
       WHERE id = $1 RETURNING ${COLUMNS}`,
      [
        before.id,
        limits.concurrentCalls,
        limits.callsPerSecond,
        limits.apiRequestsPerSecond,
        limits.apiBurst,
        limits.webSessions,
        JSON.stringify(caps),
        reservedPhoneCalls !== undefined,
        reservedPhoneCalls ?? null,
      ],
    );
    const after = toWorkspace(row!);
    await audit(tx, before.id, args.by, 'workspace.limits_changed', before.limits, after.limits);
    return after;
  });
}

/** `before` of an audit row must be what the change replaces, so the row is held from reading to writing. */
async function lockedWorkspace(tx: Queryable, slug: string): Promise<Workspace> {
  const { id } = await findWorkspace(tx, slug);
  const [row] = await tx.query<Row>(`SELECT ${COLUMNS} FROM workspaces WHERE id = $1 FOR UPDATE`, [id]);
  return toWorkspace(row!);
}

function audit(
  tx: Queryable,
  workspaceId: string,
  by: ChangedBy = BY_OPERATOR,
  action: string,
  before: unknown,
  after: unknown,
): Promise<void> {
  return recordAudit(tx, { workspaceId, by, action, target: `workspace:${workspaceId}`, before, after });
}

export async function readCaps(tx: Queryable, workspaceId: string): Promise<LimitCaps> {
  const [row] = await tx.query<{ caps: LimitCaps }>('SELECT limit_caps AS caps FROM workspaces WHERE id = $1', [
    workspaceId,
  ]);
  return row!.caps;
}

/** Throws `refused`, naming the first limit that is above what the operator allows. */
export function mustBeWithin(caps: LimitCaps, limits: Partial<LimitCaps>): void {
  for (const [name, value] of Object.entries(limits)) {
    const most = caps[name as keyof LimitCaps];
    if (value > most) {
      throw new OperatorError('refused', `${name} may be at most ${most}; the operator of the service can allow more.`);
    }
  }
}

export function checkLimit(name: string, value: number | null | undefined): void {
  if (value == null || (Number.isSafeInteger(value) && value >= 0 && value <= 1_000_000)) return;
  throw new OperatorError('invalid', `${name} must be a whole number from 0 to 1000000.`);
}
