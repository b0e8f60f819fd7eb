/**
 * One page of a workspace's audit, newest first, for the API and the command line. Rows that
 * wait for their place are linked first.
 */
import type { Database } from '../store/database.ts';
import { chainOf } from './audit-entry.ts';
import type { ChainSigner } from './chain-signer.ts';
import { linkAudit } from './link-chain.ts';

export interface AuditView {
  /** Its number in the workspace's chain, from 1. */
  position: number;
  at: Date;
  actor: string;
  /** Of an actor who is a person of the console; the chain itself has the id alone. */
  actorName: string | null;
  action: string;
  target: string;
  ip: string | null;
  requestId: string | null;
  before: unknown;
  after: unknown;
  /** 64 hexadecimal digits. */
  prevHash: string;
  hash: string;
}

export interface AuditFilters {
  /** Of each: any of these. */
  actor?: readonly string[] | undefined;
  action?: readonly string[] | undefined;
  target?: readonly string[] | undefined;
}

export async function readAudit(
  database: Database,
  /** Null: seals are left to control. */
  signer: ChainSigner | null,
  asked: { workspaceId: string | null; filters: AuditFilters; before: number | null; limit: number },
): Promise<AuditView[]> {
  const chain = chainOf(asked.workspaceId);
  await linkAudit(database, signer, chain);
  const { actor, action, target } = asked.filters;
  const rows = await database.query<
    Omit<AuditView, 'position' | 'before' | 'after'> & { position: string; before: string | null; after: string | null }
  >(
    `SELECT position, at, actor,
            (SELECT u.name FROM users u WHERE u.id = CASE WHEN actor ~ '^user:[0-9a-f-]{36}$' THEN substr(actor, 6)::uuid END) AS "actorName",
            action, target, ip, request_id AS "requestId", before, after,
            encode(prev_hash, 'hex') AS "prevHash", encode(hash, 'hex') AS hash
     FROM audit_log
     WHERE chain = $1 AND position IS NOT NULL AND ($2::bigint IS NULL OR position < $2)
       AND ($3::text[] IS NULL OR actor = ANY ($3)) AND ($4::text[] IS NULL OR action = ANY ($4))
       AND ($5::text[] IS NULL OR target = ANY ($5))
     ORDER BY position DESC LIMIT $6`,
    [chain, asked.before, actor ?? null, action ?? null, target ?? null, asked.limit],
  );
  return rows.map(({ position, before, after, ...row }) => ({
    position: Number(position),
    ...row,
    before: parsed(before),
    after: parsed(after),
  }));
}

/** A row that was tampered with must not hide the others. */
function parsed(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
