/**
 * What an audit row says, and the exact bytes that its hash covers. Pure. Written by `record-audit.ts`, put in its
 * chain by `link-chain.ts`, checked by `verify-chain.ts`.
 */
import { createHash } from 'node:crypto';

/**
 * Who did it: an API key or an operator's key by its public id, a person who is signed in at the console by his id, a
 * person at the command line, a part of the service itself.
 */
export type AuditActor =
  | `key:${string}`
  | `operator:${string}`
  | `user:${string}`
  | `cli:${string}`
  | `system:${string}`;

/** Who asked for a change, and from where; the same for all that one request changes. */
export interface ChangedBy {
  actor: AuditActor;
  ip?: string | null;
  requestId?: string | null;
}

/** For changes that say nothing better, such as those of tests and of the demo. */
export const BY_OPERATOR: ChangedBy = { actor: 'cli:operator' };

/** A row of one chain as it is stored. */
export interface AuditRow {
  id: string;
  chain: string;
  at: Date;
  actor: string;
  action: string;
  target: string;
  ip: string | null;
  requestId: string | null;
  /** Canonical JSON, or null. */
  before: string | null;
  after: string | null;
}

/** What stands in for all that comes before a chain's first row. */
export const FIRST_PREV_HASH = Buffer.alloc(32);

/** SHA-256 over a JSON array of all fields, the row's place in its chain and the hash of the row before. */
export function hashOf(row: AuditRow, position: number, prevHash: Buffer): Buffer {
  const covered = [
    row.chain,
    position,
    row.id,
    row.at.toISOString(),
    row.actor,
    row.action,
    row.target,
    row.ip,
    row.requestId,
    row.before,
    row.after,
    prevHash.toString('hex'),
  ];
  return createHash('sha256').update(JSON.stringify(covered)).digest();
}

/** The columns of `AuditRow`, for SELECT. */
export const AUDIT_COLUMNS = 'id, chain, at, actor, action, target, ip, request_id AS "requestId", before, after';

export const SERVICE_CHAIN = 'service';

export function chainOf(workspaceId: string | null): string {
  return workspaceId ?? SERVICE_CHAIN;
}
