/**
 * The one webhook address of a workspace, by the workspace's name, as the operator handles it. The rows and rules are
 * in the files beside this one; here a workspace is found and a refusal becomes one for the operator.
 */

import type { Clock } from '../../media/contract/clock.ts';
import { type AddressCheck, problemOfTarget } from '../../media/net/target-check.ts';
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Sealer } from '../sealing/sealer.ts';
import type { Database, Queryable } from '../store/database.ts';
import { findWorkspace } from '../workspaces/workspaces.ts';
import { changeWithBacklog } from './backlog.ts';
import {
  type DeliveryDetail,
  type DeliveryEntry,
  type DeliveryFilter,
  listDeliveries,
  readDelivery,
} from './delivery-log.ts';
import { readEndpoint, rotateSecret, setEndpoint, type WebhookEndpoint } from './endpoint.ts';
import { auditEndpoint, changeSubscription, switchEndpoint, takeEndpointAway } from './endpoint-changes.ts';
import { isOptIn, OPT_IN_EVENTS } from './events.ts';
import {
  type Replayed,
  type ReplayFilter,
  redeliver,
  replay,
  sendTest,
  WebhookRefusal,
  type WebhookRefusalCode,
} from './redelivery.ts';

/** `secret` is shown this once; null: the one that there was stays. */
export interface WebhookSet {
  endpoint: WebhookEndpoint;
  secret: string | null;
}

/**
 * Sets or changes the address. The first gets a secret; another keeps it unless `newSecret` asks for one, beside which
 * the old one signs for 24 h. With a `check` the address is refused when it leads to where nothing would be sent.
 */
export async function setWebhook(
  database: Database,
  sealer: Sealer,
  args: {
    slug: string;
    url: string;
    newSecret?: boolean | undefined;
    by?: ChangedBy;
    check?: AddressCheck;
    /** Throws when what is there is not what the editor has seen. */
    expect?: ((current: WebhookEndpoint | null) => void) | undefined;
  },
): Promise<WebhookSet> {
  const problem = args.check === undefined ? null : await problemOfTarget(args.url.trim(), args.check);
  if (problem !== null) throw new OperatorError('invalid', `The webhook URL ${problem}.`);
  return changeWithBacklog(database, async (tx) => {
    const { id } = await findWorkspace(tx, args.slug);
    await tx.query('SELECT 1 FROM webhook_endpoints WHERE workspace_id = $1 FOR NO KEY UPDATE', [id]);
    const before = await readEndpoint(tx, id);
    args.expect?.(before);
    const { secret } = await setEndpoint(tx, sealer, id, args.url, null, args.newSecret);
    const endpoint = await showWebhook(tx, args);
    const by = args.by ?? BY_OPERATOR;
    await auditEndpoint(tx, { workspaceId: id, by, action: 'webhook.set', before, after: endpoint });
    return { endpoint, secret };
  });
}

/** A new secret; the one before signs beside it for 24 h. */
export async function rotateWebhookSecret(
  database: Database,
  sealer: Sealer,
  args: { slug: string; by?: ChangedBy },
): Promise<WebhookSet & { secret: string }> {
  return database.transaction(async (tx) => {
    const before = await showWebhook(tx, args);
    const { id } = await findWorkspace(tx, args.slug);
    const { secret } = await rotateSecret(tx, sealer, id);
    const endpoint = await showWebhook(tx, args);
    const by = args.by ?? BY_OPERATOR;
    await auditEndpoint(tx, { workspaceId: id, by, action: 'webhook.secret_rotated', before, after: endpoint });
    return { endpoint, secret };
  });
}

export async function showWebhook(database: Queryable, args: { slug: string }): Promise<WebhookEndpoint> {
  const { id } = await findWorkspace(database, args.slug);
  const endpoint = await readEndpoint(database, id);
  if (endpoint !== null) return endpoint;
  throw refusalOf('not_set', args.slug);
}

