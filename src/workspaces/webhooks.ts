/**
 * The one webhook address of a workspace (contract §6) and its signing secret, stored sealed and shown once. Used by the
 * command line and the demo. Whether an address may be dialled at all is decided at delivery (`src/outbound-http`).
 */
import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { Queryable } from '../store/database.ts';
import type { Sealer } from '../store/secrets.ts';
import { OperatorError } from './operator-error.ts';
import { findWorkspace } from './workspaces.ts';

export interface WebhookEndpoint {
  id: string;
  url: string;
  /** Until when the secret before the last rotation still signs too. */
  previousSecretUntil: Date | null;
  disabledAt: Date | null;
  createdAt: Date;
}

const SECRET_BYTES = 32;
const ROTATION_HOURS = 24;
const COLUMNS = `id, url, previous_until AS "previousSecretUntil", disabled_at AS "disabledAt", created_at AS "createdAt"`;

/**
 * A first address gets a secret, returned once; a changed address keeps its own (`secret` is null then) and is enabled again.
 */
export async function setWebhook(
  database: Queryable,
  sealer: Sealer,
  args: { slug: string; url: string },
): Promise<{ endpoint: WebhookEndpoint; secret: string | null }> {
  checkUrl(args.url);
  const workspace = await findWorkspace(database, args.slug);
  const [changed] = await database.query<WebhookEndpoint>(
    `UPDATE webhook_endpoints SET url = $2, disabled_at = NULL WHERE workspace_id = $1 RETURNING ${COLUMNS}`,
    [workspace.id, args.url],
  );
  if (changed !== undefined) return { endpoint: changed, secret: null };
  const secret = makeSecret();
  const [row] = await database.query<WebhookEndpoint>(
    `INSERT INTO webhook_endpoints (id, workspace_id, url, secret_sealed) VALUES ($1, $2, $3, $4) RETURNING ${COLUMNS}`,
    [uuidv7(), workspace.id, args.url, sealer.seal(secret)],
  );
  return { endpoint: row!, secret };
}

/** A new secret, returned once; the one before signs beside it for 24 h. */
export async function rotateWebhookSecret(
  database: Queryable,
  sealer: Sealer,
  args: { slug: string },
): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
  const { id } = await showWebhook(database, args);
  const secret = makeSecret();
  const [row] = await database.query<WebhookEndpoint>(
    `UPDATE webhook_endpoints SET previous_secret_sealed = secret_sealed,
       previous_until = now() + interval '${ROTATION_HOURS} hours', secret_sealed = $2 WHERE id = $1 RETURNING ${COLUMNS}`,
    [id, sealer.seal(secret)],
  );
  return { endpoint: row!, secret };
}

export async function showWebhook(database: Queryable, args: { slug: string }): Promise<WebhookEndpoint> {
  const workspace = await findWorkspace(database, args.slug);
  const [row] = await database.query<WebhookEndpoint>(
    `SELECT ${COLUMNS} FROM webhook_endpoints WHERE workspace_id = $1`,
    [workspace.id],
  );
  if (row !== undefined) return row;
  throw new OperatorError(
    'not_found',
    `Workspace '${args.slug}' has no webhook; set it with: parley webhook set ${args.slug} --url URL`,
  );
}

function makeSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

function checkUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new OperatorError('invalid', `'${text}' is no http(s) address.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new OperatorError(
      'invalid',
      'The address must not hold a name or password; receivers check the signature instead.',
    );
  }
  if (url.hash !== '') throw new OperatorError('invalid', 'The address must not have a fragment (#…).');
}
