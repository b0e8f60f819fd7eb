/**
 * What a refusal of the operator's policy leaves behind, in the transaction that refused: a ceiling's first of the day,
 * an audit row and `workspace.limit_reached`; a destination's, an audit row a day for each key and each country or
 * kinds that it tried. What comes after it that day is refused silently.
 */
import type { Clock } from '../../media/contract/clock.ts';
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Queryable } from '../store/database.ts';
import { recordWorkspaceEvent } from '../webhooks/outbox.ts';
import { type DayRefusal, isFirstToday } from './daily-usage.ts';
import type { DestinationVerdict } from './destination-rule.ts';

/** Returns ids of webhook deliveries: dispatch them after the commit. */
export async function tellOfRefusal(
  tx: Queryable,
  call: { workspaceId: string; enterprise: string; requestId: string },
  refusal: DayRefusal,
  clock: Clock,
): Promise<string[]> {
  const { workspaceId, enterprise, requestId } = call;
  const { reached, day, countedFor, usage } = refusal;
  if (!(await isFirstToday(tx, { workspaceId, countedFor }, reached.name))) return [];
  const keyId = countedFor === '' ? null : countedFor;
  const limit = { name: reached.name, value: reached.value, resetsAt: day.resetsAt.toISOString() };
  const { calls, usedSeconds, reservedSeconds } = usage;
  await recordAudit(tx, {
    workspaceId,
    by: { actor: 'system:ceilings', requestId },
    action: 'workspace.limit_reached',
    target: keyId === null ? `workspace:${workspaceId}` : `key:${keyId}`,
    after: { ...limit, calls, usedSeconds, reservedSeconds },
  });
  const event = 'workspace.limit_reached';
  return recordWorkspaceEvent(tx, { workspaceId, enterprise, event, fields: { limit, keyId } }, clock);
}

/** The number itself is in no audit: a chain cannot forget. */
export async function auditRefusedDestination(
  tx: Queryable,
  call: { workspaceId: string; keyId?: string | undefined; requestId: string; by?: ChangedBy | undefined },
  { country, kinds }: DestinationVerdict,
): Promise<void> {
  const { workspaceId, keyId = '', requestId } = call;
  const tried = [country ?? 'none', ...kinds].join(' ');
  if (!(await isFirstToday(tx, { workspaceId, countedFor: keyId }, `destination ${tried}`))) return;
  await recordAudit(tx, {
    workspaceId,
    by: call.by ?? { actor: 'system:placement', requestId },
    action: 'call.destination_refused',
    target: keyId === '' ? `workspace:${workspaceId}` : `key:${keyId}`,
    after: { country, kinds },
  });
}
