/**
 * Changes of the suppression list that somebody asked for: with their audit row, in one transaction. Numbers stand in
 * it by id alone.
 */
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Database } from '../store/database.ts';
import { type Suppression, suppress, unsuppress } from './suppression-list.ts';

const MOST_IDS_NAMED = 100;

export interface ListChange {
  workspaceId: string;
  numbers: readonly string[];
  by: ChangedBy;
}

/** Returns how many are new. */
export async function addToList(
  database: Database,
  change: ListChange & Pick<Suppression, 'reason' | 'source'>,
): Promise<number> {
  const { workspaceId, numbers, by, reason, source } = change;
  return database.transaction(async (tx) => {
    const ids = await suppress(tx, workspaceId, numbers, { reason, source, callUuid: null });
    const after = { added: ids.length, ids: ids.slice(0, MOST_IDS_NAMED) };
    const entry = { workspaceId, by, action: 'suppressions.added', target: `workspace:${workspaceId}`, after };
    if (ids.length > 0) await recordAudit(tx, entry);
    return ids.length;
  });
}

/** Returns how many were there. */
export async function takeOffList(database: Database, change: ListChange): Promise<number> {
  const { workspaceId, numbers, by } = change;
  return database.transaction(async (tx) => {
    const ids = await unsuppress(tx, workspaceId, numbers);
    const before = { removed: ids.length, ids: ids.slice(0, MOST_IDS_NAMED) };
    const entry = { workspaceId, by, action: 'suppressions.removed', target: `workspace:${workspaceId}`, before };
    if (ids.length > 0) await recordAudit(tx, entry);
    return ids.length;
  });
}
