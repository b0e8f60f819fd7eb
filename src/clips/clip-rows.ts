/** The rows of clips. Every statement names the workspace, or the agent whose workspace it is. */

import type { StoreKind } from '../recordings/recording-store.ts';
import type { Queryable } from '../store/database.ts';

export interface Clip {
  id: string;
  name: string;
  /** What it says; may be empty. */
  text: string;
  kind: string;
  durationMs: number;
  loudnessLufs: number;
  /** Of the WAV. */
  sizeBytes: number;
  createdAt: Date;
}

/** With where its sound lies, and under which key. */
export interface ClipRow extends Clip {
  workspaceId: string;
  keySealed: Buffer;
  sha256: string;
  store: StoreKind;
  objectKey: string;
  encryptedBytes: number;
}

const SHOWN = `c.id, c.name, c.text, c.kind, c.duration_ms AS "durationMs", c.loudness_lufs AS "loudnessLufs",
  c.size_bytes AS "sizeBytes", c.created_at AS "createdAt"`;
const ALL = `${SHOWN}, c.workspace_id AS "workspaceId", c.key_sealed AS "keySealed", c.sha256, c.store, c.object_key AS "objectKey", c.sealed_bytes AS "encryptedBytes"`;

export function listClips(database: Queryable, workspaceId: string): Promise<Clip[]> {
  return database.query<Clip>(
    `SELECT ${SHOWN} FROM clips c WHERE c.workspace_id = $1 AND c.deleted_at IS NULL ORDER BY c.name`,
    [workspaceId],
  );
}

/** By id or name. */
export async function findClip(database: Queryable, workspaceId: string, named: string): Promise<ClipRow | undefined> {
  const [row] = await database.query<ClipRow>(
    `SELECT ${ALL} FROM clips c WHERE c.workspace_id = $1 AND c.deleted_at IS NULL AND (c.id::text = lower($2) OR c.name = $2)
     ORDER BY c.id::text = lower($2) DESC LIMIT 1`,
    [workspaceId, named],
  );
  return row;
}

/** Those of the agent's workspace that are called one of `named`, by id or name. */
export function clipsOfAgent(database: Queryable, agentId: string, named: readonly string[]): Promise<ClipRow[]> {
  return database.query<ClipRow>(
    `SELECT ${ALL} FROM clips c JOIN agents a ON a.workspace_id = c.workspace_id
     WHERE a.id = $1 AND c.deleted_at IS NULL AND (c.name = ANY ($2) OR c.id::text = ANY ($3))`,
    [agentId, named, named.map((name) => name.toLowerCase())],
  );
}

/** All of the workspace, none of which may go away before the transaction ends. */
export function holdClips(tx: Queryable, workspaceId: string): Promise<Clip[]> {
  return tx.query<Clip>(
    `SELECT ${SHOWN} FROM clips c WHERE c.workspace_id = $1 AND c.deleted_at IS NULL ORDER BY c.name FOR SHARE`,
    [workspaceId],
  );
}

export async function insertClip(
  tx: Queryable,
  workspaceId: string,
  row: Omit<ClipRow, 'createdAt' | 'workspaceId'>,
): Promise<Clip> {
  const [stored] = await tx.query<Clip>(
    `INSERT INTO clips AS c (id, workspace_id, name, text, kind, duration_ms, loudness_lufs, key_sealed, size_bytes, sha256, store,
        object_key, sealed_bytes)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
     ON CONFLICT (workspace_id, name) WHERE deleted_at IS NULL DO NOTHING RETURNING ${SHOWN}`,
    [
      row.id,
      workspaceId,
      row.name,
      row.text,
      row.kind,
      row.durationMs,
      row.loudnessLufs,
      row.keySealed,
      row.sizeBytes,
      row.sha256,
      row.store,
      row.objectKey,
      row.encryptedBytes,
    ],
  );
  if (stored === undefined) throw new ClipNameTaken();
  return stored;
}

export class ClipNameTaken extends Error {}

/** From the commit on nobody can read it. */
export async function forgetClip(tx: Queryable, workspaceId: string, id: string, now: Date): Promise<void> {
  await tx.query(
    'UPDATE clips SET deleted_at = $3, remove_at = $3, key_sealed = NULL WHERE workspace_id = $1 AND id = $2',
    [workspaceId, id, now],
  );
}

export interface RemovableClip {
  id: string;
  store: StoreKind;
  objectKey: string;
}

/** Deleted ones of any workspace, whose encrypted bytes are still there. */
export function removableClips(database: Queryable, now: Date, most: number): Promise<RemovableClip[]> {
  return database.query<RemovableClip>(
    `SELECT id, store, object_key AS "objectKey" FROM clips WHERE remove_at <= $1 ORDER BY remove_at LIMIT ${most}`,
    [now],
  );
}

/** `again` null: all is gone. */
export async function clipRemoved(database: Queryable, id: string, again: Date | null): Promise<void> {
  await database.query('UPDATE clips SET remove_at = $2 WHERE id = $1 AND deleted_at IS NOT NULL', [id, again]);
}
