/** An event of a call, recorded by itself: as whoever changes the call records it beside its change. */
import type { Clock } from '../../media/contract/clock.ts';
import { CallChange } from '../../src/calls/call-change.ts';
import type { CallRecord } from '../../src/calls/call-record.ts';
import { lockCall } from '../../src/calls/call-row.ts';
import { readTurns } from '../../src/calls/call-turns.ts';
import type { Queryable } from '../../src/store/database.ts';
import type { CallEventName } from '../../src/webhooks/events.ts';
import { tellOfCall } from '../../src/webhooks/outbox.ts';

/** `call`: as it stands in the body. Returns the deliveries' ids. */
export async function recordCallEvent(
  tx: Queryable,
  call: CallRecord,
  event: CallEventName,
  extra: Record<string, unknown>,
  clock: Clock,
): Promise<string[]> {
  const change = new CallChange({ ...(await lockCall(tx, call.callUuid))!, ...call });
  await tellOfCall(change, { event, extra, turns: () => readTurns(tx, call.callUuid) }, clock);
  await change.write(tx);
  return change.deliveryIds;
}
