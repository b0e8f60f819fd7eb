/** The session in which databases of tests are made and dropped: of the server of the run, not of a test. */
import { PATIENCE_MS, patientAddress } from '../../bench/harness/patience.ts';
import { openDatabase } from '../../src/store/database.ts';

/** Runs the statements one after another. On a busy machine one takes longer than any of the service may. */
export async function administer(connectionString: string, ...statements: readonly string[]): Promise<void> {
  const admin = openDatabase({
    connectionString: patientAddress(connectionString),
    maxConnections: 1,
    answerLimitMs: PATIENCE_MS,
    onIdleError: () => {},
  });
  try {
    await admin.query('SET statement_timeout = 0');
    for (const sql of statements) await admin.query(sql);
  } finally {
    await admin.close();
  }
}
