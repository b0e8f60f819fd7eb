/** Workspaces with a receiver each, and calls that end in them at a steady rate. Used by `main.ts`. */
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../media/contract/clock.ts';
import { readCall } from '../../src/calls/call-row.ts';
import type { Sealer } from '../../src/sealing/sealer.ts';
import type { Database } from '../../src/store/database.ts';
import { setEndpoint } from '../../src/webhooks/endpoint.ts';
import { addLine } from '../../src/workspaces/lines.ts';
import { createWorkspace } from '../../src/workspaces/workspaces.ts';
import { recordCallEvent } from '../harness/record-call-event.ts';

export interface Tenant {
  slug: string;
  workspaceId: string;
  agentId: string;
  lineId: string;
  webhookSecret: string;
}

export async function createTenants(
  database: Database,
  sealer: Sealer,
  args: { prefix: string; count: number; urlOf(index: number): string },
): Promise<Tenant[]> {
  const tenants: Tenant[] = [];
  for (let index = 0; index < args.count; index++) {
    const slug = `${args.prefix}-${index}`;
    const { id: workspaceId } = await createWorkspace(database, { slug, name: slug });
    const agentId = uuidv7();
    await database.query(
      `INSERT INTO agents (id, workspace_id, name, direction, current_version) VALUES ($1, $2, 'Bench', 'outbound', 1)`,
      [agentId, workspaceId],
    );
    const line = await addLine(database, sealer, { slug, number: '+14155550100', carrier: 'plivo' });
    const { secret } = await setEndpoint(database, sealer, workspaceId, args.urlOf(index));
    tenants.push({ slug, workspaceId, agentId, lineId: line.id, webhookSecret: secret ?? '' });
  }
  return tenants;
}

/** One call that ends: row and event in one transaction. Returns the event's id and when it was committed. */
export async function endCall(
  deps: { database: Database; clock: Clock; ring(deliveryIds: readonly string[]): void },
  tenant: Tenant,
): Promise<{ eventId: string; committedAtEpochMs: number }> {
  const callUuid = uuidv7();
  const done = await deps.database.transaction(async (tx) => {
    await tx.query(
      `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, to_number, from_number, name,
         request_id, status, ended_reason, hangup_by, fault, carrier, answered_at, ended_at)
       VALUES ($1, $2, $3, 1, $4, '+14155550123', '+14155550100', 'Bench', 'bench', 'completed', 'user_hangup', 'caller',
         'none', 'plivo', now(), now())`,
      [callUuid, tenant.workspaceId, tenant.agentId, tenant.lineId],
    );
    const call = (await readCall(tx, tenant.workspaceId, callUuid))!;
    const deliveryIds = await recordCallEvent(tx, call, 'call.completed', {}, deps.clock);
    const [event] = await tx.query<{ id: string }>('SELECT id FROM webhook_events WHERE call_uuid = $1', [callUuid]);
    return { deliveryIds, eventId: event!.id };
  });
  const committedAtEpochMs = performance.timeOrigin + performance.now();
  deps.ring(done.deliveryIds);
  return { eventId: done.eventId, committedAtEpochMs };
}
