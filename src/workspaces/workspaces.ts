/** Workspaces as the operator handles them: create, list, switch the API on, set limits. Used by the command line and the demo. */
import { v7 as uuidv7 } from 'uuid';
import type { Queryable } from '../store/database.ts';
import { OperatorError } from './operator-error.ts';

export interface Workspace {
  id: string;
  slug: string;
  name: string;
  apiEnabled: boolean;
  limits: WorkspaceLimits;
  createdAt: Date;
}

export interface WorkspaceLimits {
  concurrentCalls: number;
  callsPerSecond: number;
  apiRequestsPerSecond: number;
  apiBurst: number;
}

const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;
const COLUMNS = `id, slug, name, api_enabled, max_concurrent_calls, max_calls_per_second, api_requests_per_second,
  api_burst, created_at`;

interface Row {
  id: string;
  slug: string;
  name: string;
  api_enabled: boolean;
  max_concurrent_calls: number;
  max_calls_per_second: number;
  api_requests_per_second: number;
  api_burst: number;
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
  },
  createdAt: row.created_at,
});

/** The API is off until `setApiEnabled`, as the specification has it. */
export async function createWorkspace(database: Queryable, args: { slug: string; name: string }): Promise<Workspace> {
  if (!SLUG.test(args.slug)) {
    throw new OperatorError(
      'invalid',
      `'${args.slug}' is no workspace name: use 1 to 63 small letters, digits and '-', not beginning with '-'.`,
    );
  }
  if (args.name.trim() === '') throw new OperatorError('invalid', 'The name must not be empty.');
  const [row] = await database.query<Row>(
    `INSERT INTO workspaces (id, slug, name) VALUES ($1, $2, $3) ON CONFLICT (slug) DO NOTHING RETURNING ${COLUMNS}`,
    [uuidv7(), args.slug, args.name],
  );
  if (row === undefined)
    throw new OperatorError('exists', `There already is a workspace '${args.slug}'; choose another.`);
  return toWorkspace(row);
}

export async function listWorkspaces(database: Queryable): Promise<Workspace[]> {
  return (await database.query<Row>(`SELECT ${COLUMNS} FROM workspaces ORDER BY slug`)).map(toWorkspace);
}

/** Throws `not_found`, naming the workspaces that there are. */
export async function findWorkspace(database: Queryable, slug: string): Promise<Workspace> {
  const [row] = await database.query<Row>(`SELECT ${COLUMNS} FROM workspaces WHERE slug = $1`, [slug]);
  if (row !== undefined) return toWorkspace(row);
  const known = (await listWorkspaces(database)).map((workspace) => workspace.slug);
  throw new OperatorError(
    'not_found',
    known.length === 0
      ? `There is no workspace '${slug}', nor any other; make it with: parley workspace create ${slug} --name NAME`
      : `There is no workspace '${slug}'; there are: ${known.join(', ')}.`,
  );
}

/** The operator's switch (contract §7): while it is off, keys give 401 and none can be made. Takes effect within 2 s. */
export async function setApiEnabled(database: Queryable, args: { slug: string; enabled: boolean }): Promise<Workspace> {
  const { id } = await findWorkspace(database, args.slug);
  const [row] = await database.query<Row>(`UPDATE workspaces SET api_enabled = $2 WHERE id = $1 RETURNING ${COLUMNS}`, [
    id,
    args.enabled,
  ]);
  return toWorkspace(row!);
}

/** Changes what is given; 0 is a limit too, and lets nothing through. */
export async function setWorkspaceLimits(
  database: Queryable,
  args: { slug: string; limits: Partial<WorkspaceLimits> },
): Promise<Workspace> {
  const { id } = await findWorkspace(database, args.slug);
  for (const [name, value] of Object.entries(args.limits)) checkLimit(name, value);
  const { concurrentCalls, callsPerSecond, apiRequestsPerSecond, apiBurst } = args.limits;
  const [row] = await database.query<Row>(
    `UPDATE workspaces SET max_concurrent_calls = coalesce($2, max_concurrent_calls),
       max_calls_per_second = coalesce($3, max_calls_per_second),
       api_requests_per_second = coalesce($4, api_requests_per_second), api_burst = coalesce($5, api_burst)
     WHERE id = $1 RETURNING ${COLUMNS}`,
    [id, concurrentCalls ?? null, callsPerSecond ?? null, apiRequestsPerSecond ?? null, apiBurst ?? null],
  );
  return toWorkspace(row!);
}

export function checkLimit(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 0 && value <= 1_000_000)) return;
  throw new OperatorError('invalid', `${name} must be a whole number from 0 to 1000000.`);
}
