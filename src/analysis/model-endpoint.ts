/**
 * The chat endpoint of a workspace as stored: a connection to an OpenAI-compatible provider, and a model. Read by the
 * runner; set and shown by `src/analysis/operator-model.ts`. The key leaves it only towards a request.
 */
import { type ConnectionRow, openCredentials, readNewest } from '../connections/connection-rows.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Queryable } from '../store/database.ts';
import type { Read } from '../store/joint-read.ts';
import type { ChatEndpoint } from './chat-endpoint.ts';

export interface StoredEndpoint extends ChatEndpoint {
  /** Changes whenever the endpoint is changed, or the connection behind it. */
  version: string;
}

/** As `analysis_models` has it. */
export interface ChosenModel {
  connection: string;
  model: string;
  updatedAt: Date;
}

/** Whether a model is to be asked about the workspace's calls; no row: none. */
export function modelIsChosen(workspaceId: string): Read<{ one: number }> {
  return { sql: (place) => `SELECT 1 AS one FROM analysis_models WHERE workspace_id = ${place(workspaceId)}` };
}

export async function readChosenModel(database: Queryable, workspaceId: string): Promise<ChosenModel | null> {
  const [row] = await database.query<ChosenModel>(
    `SELECT connection, model, updated_at AS "updatedAt" FROM analysis_models WHERE workspace_id = $1`,
    [workspaceId],
  );
  return row ?? null;
}

/** Its key was sealed under another master key. */
export class KeyUnreadable extends Error {}

/** Null when the workspace has none. Throws `KeyUnreadable`. */
export async function readChatEndpoint(
  database: Queryable,
  sealer: Pick<Sealer, 'open'>,
  workspaceId: string,
): Promise<StoredEndpoint | null> {
  const chosen = await readChosenModel(database, workspaceId);
  if (chosen === null) return null;
  const { connection, model, updatedAt } = chosen;
  const row = (await readNewest(database, workspaceId, [connection])).get(connection);
  if (row === undefined) return null;
  const { baseUrl, settings } = row;
  const apiKey = openKey(sealer, row);
  return { baseUrl, model, apiKey, settings, version: `${connection} ${row.version} ${updatedAt.toISOString()}` };
}

function openKey(sealer: Pick<Sealer, 'open'>, row: ConnectionRow): string | null {
  try {
    return openCredentials(sealer, row)['apiKey'] ?? null;
  } catch (error) {
    throw new KeyUnreadable(error instanceof Error ? error.message : String(error));
  }
}
