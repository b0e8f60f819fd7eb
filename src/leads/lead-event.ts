/** The opt-in event `lead.updated` (contract §6), written in the transaction of the change that it tells of. */
import type { Clock } from '../../media/contract/clock.ts';
import type { Queryable } from '../store/database.ts';
import { recordWorkspaceEvent } from '../webhooks/outbox.ts';
import { readLead } from './lead-store.ts';
import { leadView } from './lead-view.ts';

const EVENT = 'lead.updated';

/** Returns ids of deliveries: none when the workspace has not asked for the event, or the lead is gone. */
export async function tellOfLead(
  tx: Queryable,
  told: { workspaceId: string; leadId: string },
  clock: Clock,
): Promise<string[]> {
  const [wanted] = await tx.query<{ slug: string }>(
    `SELECT w.slug FROM workspaces w JOIN webhook_endpoints e ON e.workspace_id = w.id
     WHERE w.id = $1 AND $2 = ANY (e.events)`,
    [told.workspaceId, EVENT],
  );
  if (wanted === undefined) return [];
  const lead = await readLead(tx, told.workspaceId, told.leadId);
  if (lead === undefined) return [];
  const fields = { leadId: lead.id, lead: leadView(lead, wanted.slug) };
  return recordWorkspaceEvent(
    tx,
    { workspaceId: told.workspaceId, enterprise: wanted.slug, event: EVENT, fields },
    clock,
  );
}
