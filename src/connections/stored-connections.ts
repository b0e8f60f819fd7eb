/**
 * Connections of a workspace to providers: made, changed, removed, shown. A change makes a new version, which calls use
 * that begin from then on; those that run keep theirs. Credentials are stored sealed and never shown. Called by the
 * command line, the settings API, and the analysis for its own.
 */
import type { ConnectionLimits } from '../../media/contract/grant.ts';
import { PROVIDERS } from '../../media/contract/providers.ts';
import type { AddressCheck } from '../../media/net/target-check.ts';
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Sealer } from '../sealing/sealer.ts';
import { inBatches } from '../store/batches.ts';
import type { Database, Queryable } from '../store/database.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import {
  checkBaseUrl,
  checkCredentials,
  checkLimits,
  checkName,
  checkProvider,
  checkSettings,
} from './connection-check.ts';
import {
  type Connection,
  type ConnectionRow,
  insertVersion,
  listNewest,
  openCredentials,
  readNewest,
  readVersions,
  replaceNewest,
} from './connection-rows.ts';
import { type ConnectionUses, usesOf } from './connection-uses.ts';

/** Which connection, of which workspace. */
export interface ConnectionNamed {
  slug: string;
  name: string;
}

/** Throws when what is there is not what the editor has seen. */
type Expect = ((current: Connection) => void) | undefined;

export interface ConnectionChange {
  baseUrl?: string;
  /** All of them; null: none any more. Absent: those that there are, if the address keeps its host. */
  credentials?: Record<string, string> | null;
  /** Those that are given; null takes one away. */
  limits?: { [Name in keyof ConnectionLimits]?: number | null | undefined };
  settings?: Record<string, string | boolean | null>;
}

export const MOST_CONNECTIONS = 50;
const PURGE_BATCH = 1_000;

export async function addConnection(
  database: Database,
  sealer: Pick<Sealer, 'seal'>,
  args: ConnectionNamed & ConnectionChange & { provider: string; by?: ChangedBy; check?: AddressCheck },
): Promise<Connection> {
  checkName(args.name);
  const provider = checkProvider(args.provider);
  const credentials = args.credentials ?? {};
  checkCredentials(provider, credentials);
  checkLimits(provider, args.limits ?? {});
  const settings = merged({}, args.settings);
  checkSettings(provider, settings);
  const baseUrl = await checkBaseUrl(args.baseUrl ?? PROVIDERS[provider].defaultBaseUrl, args.check);
  return database.transaction(async (tx) => {
    const workspaceId = await lockedWorkspace(tx, args.slug);
    const known = await listNewest(tx, workspaceId);
    if (known.some(({ name }) => name === args.name)) {
      throw new OperatorError(
        'exists',
        `There already is a connection '${args.name}'; change it, or choose another name.`,
      );
    }
    if (known.length >= MOST_CONNECTIONS) {
      throw new OperatorError('refused', `'${args.slug}' has ${MOST_CONNECTIONS} connections; remove one first.`);
    }
    const added = await insertVersion(tx, sealer, {
      workspaceId,
      name: args.name,
      provider,
      baseUrl,
      credentials: isEmpty(credentials) ? null : credentials,
      limits: merged({}, args.limits) as ConnectionLimits,
      settings,
    });
    await audit(tx, { workspaceId, by: args.by, action: 'connection.created', before: null, after: added });
    return added;
  });
}

/** Makes the next version. What is stored is not sent to another host: a new one wants its credentials anew. */
export async function changeConnection(
  database: Database,
  sealer: Pick<Sealer, 'seal' | 'open'>,
  args: ConnectionNamed & ConnectionChange & { by?: ChangedBy; check?: AddressCheck; expect?: Expect },
): Promise<Connection> {
  const baseUrl = args.baseUrl === undefined ? undefined : await checkBaseUrl(args.baseUrl, args.check);
  return database.transaction(async (tx) => {
    const workspaceId = await lockedWorkspace(tx, args.slug);
    const before = (await readNewest(tx, workspaceId, [args.name])).get(args.name);
    if (before === undefined) throw unknownConnection(args);
    args.expect?.(shownOf(before));
    const { provider } = before;
    const credentials = args.credentials === undefined ? opened(sealer, before) : (args.credentials ?? {});
    checkCredentials(provider, credentials);
    if (args.credentials === undefined && !isEmpty(credentials) && !isSameOrigin(baseUrl, before.baseUrl)) {
      throw new OperatorError(
        'invalid',
        '`credentials` are missing: what is stored is for another host and is not sent to this one; give them again.',
      );
    }
    checkLimits(provider, args.limits ?? {});
    const settings = merged(before.settings, args.settings);
    checkSettings(provider, settings);
    await replaceNewest(tx, workspaceId, args.name);
    const after = await insertVersion(tx, sealer, {
      workspaceId,
      name: args.name,
      provider,
      baseUrl: baseUrl ?? before.baseUrl,
      credentials: isEmpty(credentials) ? null : credentials,
      limits: merged({ ...before.limits }, args.limits) as ConnectionLimits,
      settings,
    });
    const action = args.credentials === undefined ? 'connection.changed' : 'connection.credentials_changed';
    await audit(tx, { workspaceId, by: args.by, action, before, after });
    return after;
  });
}

/**
 * New calls cannot use it; calls that run go on. Refused while an agent or the analysis names it, unless `force`: then
 * calls of those agents do without, and a local heuristic reads the calls. Its credentials are gone at once, or a day
 * later where a live call has them.
 */
