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

async function linkBatch(tx: Queryable, signer: ChainSigner | null, chain: string): Promise<number> {
  const waiting = await tx.query('SELECT 1 AS one FROM audit_log WHERE chain = $1 AND position IS NULL LIMIT 1', [
    chain,
  ]);
  if (waiting.length === 0) return 0;
  await tx.query('INSERT INTO audit_chains (chain, position, hash) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING', [
    chain,
    FIRST_PREV_HASH,
  ]);
  const [end] = await tx.query<{ position: string; hash: Buffer }>(
    'SELECT position, hash FROM audit_chains WHERE chain = $1 FOR UPDATE',
    [chain],
  );
  const rows = await tx.query<AuditRow>(
    `SELECT ${AUDIT_COLUMNS} FROM audit_log WHERE chain = $1 AND position IS NULL ORDER BY id LIMIT ${BATCH_ROWS}`,
    [chain],
  );
  if (end === undefined || rows.length === 0) return 0;
  let position = Number(end.position);
  let hash = end.hash;
  const links = rows.map((row) => {
    const prevHash = hash;
    position += 1;
    hash = hashOf(row, position, prevHash);
    return { id: row.id, position, prevHash, hash };
  });
  await tx.query(
    `UPDATE audit_log a SET position = l.position, prev_hash = l.prev_hash, hash = l.hash
     FROM unnest($1::uuid[], $2::bigint[], $3::bytea[], $4::bytea[]) AS l (id, position, prev_hash, hash)
     WHERE a.id = l.id`,
    [
      links.map((link) => link.id),
      links.map((link) => link.position),
      links.map((link) => link.prevHash),
      links.map((link) => link.hash),
    ],
  );
  await tx.query('UPDATE audit_chains SET position = $2, hash = $3 WHERE chain = $1', [chain, position, hash]);
  if (signer !== null) {
    await tx.query(
      'INSERT INTO audit_seals (chain, position, hash, mac) VALUES ($1, $2, $3, $4) ON CONFLICT (chain, position) DO NOTHING',
      [chain, position, hash, signer.macOf(chain, position, hash)],
    );
  }
  return rows.length;
}
