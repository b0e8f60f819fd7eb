/**
 * The one webhook URL of a workspace: its signing secret, what it subscribes to, and whether it is switched on. Called
 * by the operator's command line and the API; delivery reads the same row by its own statement. A secret leaves these
 * functions once, at the moment in which it is made.
 */
import { v7 as uuidv7 } from 'uuid';
import type { AddressGuard } from '../../media/net/address-guard.ts';
import { parseTargetUrl } from '../../media/net/target-url.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { sealedPlace } from '../sealing/sealed-places.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Queryable } from '../store/database.ts';
import { abandonBacklog, releaseBacklog } from './backlog.ts';
import { BREAKER_FAILURES, type Breaker, breakerOf } from './breaker.ts';
import { OPT_IN_EVENTS, type OptInEvent } from './events.ts';
import { createWebhookSecret } from './signing.ts';

/** For how long after a rotation both secrets sign (contract §6). */
export const ROTATION_OVERLAP_HOURS = 24;

/** `gone`: the receiver answered 410. `failing`: five days without a success. `operator`: somebody switched it off. */
export type DisabledReason = 'gone' | 'failing' | 'operator';

export interface WebhookEndpoint {
  id: string;
  url: string;
  /** Opt-in events that are sent beside the five that always are. */
  events: OptInEvent[];
  /** While set, events are kept and nothing is sent. `enableEndpoint` and `setEndpoint` clear it. */
  disabledAt: Date | null;
  disabledReason: DisabledReason | null;
  lastSuccessAt: Date | null;
  /** The first failure since the last success; null when the newest attempt succeeded. */
  failingSince: Date | null;
  failuresSinceSuccess: number;
  /** Whether it is left in peace for now. */
  breaker: Breaker;
  /** Deliveries that wait: for their first attempt, a retry, or the URL to be switched on. */
  waiting: number;
  /** Until when the previous secret signs too; null when only one is valid. */
  previousSecretUntil: Date | null;
  createdAt: Date;
}

/**
 * Sets or changes the URL and enables it. The first one gets a secret; another URL keeps it, unless a new one is asked
 * for: then the old one signs too for 24 h. What waited goes to the new URL, now. Throws an `OperatorError` when the
 * URL will not do; with a `guard` a literal private address is refused here already and not only at delivery.
 */
export async function setEndpoint(
  db: Queryable,
  sealer: Sealer,
  workspaceId: string,
  url: string,
  guard: AddressGuard | null = null,
  newSecret = false,
): Promise<{ secret: string | null }> {
  const target = parseTargetUrl(url.trim(), guard);
  if (!target.ok) throw new OperatorError('invalid', `The webhook URL ${target.problem}.`);
  const [changed] = await db.query<{ id: string; failingSince: Date | null }>(
    `UPDATE webhook_endpoints AS e SET url = $2, ${HEALTHY} FROM webhook_endpoints AS former
     WHERE e.workspace_id = $1 AND e.removed_at IS NULL AND former.id = e.id
     RETURNING e.id, former.failing_since AS "failingSince"`,
    [workspaceId, target.url.href],
  );
  if (changed !== undefined) {
    await releaseBacklog(db, changed.id, changed.failingSince);
    return newSecret ? rotateSecret(db, sealer, workspaceId) : { secret: null };
  }
  const secret = createWebhookSecret();
  const [made] = await db.query<{ id: string }>(
    `INSERT INTO webhook_endpoints AS e (id, workspace_id, url, secret_sealed) VALUES ($1, $2, $3, $4)
     ON CONFLICT (workspace_id) DO UPDATE SET url = excluded.url, secret_sealed = excluded.secret_sealed,
       previous_secret_sealed = NULL, previous_until = NULL, removed_at = NULL, last_success_at = NULL, created_at = now(),
       ${HEALTHY}
     RETURNING e.id`,
    [uuidv7(), workspaceId, target.url.href, sealer.seal(secret, sealedPlace.webhookSecret(workspaceId))],
  );
  // An attempt that was under way when a former URL was taken away may have left its event waiting.
  await abandonBacklog(db, made!.id);
  return { secret };
}

/**
 * Takes the URL and its secrets away. What waited is given up; what became of events stays to be read, and a later URL
 * can be sent them by a replay. False when the workspace has no URL.
 */
export async function removeEndpoint(db: Queryable, workspaceId: string): Promise<boolean> {
  const [removed] = await db.query<{ id: string }>(
    `UPDATE webhook_endpoints SET removed_at = now(), disabled_at = now(), disabled_reason = NULL, events = '{}', url = '',
       secret_sealed = '', previous_secret_sealed = NULL, previous_until = NULL
     WHERE workspace_id = $1 AND removed_at IS NULL RETURNING id`,
    [workspaceId],
  );
  if (removed === undefined) return false;
  await abandonBacklog(db, removed.id);
  return true;
}

/** A new secret; the one before it signs beside it for 24 h, so that the receiver can be changed in between. */
export async function rotateSecret(db: Queryable, sealer: Sealer, workspaceId: string): Promise<{ secret: string }> {
  const secret = createWebhookSecret();
  const rows = await db.query<{ id: string }>(
    `UPDATE webhook_endpoints SET previous_secret_sealed = secret_sealed,
       previous_until = now() + make_interval(hours => $3), secret_sealed = $2
     WHERE workspace_id = $1 AND removed_at IS NULL RETURNING id`,
    [workspaceId, sealer.seal(secret, sealedPlace.webhookSecret(workspaceId)), ROTATION_OVERLAP_HOURS],
  );
  if (rows.length === 0) throw new Error('This workspace has no webhook URL yet; set one first, which makes a secret.');
  return { secret };
}

