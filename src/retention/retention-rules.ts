/**
 * How long what is kept of a call: days by kind, the workspace's own, and an agent's where it has another. Used by the
 * hourly purge, the settings API and the command line. Without a rule a kind is kept 365 days (contract §11).
 */
import type { ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { CALL_PARTS, type CallPart } from '../calls/call-parts.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';

export const DEFAULT_RETENTION_DAYS = 365;
export const MOST_RETENTION_DAYS = 3650;

/** Days by kind; 0 removes at the next purge after the call's end. */
export type Retention = Record<CallPart, number>;

export interface RetentionScope {
  workspaceId: string;
  /** Null: the workspace's own. */
  agentId: string | null;
}

/** What holds for the scope, defaults filled in: for an agent its own rules, else the workspace's. */
export async function readRetention(database: Queryable, { workspaceId, agentId }: RetentionScope): Promise<Retention> {
  const rows = await database.query<{ agentId: string | null; kind: CallPart; days: number }>(
    `SELECT agent_id AS "agentId", kind, days FROM retention_rules
      WHERE workspace_id = $1 AND (agent_id IS NULL OR agent_id = $2)`,
    [workspaceId, agentId],
  );
  const found = (kind: CallPart, whose: (row: { agentId: string | null }) => boolean): number | undefined =>
    rows.find((row) => row.kind === kind && whose(row))?.days;
  return Object.fromEntries(
    CALL_PARTS.map((kind) => [
      kind,
      found(kind, (row) => row.agentId !== null) ??
        found(kind, (row) => row.agentId === null) ??
        DEFAULT_RETENTION_DAYS,
    ]),
  ) as Retention;
}

/** Sets the named kinds; null takes the rule away, so that the next wider one holds. Throws an `OperatorError`. */
export async function setRetention(
  database: Database,
  scope: RetentionScope,
  change: Partial<Record<CallPart, number | null>>,
  by: ChangedBy,
  /** Throws when what is there is not what the editor has seen. */
  expect?: (current: Retention) => void,
): Promise<Retention> {
  for (const [kind, days] of Object.entries(change)) {
    if (!CALL_PARTS.includes(kind as CallPart))
      throw new OperatorError('invalid', `There is no kind '${kind}'; kinds are ${CALL_PARTS.join(', ')}.`);
    if (days !== null && (!Number.isInteger(days) || days < 0 || days > MOST_RETENTION_DAYS)) {
      throw new OperatorError('invalid', `${kind} is kept from 0 to ${MOST_RETENTION_DAYS} whole days, not ${days}.`);
    }
  }
  return database.transaction(async (tx) => {
    // Two editors at once: the second sees what the first has written.
    await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR UPDATE', [scope.workspaceId]);
    await assertAgent(tx, scope);
    const before = await readRetention(tx, scope);
    expect?.(before);
    for (const [kind, days] of Object.entries(change)) {
      await tx.query(
        'DELETE FROM retention_rules WHERE workspace_id = $1 AND agent_id IS NOT DISTINCT FROM $2 AND kind = $3',
        [scope.workspaceId, scope.agentId, kind],
      );
      if (days === null) continue;
      await tx.query('INSERT INTO retention_rules (workspace_id, agent_id, kind, days) VALUES ($1, $2, $3, $4)', [
        scope.workspaceId,
        scope.agentId,
        kind,
        days,
      ]);
    }
    const after = await readRetention(tx, scope);
    await recordAudit(tx, {
      workspaceId: scope.workspaceId,
      by,
      action: 'retention.changed',
      target: scope.agentId === null ? `workspace:${scope.workspaceId}` : `agent:${scope.agentId}`,
      before: { ...before },
      after: { ...after },
    });
    return after;
  });
}

async function assertAgent(tx: Queryable, { workspaceId, agentId }: RetentionScope): Promise<void> {
  if (agentId === null) return;
  const found = await tx.query('SELECT 1 AS one FROM agents WHERE workspace_id = $1 AND id = $2', [
    workspaceId,
    agentId,
  ]);
  if (found.length === 0) throw new OperatorError('not_found', `The workspace has no agent '${agentId}'.`);
}
