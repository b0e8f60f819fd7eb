/** Sessions of a test's own at a database, beside the service's. Call at the top of a file or of a `describe`. */
import pg from 'pg';
import { afterEach } from 'vitest';

/** Opens one at a time; each ends behind the test that has opened it, before the hooks that were there already. */
export function ownSessions(connectionString: () => string): () => Promise<pg.Client> {
  const sessions: pg.Client[] = [];
  afterEach(async () => {
    for (const client of sessions.splice(0)) await client.end();
  });
  return async () => {
    const client = new pg.Client({ connectionString: connectionString() });
    sessions.push(client);
    await client.connect();
    return client;
  };
}
