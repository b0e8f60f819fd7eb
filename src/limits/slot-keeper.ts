/**
 * Keeps Redis' view of call slots true to the table of calls: each 10 s it renews the slots of all active calls,
 * whoever placed them, and those that nobody renews (their call is over, or its placement died) end by themselves
 * within 45 s. Any number of nodes may run it. Not needed without Redis: in PostgreSQL the row itself is the slot.
 */

import type { Logger } from 'pino';
import type { Clock } from '../../media/contract/clock.ts';
import { ACTIVE } from '../calls/active-statuses.ts';
import type { Queryable } from '../store/database.ts';
import { createSweeper } from '../store/sweeper.ts';
import { callHold } from './call-limits.ts';
import { slotNames } from './limit-names.ts';
import type { Hold, LimitStore } from './limit-store.ts';
import { REDIS_SLOT_MS } from './slot-admission.ts';

export interface SlotKeeper {
  /** Once by hand; how many calls. */
  keep(): Promise<number>;
  /** Idempotent. */
  close(): void;
}

const KEEP_EVERY_MS = 10_000;

export interface CountedCall {
  callUuid: string;
  workspaceId: string;
  /** Null: a web session. */
  lineId: string | null;
  channel: string;
}

/** What an active call holds, phone or web. */
export function holdOf({ callUuid, workspaceId, lineId, channel }: CountedCall): Hold {
  if (lineId !== null && channel !== 'web') return callHold({ workspaceId, lineId }, callUuid);
  return { holder: callUuid, names: [slotNames.workspaceCalls(workspaceId), slotNames.webSessions(workspaceId)] };
}

export function startSlotKeeper(deps: {
  database: Queryable;
  redis: LimitStore;
  clock: Pick<Clock, 'after' | 'nowMs'>;
  log: Logger;
}): SlotKeeper {
  async function keep(): Promise<number> {
    const calls = await deps.database.query<CountedCall>(
      `SELECT call_uuid AS "callUuid", workspace_id AS "workspaceId", line_id AS "lineId", channel FROM calls
       WHERE status IN ${ACTIVE}`,
    );
    await deps.redis.renew(calls.map(holdOf), REDIS_SLOT_MS);
    return calls.length;
  }

  const sweeper = createSweeper({
    clock: deps.clock,
    everyMs: KEEP_EVERY_MS,
    sweep: keep,
    failed: (err) => deps.log.debug({ err }, 'call slots could not be renewed in Redis'),
  });
  sweeper.start();
  return { keep, close: () => void sweeper.close() };
}
