/**
 * What a call gets of the connections that its agent names: opened, for as long as the call lasts. Called where a call
 * is given to media; what comes back goes to media's provider threads and to nothing else, never into a log or an
 * event.
 */
import type { ConnectionGrant } from '../../media/contract/grant.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database, Queryable } from '../store/database.ts';
import { type ConnectionRow, openCredentials, readNewest, readOfCall } from './connection-rows.ts';

export interface Granted {
  grants: ConnectionGrant[];
  /** Names that cannot be granted: there is no such connection, or its credentials open with no key that is here. */
  missing: { name: string; why: 'unknown' | 'unreadable' }[];
}

type Opener = Pick<Sealer, 'open'>;

/** The newest versions, in the order of the names. */
export async function connectionsOf(
  database: Queryable,
  opener: Opener,
  workspaceId: string,
  names: readonly string[],
): Promise<Granted> {
  if (names.length === 0) return { grants: [], missing: [] };
  return granted(opener, names, await readNewest(database, workspaceId, names));
}

/**
 * Those with which the call began; where it has none of a name yet, the newest, which are its own from then on. So a
 * call that goes on elsewhere after a death gets the same again.
 */
export async function connectionsOfCall(
  database: Database,
  opener: Opener,
  { workspaceId, callUuid }: { workspaceId: string; callUuid: string },
  names: readonly string[],
): Promise<Granted> {
  if (names.length === 0) return { grants: [], missing: [] };
  const rows = await database.transaction(async (tx) => {
    await tx.query(
      `INSERT INTO call_connections (call_uuid, workspace_id, name, version)
       SELECT c.call_uuid, p.workspace_id, p.name, p.version
         FROM calls c JOIN provider_connections p ON p.workspace_id = c.workspace_id AND p.replaced_at IS NULL
        WHERE c.call_uuid = $1 AND c.workspace_id = $2 AND p.name = ANY ($3::text[])
       ON CONFLICT DO NOTHING`,
      [callUuid, workspaceId, names],
    );
    return readOfCall(tx, workspaceId, callUuid);
  });
  return granted(opener, names, rows);
}

function granted(opener: Opener, names: readonly string[], rows: ReadonlyMap<string, ConnectionRow>): Granted {
  const result: Granted = { grants: [], missing: [] };
  for (const name of new Set(names)) {
    const row = rows.get(name);
    if (row === undefined) {
      result.missing.push({ name, why: 'unknown' });
      continue;
    }
    try {
      const { version, provider, baseUrl, limits, settings } = row;
      const credentials = openCredentials(opener, row);
      result.grants.push({ name, version, provider, baseUrl, credentials, limits, settings });
    } catch {
      result.missing.push({ name, why: 'unreadable' });
    }
  }
  return result;
}
