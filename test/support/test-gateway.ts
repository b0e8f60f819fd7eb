/**
 * A whole gateway for a test, on a database of its own on the run's shared PostgreSQL: for every test that does not
 * strike the database itself. A server of its own takes two seconds of processor to make, start and migrate.
 */
import { type Gateway, type GatewayOptions, startGateway } from '../../bench/harness/gateway.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

/** With this the service makes no server. */
export function settingsOn(stored: TestDatabase): Record<string, string> {
  return { DATABASE_URL: stored.connectionString };
}

export async function startTestGateway(options: Omit<GatewayOptions, 'volatileDatabase'>): Promise<Gateway> {
  const stored = await createTestDatabase();
  try {
    const gateway = await startGateway({ ...options, settings: { ...options.settings, ...settingsOn(stored) } });
    return {
      ...gateway,
      async stop() {
        await gateway.stop();
        await stored.close();
      },
    };
  } catch (error) {
    await stored.close();
    throw error;
  }
}