/** From now on these opt-in events are sent too, and no other. False when the workspace has no URL. */
export async function subscribe(db: Queryable, workspaceId: string, events: readonly OptInEvent[]): Promise<boolean> {
  const wanted = OPT_IN_EVENTS.filter((event) => events.includes(event));
  const sql = 'UPDATE webhook_endpoints SET events = $2 WHERE workspace_id = $1 AND removed_at IS NULL RETURNING id';
  return (await db.query(sql, [workspaceId, wanted])).length === 1;
}

/**
 * Switches the URL on, closes its breaker and sends its backlog: what waits, and what was given up since it began to
 * fail. Harmless when it is on and well.
 * False when the workspace has no URL.
 */
export async function enableEndpoint(db: Queryable, workspaceId: string): Promise<boolean> {
  const [former] = await db.query<{ id: string; failingSince: Date | null; disabledAt: Date | null; failures: number }>(
    `SELECT id, failing_since AS "failingSince", disabled_at AS "disabledAt", failures_since_success AS failures
     FROM webhook_endpoints WHERE workspace_id = $1 AND removed_at IS NULL`,
    [workspaceId],
  );
  if (former === undefined) return false;
  if (former.disabledAt === null && former.failures < BREAKER_FAILURES) return true;
  // Closing the breaker is no success: it fails since when it did. One that was switched off gets its five days anew.
  await db.query(
    `UPDATE webhook_endpoints SET ${SWITCHED_ON}, failing_since = CASE WHEN disabled_at IS NULL THEN failing_since END
     WHERE id = $1`,
    [former.id],
  );
  await releaseBacklog(db, former.id, former.failingSince);
  return true;
}

/** Events are kept; nothing is sent until it is enabled. False when the workspace has no URL. */
export async function disableEndpoint(db: Queryable, workspaceId: string): Promise<boolean> {
  const rows = await db.query(
    `UPDATE webhook_endpoints SET disabled_at = coalesce(disabled_at, now()),
       disabled_reason = coalesce(disabled_reason, 'operator')
     WHERE workspace_id = $1 AND removed_at IS NULL RETURNING id`,
    [workspaceId],
  );
  return rows.length === 1;
}

/** Null when the workspace has none. Never holds a secret. */
export async function readEndpoint(db: Queryable, workspaceId: string): Promise<WebhookEndpoint | null> {
  const [row] = await db.query<Omit<WebhookEndpoint, 'breaker'> & LastFailure>(
    `SELECT id, url, events, disabled_at AS "disabledAt", disabled_reason AS "disabledReason",
       last_success_at AS "lastSuccessAt", failing_since AS "failingSince",
       failures_since_success AS "failuresSinceSuccess", created_at AS "createdAt",
       last_failure_at AS "lastFailureAt", last_failure AS "lastFailure", now() AS now,
       CASE WHEN previous_until > now() THEN previous_until END AS "previousSecretUntil",
       (SELECT count(*)::int FROM webhook_deliveries AS d WHERE d.endpoint_id = e.id AND d.state = 'pending') AS waiting
     FROM webhook_endpoints AS e WHERE workspace_id = $1 AND removed_at IS NULL`,
    [workspaceId],
  );
  if (row === undefined) return null;
  const { lastFailureAt, lastFailure, now, ...endpoint } = row;
  const { failuresSinceSuccess: failures, disabledAt } = endpoint;
  const breaker = breakerOf({ failures, lastFailureAt, lastFailure, isOff: disabledAt !== null, now });
  return { ...endpoint, breaker };
}

interface LastFailure {
  lastFailureAt: Date | null;
  lastFailure: string | null;
  now: Date;
}

/** What an editor changes of it, to tell whether somebody else did meanwhile. */
export function endpointState({ url, events, disabledAt, previousSecretUntil }: WebhookEndpoint): object {
  return { url, events, enabled: disabledAt === null, previousSecretUntil };
}

/** What a console shows above everything else; null when all is well. */
export function noticeOf(endpoint: Pick<WebhookEndpoint, 'disabledAt' | 'disabledReason' | 'breaker'>): string | null {
  const { disabledAt, disabledReason, breaker } = endpoint;
  if (disabledAt === null) {
    if (breaker.state === 'closed') return null;
    return `Events wait: ${breaker.reason}. One attempt every 30 s asks whether the receiver is back; switching it on sends what waits.`;
  }
  const since = `Webhooks are off since ${disabledAt.toISOString()}`;
  const kept = 'Events are kept; switching it on sends what waits.';
  switch (disabledReason) {
    case 'gone':
      return `${since}: the receiver answered 410 Gone. ${kept}`;
    case 'failing':
      return `${since}: no attempt succeeded for five days. ${kept}`;
    default:
      return `${since}: somebody switched them off. ${kept}`;
  }
}

const SWITCHED_ON = `disabled_at = NULL, disabled_reason = NULL, failures_since_success = 0, last_failure_at = NULL,
  last_failure = NULL`;
const HEALTHY = `${SWITCHED_ON}, failing_since = NULL`;
