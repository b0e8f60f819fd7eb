/** The webhook outbox as seen by whatever changes a call: a leaf, so that those may use each other. */
import type { Clock } from '../../media/contract/clock.ts';
import type { CallRecord } from '../calls/call-record.ts';
import type { Queryable } from '../store/database.ts';
import type { CallEventName } from './events.ts';

/** `recordCallEvent` of the webhook outbox: writes event and deliveries, returns the deliveries' ids. */
export type RecordCallEvent = (
  tx: Queryable,
  call: CallRecord,
  event: CallEventName,
  extra: Record<string, unknown>,
  clock: Clock,
) => Promise<string[]>;
