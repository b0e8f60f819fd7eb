/**
 * Gives the audit rows that were committed since the last time their places in their chains. Run each second by control
 * (`start-audit.ts`), and by whoever is about to read or verify a chain. One at a time for each chain, by the lock on
 * the chain's end; the changes themselves never wait for it. With a key it also signs the new end.
 */
import type { Database, Queryable } from '../store/database.ts';
import { AUDIT_COLUMNS, type AuditRow, FIRST_PREV_HASH, hashOf } from './audit-entry.ts';
import type { ChainSigner } from './chain-signer.ts';

const BATCH_ROWS = 500;

/** Links all that wait, of one chain or of all. Returns how many rows. */
export async function linkAudit(database: Database, signer: ChainSigner | null, chain?: string): Promise<number> {
  const chains =
    chain === undefined
      ? (await database.query<{ chain: string }>('SELECT DISTINCT chain FROM audit_log WHERE position IS NULL')).map(
          (row) => row.chain,
        )
      : [chain];
  let linked = 0;
  for (const one of chains) {
    for (let batch = BATCH_ROWS; batch === BATCH_ROWS; linked += batch) {
      batch = await database.transaction((tx) => linkBatch(tx, signer, one));
    }
  }
  return linked;
}

interface ChainEnd {
  position: string;
  hash: Buffer;
}

async function lockEnd(tx: Queryable, chain: string): Promise<ChainEnd | undefined> {
  const sql = 'SELECT position, hash FROM audit_chains WHERE chain = $1 FOR UPDATE';
  return (await tx.query<ChainEnd>(sql, [chain]))[0];
}

async function beginChain(tx: Queryable, chain: string): Promise<ChainEnd | undefined> {
  const waiting = 'SELECT 1 AS one FROM audit_log WHERE chain = $1 AND position IS NULL LIMIT 1';
  if ((await tx.query(waiting, [chain])).length === 0) return undefined;
  await tx.query('INSERT INTO audit_chains (chain, position, hash) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING', [
    chain,
    FIRST_PREV_HASH,
  ]);
  return lockEnd(tx, chain);
}

async function linkBatch(tx: Queryable, signer: ChainSigner | null, chain: string): Promise<number> {
  const end = (await lockEnd(tx, chain)) ?? (await beginChain(tx, chain));
  if (end === undefined) return 0;
  // After the lock, in a statement of its own: one that waited for it would see what was linked meanwhile as waiting.
  const rows = await tx.query<AuditRow>(
    `SELECT ${AUDIT_COLUMNS} FROM audit_log WHERE chain = $1 AND position IS NULL ORDER BY id LIMIT ${BATCH_ROWS}`,
    [chain],
  );
  if (rows.length === 0) return 0;
  let position = Number(end.position);
  let hash = end.hash;
  const links = rows.map((row) => {
    const prevHash = hash;
    position += 1;
    hash = hashOf(row, position, prevHash);
    return { id: row.id, position, prevHash, hash };
  });
  await tx.query(
    `WITH linked AS (
       UPDATE audit_log a SET position = l.position, prev_hash = l.prev_hash, hash = l.hash
       FROM unnest($2::uuid[], $3::bigint[], $4::bytea[], $5::bytea[]) AS l (id, position, prev_hash, hash)
       WHERE a.id = l.id),
     sealed AS (
       INSERT INTO audit_seals (chain, position, hash, mac) SELECT $1, $6, $7, $8 WHERE $8::bytea IS NOT NULL
       ON CONFLICT (chain, position) DO NOTHING)
     UPDATE audit_chains SET position = $6::bigint, hash = $7::bytea WHERE chain = $1`,
    [
      chain,
      links.map((link) => link.id),
      links.map((link) => link.position),
      links.map((link) => link.prevHash),
      links.map((link) => link.hash),
      position,
      hash,
      signer === null ? null : signer.macOf(chain, position, hash),
    ],
  );
  return rows.length;
}
