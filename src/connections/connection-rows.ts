/**
 * Connections as rows. Each row is a version and never changes; the newest that is not replaced is the connection as it
 * is. Every read names the workspace. Credentials leave a row only opened, towards a request or a grant.
 */
import type { ConnectionLimits } from '../../media/contract/grant.ts';
import type { ProviderName } from '../../media/contract/providers.ts';
import { sealedPlace } from '../sealing/sealed-places.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Queryable } from '../store/database.ts';

/** Everything about a version but its credentials. */
export interface Connection {
  name: string;
  version: number;
  provider: ProviderName;
  baseUrl: string;
  hasCredentials: boolean;
  limits: ConnectionLimits;
  settings: Record<string, unknown>;
  /** When this version was made. */
  createdAt: Date;
}

/** As stored, with what is sealed. */
export interface ConnectionRow extends Connection {
  workspaceId: string;
  credentialsSealed: Buffer | null;
  /** Of a former model endpoint: the bare key. */
  modelKeySealed: Buffer | null;
}

export interface VersionKey {
  workspaceId: string;
  name: string;
  version: number;
}

const SHOWN = `name, version, provider, base_url AS "baseUrl",
  (credentials_sealed IS NOT NULL OR model_key_sealed IS NOT NULL) AS "hasCredentials", limits, settings, created_at AS "createdAt"`;
const WHOLE = `${SHOWN}, workspace_id AS "workspaceId", credentials_sealed AS "credentialsSealed",
  model_key_sealed AS "modelKeySealed"`;

export function listNewest(database: Queryable, workspaceId: string): Promise<Connection[]> {
  return database.query<Connection>(
    `SELECT ${SHOWN} FROM provider_connections WHERE workspace_id = $1 AND replaced_at IS NULL ORDER BY name`,
    [workspaceId],
  );
}

/** By name; those that the workspace does not have are left out. */
export async function readNewest(
  database: Queryable,
  workspaceId: string,
  names: readonly string[],
): Promise<Map<string, ConnectionRow>> {
  const rows = await database.query<ConnectionRow>(
    `SELECT ${WHOLE} FROM provider_connections
      WHERE workspace_id = $1 AND name = ANY ($2::text[]) AND replaced_at IS NULL`,
    [workspaceId, names],
  );
  return new Map(rows.map((row) => [row.name, row]));
}

/** Newest first, of this name as long as it is in use; empty: there is none. */
export async function readVersions(
  database: Queryable,
  workspaceId: string,
  name: string,
): Promise<(Connection & { isNewest: boolean })[]> {
  return database.query<Connection & { isNewest: boolean }>(
    `SELECT ${SHOWN}, replaced_at IS NULL AS "isNewest" FROM provider_connections
      WHERE workspace_id = $1 AND name = $2
        AND EXISTS (SELECT 1 FROM provider_connections WHERE workspace_id = $1 AND name = $2 AND replaced_at IS NULL)
      ORDER BY version DESC`,
    [workspaceId, name],
  );
}

/** By the names under which a call began. */
export async function readOfCall(
  database: Queryable,
  workspaceId: string,
  callUuid: string,
): Promise<Map<string, ConnectionRow>> {
  const rows = await database.query<ConnectionRow>(
    `SELECT ${WHOLE} FROM provider_connections JOIN call_connections USING (workspace_id, name, version)
      WHERE workspace_id = $1 AND call_uuid = $2`,
    [workspaceId, callUuid],
  );
  return new Map(rows.map((row) => [row.name, row]));
}

/** Under a number that no version of this name had, also none of one that was removed. */
export async function insertVersion(
  tx: Queryable,
  sealer: Pick<Sealer, 'seal'>,
  wanted: Pick<Connection, 'name' | 'provider' | 'baseUrl' | 'limits' | 'settings'> & {
    workspaceId: string;
    /** Null: it has none. */
    credentials: Readonly<Record<string, string>> | null;
  },
): Promise<Connection> {
  const { workspaceId, name, credentials } = wanted;
  const [last] = await tx.query<{ version: number | null }>(
    'SELECT max(version) AS version FROM provider_connections WHERE workspace_id = $1 AND name = $2',
    [workspaceId, name],
  );
  const version = (last?.version ?? 0) + 1;
  const place = sealedPlace.connectionCredentials({ workspaceId, name, version });
  const [row] = await tx.query<Connection>(
    `INSERT INTO provider_connections (workspace_id, name, version, provider, base_url, credentials_sealed, limits, settings)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${SHOWN}`,
    [
      workspaceId,
      name,
      version,
      wanted.provider,
      wanted.baseUrl,
      credentials === null ? null : sealer.seal(JSON.stringify(credentials), place),
      JSON.stringify(wanted.limits),
      JSON.stringify(wanted.settings),
    ],
  );
  return row!;
}

/** New calls do not use it any more. */
export async function replaceNewest(tx: Queryable, workspaceId: string, name: string): Promise<void> {
  await tx.query(
    `UPDATE provider_connections SET replaced_at = clock_timestamp()
      WHERE workspace_id = $1 AND name = $2 AND replaced_at IS NULL`,
    [workspaceId, name],
  );
}

/** Throws when they were sealed under another master key. */
export function openCredentials(sealer: Pick<Sealer, 'open'>, row: ConnectionRow): Record<string, string> {
  const { credentialsSealed, modelKeySealed, workspaceId, name, version } = row;
  if (credentialsSealed !== null) {
    const place = sealedPlace.connectionCredentials({ workspaceId, name, version });
    return JSON.parse(sealer.open(credentialsSealed, place)) as Record<string, string>;
  }
  return modelKeySealed === null ? {} : { apiKey: sealer.open(modelKeySealed, sealedPlace.modelKey(workspaceId)) };
}
