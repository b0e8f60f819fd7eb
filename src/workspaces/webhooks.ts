/**
 * The one webhook address of a workspace, by its name, as the operator handles it. The rows and rules are
 * `src/webhooks/endpoint.ts`; here a workspace is found and a refusal becomes one for the operator.
 */
import type { Queryable } from '../store/database.ts';
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
  database: Queryable,
  sealer: Sealer,
  args: { slug: string; url: string },
): Promise<WebhookWithSecret> {
  const { id } = await findWorkspace(database, args.slug);
  const { secret } = await setEndpoint(database, sealer, id, args.url).catch((error: unknown) => {
    throw isSentenceForOperator(error) ? new OperatorError('invalid', error.message) : error;
  });
  return { endpoint: await showWebhook(database, args), secret };
}

/** A new secret; the one before signs beside it for 24 h. */
export async function rotateWebhookSecret(
  database: Queryable,
  sealer: Sealer,
  args: { slug: string },
): Promise<WebhookWithSecret> {
  await showWebhook(database, args);
  const { id } = await findWorkspace(database, args.slug);
  const { secret } = await rotateSecret(database, sealer, id);
  return { endpoint: await showWebhook(database, args), secret };
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
