/**
 * Changes of a webhook URL's state with their audit rows, for the command line and the API alike. The statements are in
 * `endpoint.ts`.
 */
import { createHash } from 'node:crypto';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Database, Queryable } from '../store/database.ts';
import { changeWithBacklog } from './backlog.ts';
import {
  disableEndpoint,
  enableEndpoint,
  readEndpoint,
  removeEndpoint,
  subscribe,
  type WebhookEndpoint,
} from './endpoint.ts';
import type { OptInEvent } from './events.ts';

/** On: what waits is sent. Off: events are kept. Null when the workspace has no URL. */
export function switchEndpoint(
  db: Database,
  args: { workspaceId: string; enabled: boolean; by: ChangedBy },
): Promise<WebhookEndpoint | null> {
  const action = args.enabled ? 'webhook.enabled' : 'webhook.disabled';
  return change(db, args, action, (tx) => (args.enabled ? enableEndpoint : disableEndpoint)(tx, args.workspaceId));
}

/** Takes the URL away. Null when the workspace has none; else as it was. */
export function takeEndpointAway(
  db: Database,
  args: { workspaceId: string; by: ChangedBy; expect?: ((current: WebhookEndpoint) => void) | undefined },
): Promise<WebhookEndpoint | null> {
  const { workspaceId, by } = args;
  return changeWithBacklog(db, async (tx) => {
    await tx.query('SELECT 1 FROM webhook_endpoints WHERE workspace_id = $1 FOR NO KEY UPDATE', [workspaceId]);
    const before = await readEndpoint(tx, workspaceId);
    if (before === null) return null;
    args.expect?.(before);
    await removeEndpoint(tx, workspaceId);
    await auditEndpoint(tx, { workspaceId, by, action: 'webhook.removed', before, after: null });
    return before;
  });
}

/** Replaces what was subscribed to. Null when the workspace has no URL. */
export function changeSubscription(
  db: Database,
  args: { workspaceId: string; events: readonly OptInEvent[]; by: ChangedBy },
): Promise<WebhookEndpoint | null> {
  return change(db, args, 'webhook.events_changed', (tx) => subscribe(tx, args.workspaceId, args.events));
}

function change(
  db: Database,
  { workspaceId, by }: { workspaceId: string; by: ChangedBy },
  action: string,
  work: (tx: Queryable) => Promise<unknown>,
): Promise<WebhookEndpoint | null> {
  return changeWithBacklog(db, async (tx) => {
    // `before` must be what the change replaces, so the row is held from reading to writing.
    await tx.query('SELECT 1 FROM webhook_endpoints WHERE workspace_id = $1 FOR NO KEY UPDATE', [workspaceId]);
    const before = await readEndpoint(tx, workspaceId);
    if (before === null) return null;
    await work(tx);
    const after = (await readEndpoint(tx, workspaceId))!;
    await auditEndpoint(tx, { workspaceId, by, action, before, after });
    return after;
  });
}

export function auditEndpoint(
  tx: Queryable,
  told: {
    workspaceId: string;
    by: ChangedBy;
    action: string;
    before: WebhookEndpoint | null;
    after: WebhookEndpoint | null;
  },
): Promise<void> {
  const { workspaceId, by, action, before, after } = told;
  const target = `webhook:${(after ?? before)?.id}`;
  return recordAudit(tx, { workspaceId, by, action, target, before: shown(before), after: shown(after) });
}

/** An address may carry a key in its path or query; its host and whether it changed are what matters here. */
function shown(endpoint: WebhookEndpoint | null): object | null {
  if (endpoint === null) return null;
  return {
    origin: new URL(endpoint.url).origin,
    urlSha256: createHash('sha256').update(endpoint.url).digest('hex'),
    events: endpoint.events,
    disabledAt: endpoint.disabledAt,
    disabledReason: endpoint.disabledReason,
    breaker: endpoint.breaker.state,
  };
}
