/** What keeps a command from its database, in a sentence for people. Used by `run-cli.ts` and `parley agent test`. */
import { OperatorError } from '../errors/operator-error.ts';

const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EHOSTUNREACH', 'EACCES', 'ENOENT']);

/** Null: it is something else, such as an `OperatorError`, which has a sentence of its own. */
export function databaseFault(error: unknown): string | null {
  if (!(error instanceof Error) || error instanceof OperatorError) return null;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && UNREACHABLE.has(code)) {
    return `The database cannot be reached (${code}). Is the service running? Check DATABASE_URL, or start it with 'npm start'.`;
  }
  // 42P01: undefined table.
  if (code === '42P01') return "The database has no tables yet; run 'parley migrate', or start the service.";
  return null;
}