/** Replaces what was subscribed to; an empty list leaves the events that are always sent. */
export async function subscribeWebhook(
  database: Database,
  args: { slug: string; events: readonly string[]; by: ChangedBy },
): Promise<WebhookEndpoint> {
  const events = args.events.filter(isOptIn);
  if (events.length < args.events.length) {
    const unknown = args.events.filter((event) => !isOptIn(event));
    throw new OperatorError(
      'invalid',
      `Not to be chosen: ${unknown.join(', ')}. There are: ${OPT_IN_EVENTS.join(', ')}.`,
    );
  }
  const { id } = await findWorkspace(database, args.slug);
  const changed = await changeSubscription(database, { workspaceId: id, events, by: args.by });
  if (changed === null) throw refusalOf('not_set', args.slug);
  return changed;
}

/** On: what waits is sent. Off: events are kept. */
export async function switchWebhook(
  database: Database,
  args: { slug: string; enabled: boolean; by: ChangedBy },
): Promise<WebhookEndpoint> {
  const { id } = await findWorkspace(database, args.slug);
  const changed = await switchEndpoint(database, { workspaceId: id, enabled: args.enabled, by: args.by });
  if (changed === null) throw refusalOf('not_set', args.slug);
  return changed;
}

/** Takes the address and its secret away; what waits is given up. Returns it as it was. */
export async function removeWebhook(
  database: Database,
  args: { slug: string; by: ChangedBy; expect?: ((current: WebhookEndpoint) => void) | undefined },
): Promise<WebhookEndpoint> {
  const { id } = await findWorkspace(database, args.slug);
  const removed = await takeEndpointAway(database, { workspaceId: id, by: args.by, expect: args.expect });
  if (removed === null) throw refusalOf('not_set', args.slug);
  return removed;
}

export async function listWebhookDeliveries(
  database: Queryable,
  args: { slug: string; filter: DeliveryFilter; limit: number; after: string | null },
): Promise<DeliveryEntry[]> {
  const { id } = await findWorkspace(database, args.slug);
  return listDeliveries(database, id, args.filter, { limit: args.limit, after: args.after });
}

export async function showWebhookDelivery(
  database: Queryable,
  args: { slug: string; deliveryId: string },
): Promise<DeliveryDetail> {
  const { id } = await findWorkspace(database, args.slug);
  const delivery = await readDelivery(database, id, args.deliveryId);
  if (delivery === null) throw refusalOf('not_found', args.slug);
  return delivery;
}

export async function redeliverWebhook(
  database: Database,
  args: { slug: string; deliveryId: string; by: ChangedBy },
): Promise<DeliveryDetail> {
  const { id } = await findWorkspace(database, args.slug);
  await forOperator(args.slug, redeliver(database, { workspaceId: id, by: args.by }, args.deliveryId));
  return showWebhookDelivery(database, args);
}

export async function replayWebhooks(
  database: Database,
  args: { slug: string; filter: ReplayFilter; by: ChangedBy },
): Promise<Replayed> {
  if (args.filter.from === undefined && args.filter.callUuids === undefined) {
    throw new OperatorError('invalid', 'Give --from or --calls: a replay of everything is hardly meant.');
  }
  const { id } = await findWorkspace(database, args.slug);
  return forOperator(args.slug, replay(database, { workspaceId: id, by: args.by }, args.filter));
}

/** Written for the running service to send, within 5 s. */
export async function testWebhook(
  database: Database,
  args: { slug: string; by: ChangedBy },
  clock: Clock,
): Promise<DeliveryDetail> {
  const { id } = await findWorkspace(database, args.slug);
  const workspace = { workspaceId: id, enterprise: args.slug, by: args.by };
  const deliveryId = await forOperator(args.slug, sendTest(database, workspace, clock));
  return showWebhookDelivery(database, { slug: args.slug, deliveryId });
}

async function forOperator<Result>(slug: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof WebhookRefusal ? refusalOf(error.code, slug) : error;
  }
}

function refusalOf(code: WebhookRefusalCode, slug: string): OperatorError {
  switch (code) {
    case 'not_set':
      return new OperatorError(
        'not_found',
        `Workspace '${slug}' has no webhook`,
        `set it with: parley webhook set ${slug} --url URL`,
      );
    case 'disabled':
      return new OperatorError(
        'refused',
        `The webhook of '${slug}' is off`,
        `this sends what waits: parley webhook enable ${slug}`,
      );
    case 'not_found':
      return new OperatorError('not_found', `'${slug}' has no such delivery`, `see: parley webhook deliveries ${slug}`);
    case 'body_gone':
      return new OperatorError('refused', 'The event is older than 30 days and its text is gone; the call log has it.');
  }
}
