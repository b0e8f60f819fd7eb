/**
 * The one webhook address of a workspace, by its name, as the operator handles it. The rows and rules are
 * `src/webhooks/endpoint.ts`; here a workspace is found and a refusal becomes one for the operator.
 */
import { createHash } from 'node:crypto';
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Database, Queryable } from '../store/database.ts';
import type { Sealer } from '../store/secrets.ts';
import { readEndpoint, rotateSecret, setEndpoint, type WebhookEndpoint } from '../webhooks/endpoint.ts';
import { OperatorError } from './operator-error.ts';
import { findWorkspace } from './workspaces.ts';

/** `secret` is shown this once. */
export interface WebhookWithSecret {
  endpoint: WebhookEndpoint;
  secret: string;
}

/** Sets or changes the address. Either way a new secret is made: the old one belongs to another receiver. */
export async function setWebhook(
  database: Database,
  sealer: Sealer,
  args: { slug: string; url: string; by?: ChangedBy },
): Promise<WebhookWithSecret> {
  return database.transaction(async (tx) => {
    const { id } = await findWorkspace(tx, args.slug);
    const before = await readEndpoint(tx, id);
    const { secret } = await setEndpoint(tx, sealer, id, args.url).catch((error: unknown) => {
      throw isSentenceForOperator(error) ? new OperatorError('invalid', error.message) : error;
    });
    const endpoint = await showWebhook(tx, args);
    await audit(tx, id, args.by, 'webhook.set', before, endpoint);
    return { endpoint, secret };
  });
}

/** A new secret; the one before signs beside it for 24 h. */
export async function rotateWebhookSecret(
  database: Database,
  sealer: Sealer,
  args: { slug: string; by?: ChangedBy },
): Promise<WebhookWithSecret> {
  return database.transaction(async (tx) => {
    const before = await showWebhook(tx, args);
    const { id } = await findWorkspace(tx, args.slug);
    const { secret } = await rotateSecret(tx, sealer, id);
    const endpoint = await showWebhook(tx, args);
    await audit(tx, id, args.by, 'webhook.secret_rotated', before, endpoint);
    return { endpoint, secret };
  });
}

export async function showWebhook(database: Queryable, args: { slug: string }): Promise<WebhookEndpoint> {
  const { id } = await findWorkspace(database, args.slug);
  const endpoint = await readEndpoint(database, id);
  if (endpoint !== null) return endpoint;
  throw new OperatorError(
    'not_found',
    `Workspace '${args.slug}' has no webhook; set it with: parley webhook set ${args.slug} --url URL`,
  );
}

function isSentenceForOperator(error: unknown): error is Error {
  return error instanceof Error && error.message.startsWith('The webhook URL');
}

function audit(
  tx: Queryable,
  workspaceId: string,
  by: ChangedBy = BY_OPERATOR,
  action: string,
  before: WebhookEndpoint | null,
  after: WebhookEndpoint,
): Promise<void> {
  // An address may carry a key in its path or query; its host and whether it changed are what matters here.
  const shown = (endpoint: WebhookEndpoint | null): object | null =>
    endpoint === null
      ? null
      : {
          origin: new URL(endpoint.url).origin,
          urlSha256: createHash('sha256').update(endpoint.url).digest('hex'),
          disabledAt: endpoint.disabledAt,
        };
  return recordAudit(tx, {
    workspaceId,
    by,
    action,
    target: `webhook:${after.id}`,
    before: shown(before),
    after: shown(after),
  });
}
