/**
 * Writes one audit row in the transaction of the change that it reports, so that neither exists without the other.
 * Called by everything that changes settings, and by everything that an API key changes. It takes no lock and waits for
 * nobody: the row gets its place in the chain a moment later (`link-chain.ts`). `at` is the database's clock, the same
 * for all nodes.
 */
import { v7 as uuidv7 } from 'uuid';
import { afterCommit } from '../store/after-commit.ts';
import type { Queryable } from '../store/database.ts';
import { type Write, writeTogether } from '../store/joint-write.ts';
import { type ChangedBy, chainOf } from './audit-entry.ts';
import { auditedJson } from './audited-value.ts';
import { tellRecorded } from './recorded.ts';

export interface AuditEntry {
  /** Null: a change that belongs to no workspace. */
  workspaceId: string | null;
  by: ChangedBy;
  /** Noun and past participle: `line.limits_changed`, `lead.created`, `call.placed`. */
  action: string;
  /** Noun and id: `line:0199…`, `lead:0199…`, `call:0199…`. */
  target: string;
  /** What it was, and what it is; only what matters. Secrets never, personal data by id alone. */
  before?: unknown;
  after?: unknown;
}

export async function recordAudit(tx: Queryable, entry: AuditEntry): Promise<void> {
  await writeTogether(tx, [auditWrite(tx, entry)]);
}

/** The same as a part of a statement of this transaction. */
export function auditWrite(tx: Queryable, entry: AuditEntry): Write {
  const { workspaceId, by, action, target } = entry;
  const chain = chainOf(workspaceId);
  afterCommit(tx, () => tellRecorded(chain));
  return {
    sql: (place) =>
      `INSERT INTO audit_log (id, chain, workspace_id, at, actor, action, target, ip, request_id, before, after)
       VALUES (${place(uuidv7())}, ${place(chain)}, ${place(workspaceId)}, date_trunc('milliseconds', clock_timestamp()),
               ${place(by.actor)}, ${place(action)}, ${place(target)}, ${place(by.ip ?? null)}, ${place(by.requestId ?? null)},
               ${place(auditedJson(entry.before))}, ${place(auditedJson(entry.after))})`,
  };
}