export async function removeConnection(
  database: Database,
  args: ConnectionNamed & { force?: boolean; by?: ChangedBy; expect?: Expect },
): Promise<Connection> {
  return database.transaction(async (tx) => {
    const workspaceId = await lockedWorkspace(tx, args.slug);
    const connection = (await readNewest(tx, workspaceId, [args.name])).get(args.name);
    if (connection === undefined) throw unknownConnection(args);
    args.expect?.(shownOf(connection));
    const uses = await usesOf(tx, workspaceId, args.name);
    if (args.force !== true) mustBeUnused(args.name, uses);
    if (uses.readsCalls) {
      await tx.query('DELETE FROM analysis_models WHERE workspace_id = $1', [workspaceId]);
    }
    await endConnection(tx, workspaceId, args.name);
    const removed = shownOf(connection);
    await audit(tx, { workspaceId, by: args.by, action: 'connection.removed', before: removed, after: null });
    return removed;
  });
}

/** The workspace's row is locked. Without an audit row: whoever asks writes it. */
export async function endConnection(tx: Queryable, workspaceId: string, name: string): Promise<void> {
  await replaceNewest(tx, workspaceId, name);
  await tx.query(
    `UPDATE provider_connections p SET credentials_sealed = NULL, model_key_sealed = NULL
      WHERE workspace_id = $1 AND name = $2
        AND NOT EXISTS (SELECT 1 FROM call_connections u JOIN calls c USING (call_uuid)
                         WHERE u.workspace_id = p.workspace_id AND u.name = p.name AND u.version = p.version AND c.ended_at IS NULL)`,
    [workspaceId, name],
  );
}

export async function listConnections(database: Queryable, args: { slug: string }): Promise<Connection[]> {
  const { id } = await findWorkspace(database, args.slug);
  return listNewest(database, id);
}

export async function showConnection(database: Queryable, args: ConnectionNamed): Promise<Connection> {
  const { id } = await findWorkspace(database, args.slug);
  const row = (await readNewest(database, id, [args.name])).get(args.name);
  if (row === undefined) throw unknownConnection(args);
  return shownOf(row);
}

/** Newest first. */
export async function listConnectionVersions(
  database: Queryable,
  args: ConnectionNamed,
): Promise<(Connection & { isNewest: boolean })[]> {
  const { id } = await findWorkspace(database, args.slug);
  const versions = await readVersions(database, id, args.name);
  if (versions.length === 0) throw unknownConnection(args);
  return versions;
}

/** Credentials of versions that nobody can need any more: a call cannot be live for a day. */
export async function purgeConnectionCredentials(database: Queryable, isOver?: () => boolean): Promise<void> {
  const erase = async (limit: number): Promise<number> => {
    const erased = await database.query(
      `UPDATE provider_connections SET credentials_sealed = NULL, model_key_sealed = NULL
        WHERE (workspace_id, name, version) IN (
          SELECT workspace_id, name, version FROM provider_connections
           WHERE replaced_at < now() - interval '1 day' AND (credentials_sealed IS NOT NULL OR model_key_sealed IS NOT NULL)
           ORDER BY replaced_at LIMIT $1) RETURNING 1 AS one`,
      [limit],
    );
    return erased.length;
  };
  await inBatches(PURGE_BATCH, erase, isOver);
}

export function unknownConnection({ slug, name }: ConnectionNamed): OperatorError {
  return new OperatorError(
    'not_found',
    `Workspace '${slug}' has no connection '${name.slice(0, 80)}'`,
    `see: parley connection list ${slug}`,
  );
}

/** Its id. Who changes connections does so alone. */
export async function lockedWorkspace(tx: Queryable, slug: string): Promise<string> {
  const { id } = await findWorkspace(tx, slug);
  await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR UPDATE', [id]);
  return id;
}

function mustBeUnused(name: string, { agents, readsCalls }: ConnectionUses): void {
  const by = [
    ...(agents.length === 0 ? [] : [`agents use it: ${agents.join(', ')}`]),
    ...(readsCalls ? ['the analysis of calls uses it'] : []),
  ];
  if (by.length === 0) return;
  throw new OperatorError(
    'refused',
    `'${name}' is in use (${by.join('; ')}). Give them another one first, or remove it all the same with force: then their calls do without it.`,
  );
}

function opened(sealer: Pick<Sealer, 'open'>, row: ConnectionRow): Record<string, string> {
  try {
    return openCredentials(sealer, row);
  } catch {
    const reason = 'The `credentials` that are stored do not open with the master key that is here: give them again.';
    throw new OperatorError('refused', reason);
  }
}

function isSameOrigin(baseUrl: string | undefined, before: string): boolean {
  return baseUrl === undefined || new URL(baseUrl).origin === new URL(before).origin;
}

function isEmpty(values: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(values).length === 0;
}

/** Null takes away, absent leaves. */
function merged(
  before: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> {
  const given = Object.entries(change ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    Object.entries({ ...before, ...Object.fromEntries(given) }).filter(([, value]) => value !== null),
  );
}

const shownOf = ({
  name,
  version,
  provider,
  baseUrl,
  hasCredentials,
  limits,
  settings,
  createdAt,
}: Connection): Connection => ({
  name,
  version,
  provider,
  baseUrl,
  hasCredentials,
  limits,
  settings,
  createdAt,
});

interface Change {
  workspaceId: string;
  by: ChangedBy | undefined;
  action: string;
  before: Connection | null;
  after: Connection | null;
}

function audit(tx: Queryable, { workspaceId, by = BY_OPERATOR, action, before, after }: Change): Promise<void> {
  const shown = (connection: Connection | null): object | null => {
    if (connection === null) return null;
    const { createdAt: _createdAt, ...facts } = shownOf(connection);
    return facts;
  };
  const target = `connection:${(after ?? before)!.name}`;
  return recordAudit(tx, { workspaceId, by, action, target, before: shown(before), after: shown(after) });
}
