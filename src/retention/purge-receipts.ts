/**
 * Receipts of what was removed for good: written with the removal, read by whoever has to prove it. They hold nothing
 * of what is gone.
 */
import { v7 as uuidv7 } from 'uuid';
import type { CallPart } from '../calls/call-parts.ts';
import type { Queryable } from '../store/database.ts';

export interface PurgeReceipt {
  id: string;
  callUuid: string;
  kinds: CallPart[];
  cause: 'retention' | 'erase';
  actor: string;
  removed: Removed;
  at: Date;
}

/** Rows by what they were; each recording with the SHA-256 of its file, null when it was never finished. */
export interface Removed {
  recordings: { epoch: number; sha256: string | null }[];
  turns: number;
  events: number;
  webhookBodies: number;
}

export async function writeReceipt(
  tx: Queryable,
  receipt: Omit<PurgeReceipt, 'id'> & { workspaceId: string },
): Promise<void> {
  await tx.query(
    `INSERT INTO purge_receipts (id, workspace_id, call_uuid, kinds, cause, actor, removed, at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      uuidv7(),
      receipt.workspaceId,
      receipt.callUuid,
      receipt.kinds,
      receipt.cause,
      receipt.actor,
      JSON.stringify(receipt.removed),
      receipt.at,
    ],
  );
}

/** Newest first; of some calls, or of the workspace. `before` is the id of the last one of the page before. */
export function listReceipts(
  database: Queryable,
  asked: { workspaceId: string; callUuid?: readonly string[] | undefined; before?: string | null; limit: number },
): Promise<PurgeReceipt[]> {
  return database.query<PurgeReceipt>(
    `SELECT id, call_uuid AS "callUuid", kinds, cause, actor, removed, at FROM purge_receipts
      WHERE workspace_id = $1 AND ($2::uuid[] IS NULL OR call_uuid = ANY ($2)) AND ($3::uuid IS NULL OR id < $3)
      ORDER BY id DESC LIMIT $4`,
    [asked.workspaceId, asked.callUuid ?? null, asked.before ?? null, asked.limit],
  );
}
