/**
 * Calls that ring, are answered, end and have a recording in the database alone: events in numbers that no emulated
 * phone rings for. Written through the outbox as the service does, through whatever is struck. Nobody rings for them
 * here: the sweep finds them. Called by `run.ts`.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { recordCallEvent } from '../../../bench/harness/record-call-event.ts';
import type { Tenant } from '../../../bench/webhooks/load.ts';
import { systemClock } from '../../../media/contract/clock.ts';
import { readCall } from '../../../src/calls/call-row.ts';
import type { Database } from '../../../src/store/database.ts';
import type { CallEventName } from '../../../src/webhooks/events.ts';

const BEFORE: readonly CallEventName[] = ['call.ringing', 'call.answered'];
const AFTER: readonly CallEventName[] = ['call.completed', 'recording.ready'];
export const EVENTS_PER_TERMINATION = BEFORE.length + AFTER.length;
const RETRY_MS = 100;

/** Spread evenly over `lengthMs`. Resolves with the calls' ids when all are committed. */
export async function terminateCalls(
  database: Database,
  tenant: Tenant,
  { count, seed, lengthMs }: { count: number; seed: number; lengthMs: number },
): Promise<string[]> {
  const startMs = performance.now();
  const running: Promise<string>[] = [];
  for (let index = 0; index < count; index++) {
    await wait(Math.max(0, startMs + (index * lengthMs) / count - performance.now()));
    running.push(terminate(database, tenant, seed));
  }
  return Promise.all(running);
}

async function terminate(database: Database, tenant: Tenant, seed: number): Promise<string> {
  const callUuid = uuidv7();
  const { workspaceId, agentId, lineId } = tenant;
  await untilCommitted(database, { workspaceId, callUuid }, BEFORE, async (tx) => {
    await tx.query(
      `INSERT INTO calls (call_uuid, workspace_id, agent_id, agent_version, line_id, to_number, from_number, name,
         request_id, status, carrier, metadata, answered_at)
       VALUES ($1, $2, $3, 1, $4, '+14155550123', '+14155550100', 'Bench', 'bench', 'in_progress', 'plivo', $5, now())`,
      [callUuid, workspaceId, agentId, lineId, { seed: String(seed) }],
    );
  });
  await untilCommitted(database, { workspaceId, callUuid }, AFTER, async (tx) => {
    await tx.query(
      `UPDATE calls SET status = 'completed', ended_reason = 'user_hangup', hangup_by = 'caller', fault = 'none', ended_at = now()
        WHERE call_uuid = $1`,
      [callUuid],
    );
  });
  return callUuid;
}

/** A commit whose answer was lost is seen by the event that it left behind. */
async function untilCommitted(
  database: Database,
  { workspaceId, callUuid }: { workspaceId: string; callUuid: string },
  events: readonly CallEventName[],
  change: (tx: Pick<Database, 'query'>) => Promise<void>,
): Promise<void> {
  for (;;) {
    try {
      await database.transaction(async (tx) => {
        const sql = 'SELECT 1 AS one FROM webhook_events WHERE call_uuid = $1 AND event = $2';
        if ((await tx.query(sql, [callUuid, events[0]])).length > 0) return;
        await change(tx);
        const call = (await readCall(tx, workspaceId, callUuid))!;
        for (const event of events) await recordCallEvent(tx, call, event, {}, systemClock);
      });
      return;
    } catch {
      await wait(RETRY_MS);
    }
  }
}
