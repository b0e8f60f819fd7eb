/**
 * Tells a database that cannot be reached, or gave up, from a statement that it will never accept. After the first a
 * piece of work is tried again, unchanged; after the second that would go on for ever, so it is reported and dropped.
 * Whatever the server or the system said has a code. The driver's own failures have none: this file alone knows their
 * words.
 */

/** SQLSTATE classes that time may heal: connection, resources, operator intervention, system, rolled back, locks. */
const PASSING_CLASSES = new Set(['08', '53', '55', '57', '58', '40', 'XX']);
/** The server ends sessions (57P01, 57P02) or takes no new ones (57P03), which it also says while it starts. */
const SHUTDOWN_CODES = new Set(['57P01', '57P02', '57P03']);
/** The server has ended the session for what did not say anything within its transaction (`PAUSE_LIMIT_MS`). */
const STOOD_STILL = '25P03';
const STATEMENT_ALONE = /^(?:40|53|55|58|XX)...$|^57014$/;
const UNANSWERED = 'Query read timeout';
const NO_SESSION = 'timeout exceeded when trying to connect';
const DRIVER_FAILURES =
  /connection terminated|timeout exceeded when trying to connect|connection ended|query read timeout|not queryable|read-only/i;

export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.some(isDatabaseAway)) return true;
  const code = (error as Error & { code?: unknown }).code;
  if (typeof code === 'string') {
    if (/^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code))
      return PASSING_CLASSES.has(code.slice(0, 2)) || code === STOOD_STILL;
    if (/^E[A-Z]+$/.test(code)) return true;
  }
  return DRIVER_FAILURES.test(error.message);
}

/**
 * No session came free, or none was made, within the time that one is waited for: what wanted it was not asked, what
 * its request had asked before may be done.
 */
export function foundNoSession(error: unknown): boolean {
  return error instanceof Error && error.message === NO_SESSION;
}

/** The connection still waits for that answer: whatever is asked next would wait behind it. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === UNANSWERED;
}

/** The session was ended, as it is for saying nothing in a transaction: told with a code, or when it is asked again. */
export function wasEnded(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return code === STOOD_STILL || /not queryable/i.test(String(message));
}

/** As `isDatabaseAway`, but not of a statement alone that was given up: another may be answered. */
export function isServerGone(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return isDatabaseAway(error) && !(typeof code === 'string' && STATEMENT_ALONE.test(code));
}

/** The server said that it goes away, or takes no sessions now: none of those it still has will be of use. */
export function isShuttingDown(error: unknown): boolean {
  return error instanceof Error && SHUTDOWN_CODES.has(String((error as Error & { code?: unknown }).code));
}
