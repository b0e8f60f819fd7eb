/**
 * What attempts say of a receiver, in its endpoint's row: since when it fails, how often, and when that is too much
 * (contract §6). Parts of the delivery store's statements that note an attempt to `url`: another URL that was set
 * meanwhile is not judged by it.
 */

/**
 * Both must be reached: a receiver with little traffic gets its five days, one with much is not
 * cut off by a bad minute.
 */
const FAILING_FOR_DAYS = 5;
const FAILURES = 100;

/** A success as one statement, so that it can be a part of the one that notes the attempt. Places of parameters. */
export function noteSuccessSql(at: { endpointId: string; url: string; now: string }): string {
  return `
    UPDATE webhook_endpoints SET last_success_at = ${at.now}, failing_since = NULL, failures_since_success = 0,
      last_failure_at = NULL, last_failure = NULL
    WHERE id = ${at.endpointId} AND url = ${at.url} RETURNING 1 AS one`;
}

/**
 * A failure as one statement, so that it can be a part of the one that notes the attempt: a receiver that hangs fails
 * often. The arguments are places of parameters. Gives `reason`, why this failure switched the URL off, or null; no row
 * when there is another URL by now.
 */
export function noteFailureSql(at: {
  endpointId: string;
  url: string;
  now: string;
  isGone: string;
  error: string;
}): string {
  const switchesOff = `disabled_at IS NULL AND (${at.isGone}::boolean OR (failures_since_success + 1 >= ${FAILURES}
    AND ${at.now}::timestamptz - failing_since >= interval '${FAILING_FOR_DAYS * 24} hours'))`;
  return `
    UPDATE webhook_endpoints SET failures_since_success = failures_since_success + 1,
      failing_since = coalesce(failing_since, ${at.now}), last_failure_at = ${at.now}, last_failure = ${at.error},
      disabled_at = CASE WHEN ${switchesOff} THEN ${at.now} ELSE disabled_at END,
      disabled_reason = CASE WHEN ${switchesOff} THEN CASE WHEN ${at.isGone}::boolean THEN 'gone' ELSE 'failing' END
        ELSE disabled_reason END
    WHERE id = ${at.endpointId} AND url = ${at.url}
    RETURNING CASE WHEN disabled_at = ${at.now} THEN disabled_reason END AS reason`;
}

/** Of an endpoint `e`: it has succeeded within the last minute and has not failed since. `now`: a place. */
export function knownHealthySql(now: string): string {
  return `(e.failures_since_success = 0 AND e.last_success_at > ${now} - interval '1 minute') IS TRUE`;
}
