/**
 * The chat endpoint of a workspace as stored: address, model, and a key that is sealed like a line's credentials. Read
 * by the runner; set and shown by `src/analysis/operator-model.ts`. The key leaves it only towards a request.
 */
import { sealedPlace } from '../sealing/sealed-places.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Queryable } from '../store/database.ts';
import type { ChatEndpoint } from './chat-endpoint.ts';

export interface StoredEndpoint extends ChatEndpoint {
  /** Changes whenever the endpoint is changed. */
  version: string;
}

/** Null when the workspace has none. Throws when the key was sealed under another master key. */
export async function readChatEndpoint(
  database: Queryable,
  sealer: Pick<Sealer, 'open'>,
  workspaceId: string,
): Promise<StoredEndpoint | null> {
  const [row] = await database.query<{ baseUrl: string; model: string; keySealed: Buffer | null; updatedAt: Date }>(
    `SELECT base_url AS "baseUrl", model, key_sealed AS "keySealed", updated_at AS "updatedAt"
       FROM model_endpoints WHERE workspace_id = $1`,
    [workspaceId],
  );
  if (row === undefined) return null;
  const { baseUrl, model, keySealed, updatedAt } = row;
  const apiKey = keySealed === null ? null : sealer.open(keySealed, sealedPlace.modelKey(workspaceId));
  return { baseUrl, model, apiKey, version: updatedAt.toISOString() };
}
