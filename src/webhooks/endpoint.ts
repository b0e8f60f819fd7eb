/**
 * The one webhook URL of a workspace and its signing secret. Called by the operator's command line; delivery reads the
 * same row by its own statement. A secret leaves these functions once, at the moment in which it is made.
 */
import { v7 as uuidv7 } from 'uuid';
import type { AddressGuard } from '../outbound-http/address-guard.ts';
import { parseTargetUrl } from '../outbound-http/target-url.ts';
import type { Queryable } from '../store/database.ts';
import type { Sealer } from '../store/secrets.ts';
import { createWebhookSecret } from './signing.ts';

/** For how long after a rotation both secrets sign (contract §6). */
export const ROTATION_OVERLAP_HOURS = 24;

export interface WebhookEndpoint {
  id: string;
  url: string;
  /** Set when the receiver answered 410; `setEndpoint` clears it. */
  disabledAt: Date | null;
  /** Until when the previous secret signs too; null when only one is live. */
  previousSecretUntil: Date | null;
  createdAt: Date;
}

/**
 * Sets or changes the URL, makes a new secret (the old one stops at once: it belongs to another receiver) and enables it.
 * Deliveries that still waited go to the new URL. Throws with a sentence for the operator when the URL will not do;
 * with a `guard` a literal private address is refused here already and not only at delivery.
 */
export async function setEndpoint(
  db: Queryable,
  sealer: Sealer,
  workspaceId: string,
  url: string,
  guard: AddressGuard | null = null,
): Promise<{ secret: string }> {
  const target = parseTargetUrl(url.trim(), guard);
  if (!target.ok) throw new Error(`The webhook URL ${target.problem}.`);
  const secret = createWebhookSecret();
  await db.query(
    `INSERT INTO webhook_endpoints (id, workspace_id, url, secret_sealed) VALUES ($1, $2, $3, $4)
     ON CONFLICT (workspace_id) DO UPDATE SET url = excluded.url, secret_sealed = excluded.secret_sealed,
       previous_secret_sealed = NULL, previous_until = NULL, disabled_at = NULL`,
    [uuidv7(), workspaceId, target.url.href, sealer.seal(secret)],
  );
  return { secret };
}

/** A new secret; the one before it signs beside it for 24 h, so that the receiver can be changed in between. */
export async function rotateSecret(db: Queryable, sealer: Sealer, workspaceId: string): Promise<{ secret: string }> {
  const secret = createWebhookSecret();
  const rows = await db.query<{ id: string }>(
    `UPDATE webhook_endpoints SET previous_secret_sealed = secret_sealed,
       previous_until = now() + make_interval(hours => $3), secret_sealed = $2
     WHERE workspace_id = $1 RETURNING id`,
    [workspaceId, sealer.seal(secret), ROTATION_OVERLAP_HOURS],
  );
  if (rows.length === 0) throw new Error('This workspace has no webhook URL yet; set one first, which makes a secret.');
  return { secret };
}

/** Null when the workspace has none. Never holds a secret. */
export async function readEndpoint(db: Queryable, workspaceId: string): Promise<WebhookEndpoint | null> {
  const rows = await db.query<WebhookEndpoint>(
    `SELECT id, url, disabled_at AS "disabledAt", created_at AS "createdAt",
       CASE WHEN previous_until > now() THEN previous_until END AS "previousSecretUntil"
     FROM webhook_endpoints WHERE workspace_id = $1`,
    [workspaceId],
  );
  return rows[0] ?? null;
}
