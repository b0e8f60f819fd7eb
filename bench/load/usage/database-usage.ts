/**
 * What a run costs the service's PostgreSQL: committed transactions and bytes of write-ahead log, of the own service
 * alone, whose database the tool may ask. Used by `target-usage.ts`.
 */
import { type Database, openDatabase } from '../../../src/store/database.ts';

export interface DatabaseCounts {
  commits: number;
  walBytes: number;
}

export class DatabaseUsage {
  readonly #database: Database;

  constructor(connectionString: string) {
    this.#database = openDatabase({ connectionString, maxConnections: 1, onIdleError: () => {} });
  }

  /** Since the database was made; null: it does not answer. */
  async read(): Promise<DatabaseCounts | null> {
    try {
      // Counts of other connections are told with some delay; a second of it is little in a run.
      const rows = await this.#database.query<{ commits: string; wal: string }>(
        `SELECT xact_commit AS commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS wal
         FROM pg_stat_database WHERE datname = current_database()`,
      );
      const row = rows[0];
      return row === undefined ? null : { commits: Number(row.commits), walBytes: Number(row.wal) };
    } catch {
      return null;
    }
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
