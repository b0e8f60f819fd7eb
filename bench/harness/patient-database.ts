/** The database of a test, or of a service that a test or a bench has started, for questions of their own. */
import { type Database, openDatabase } from '../../src/store/database.ts';
import { PATIENCE_MS, patientAddress } from './patience.ts';

/**
 * With limits that a busy machine keeps, of a transaction whose process stands still too. Connections that die with
 * their server are made anew.
 */
export function openPatientDatabase(databaseUrl: string, maxConnections = 1): Database {
  return openDatabase({
    connectionString: patientAddress(databaseUrl),
    maxConnections,
    pauseLimitMs: PATIENCE_MS,
    onIdleError: () => {},
  });
}
