/**
 * Reads a chain from its first row to its end and says which rows were changed, removed, inserted or moved, by number.
 * Called by `parley audit verify` and the API. Reads in batches; holds no more than one of them, and one hash a seal.
 */
import type { Queryable } from '../store/database.ts';
import { AUDIT_COLUMNS, type AuditRow, FIRST_PREV_HASH, hashOf } from './audit-entry.ts';
import type { ChainSigner } from './chain-signer.ts';

export const AUDIT_FAULT_KINDS = [
  /** The row's fields are not those that were hashed. */
  'changed',
  /** Rows are missing: one, or all from `position` to `toPosition`. */
  'removed',
  /** A row that was not there when the rows around it were linked. */
  'inserted',
  /** An unchanged row at another place; it was linked as number `belongsAt`. */
  'moved',
  /** The row is whole but does not follow the one before: that one was changed and hashed anew. */
  'does_not_follow',
  /** The chain's end is not what was noted as its end. */
  'end',
  /** The row that was sealed here was another one: the chain was written anew, or the master key is another. */
  'seal',
] as const;
export type AuditFaultKind = (typeof AUDIT_FAULT_KINDS)[number];

export interface AuditFault {
  position: number;
  kind: AuditFaultKind;
  /** The row that stands there now. */
  id: string | null;
  toPosition?: number;
  belongsAt?: number;
}

export interface ChainReport {
  chain: string;
  rows: number;
  /** What an operator may note elsewhere, to prove later that nothing before it was changed. */
  end: { position: number; hash: string };
  seals: number;
  /** In order; at most `MOST_FAULTS` of them, `moreFaults` says whether there were more. */
  faults: AuditFault[];
  moreFaults: boolean;
}

type LinkedRow = AuditRow & { position: string; prevHash: Buffer; hash: Buffer };

const BATCH_ROWS = 1_000;
const MOST_FAULTS = 100;
/** How far from where it stands a moved row's own place is looked for. */
const MOVED_REACH = 2_000;

export async function verifyChain(
  database: Queryable,
  chain: string,
  /** Null: seals are compared with the rows, but whether they are ours is not known. */
  signer: ChainSigner | null,
): Promise<ChainReport> {
  const [noted] = await database.query<{ position: string; hash: Buffer }>(
    'SELECT position, hash FROM audit_chains WHERE chain = $1',
    [chain],
  );
  const seals = await readSeals(database, chain);
  const sealCount = seals.size;
  const faults = new Map<number, AuditFault>();
  const found = (fault: AuditFault): void => {
    if (!faults.has(fault.position) && faults.size <= MOST_FAULTS) faults.set(fault.position, fault);
  };
  const stands = new Map<number, { whole: boolean; id: string }>();
  let rows = 0;
  let last = 0;
  let lastMoved = false;
  let lastHash: Buffer = FIRST_PREV_HASH;
  for (;;) {
    const batch = await database.query<LinkedRow>(
      `SELECT ${AUDIT_COLUMNS}, position, prev_hash AS "prevHash", hash FROM audit_log
       WHERE chain = $1 AND position > $2 ORDER BY position LIMIT ${BATCH_ROWS}`,
      [chain, last],
    );
    for (const row of batch) {
      const position = Number(row.position);
      rows += 1;
      const gap = position > last + 1;
      if (gap) found({ position: last + 1, kind: 'removed', id: null, ...rangeTo(last + 1, position - 1) });
      const whole = hashOf(row, position, row.prevHash).equals(row.hash);
      if (!whole) found(changedOrMoved(row, position));
      else if (!gap && !lastMoved && !row.prevHash.equals(lastHash))
        found({ position, kind: 'does_not_follow', id: row.id });
      if (faults.size > 0 && stands.size < 2 * MOVED_REACH) stands.set(position, { whole, id: row.id });
      else if (faults.size === 0) {
        // Only the last row can turn out to be one that was put in.
        stands.clear();
        stands.set(position, { whole, id: row.id });
      }
      const seal = seals.get(position);
      if (seal !== undefined) {
        const same =
          seal.hash.equals(row.hash) && (signer === null || signer.isOurs(chain, position, seal.hash, seal.mac));
        if (!same) found({ position, kind: 'seal', id: row.id });
        seals.delete(position);
      }
      lastMoved = faults.get(position)?.kind === 'moved';
      last = position;
      lastHash = row.hash;
    }
    if (batch.length < BATCH_ROWS) break;
  }
  for (const position of seals.keys()) if (position > last) found({ position, kind: 'removed', id: null });
  const endPosition = Number(noted?.position ?? 0);
  if (last < endPosition) found({ position: last + 1, kind: 'removed', id: null, ...rangeTo(last + 1, endPosition) });
  else if (last > endPosition)
    found({
      position: endPosition + 1,
      kind: 'inserted',
      id: stands.get(endPosition + 1)?.id ?? null,
      ...rangeTo(endPosition + 1, last),
    });
  else if (noted !== undefined && !noted.hash.equals(lastHash)) found({ position: last, kind: 'end', id: null });

  const all = withInserted([...faults.values()], stands).toSorted((left, right) => left.position - right.position);
  return {
    chain,
    rows,
    end: { position: last, hash: lastHash.toString('hex') },
    seals: sealCount,
    faults: all.slice(0, MOST_FAULTS),
    moreFaults: all.length > MOST_FAULTS,
  };
}

const rangeTo = (from: number, to: number): { toPosition?: number } => (to > from ? { toPosition: to } : {});

/** Its hash is right for another place: then it was moved there, or others were moved around it. */
function changedOrMoved(row: LinkedRow, position: number): AuditFault {
  for (let far = 1; far <= MOVED_REACH; far++) {
    for (const place of [position - far, position + far]) {
      if (place > 0 && hashOf(row, place, row.prevHash).equals(row.hash)) {
        return { position, kind: 'moved', id: row.id, belongsAt: place };
      }
    }
  }
  return { position, kind: 'changed', id: row.id };
}

/** Who stands, whole, where a moved row belongs was put there. */
function withInserted(faults: AuditFault[], stands: ReadonlyMap<number, { whole: boolean; id: string }>): AuditFault[] {
  const byPosition = new Map(faults.map((fault) => [fault.position, fault]));
  for (const { kind, belongsAt } of faults) {
    if (kind !== 'moved' || belongsAt === undefined) continue;
    const there = stands.get(belongsAt);
    const known = byPosition.get(belongsAt)?.kind;
    if (there === undefined || known === 'moved' || known === 'removed') continue;
    byPosition.set(belongsAt, { position: belongsAt, kind: 'inserted', id: there.id });
  }
  return [...byPosition.values()];
}

async function readSeals(database: Queryable, chain: string): Promise<Map<number, { hash: Buffer; mac: Buffer }>> {
  const rows = await database.query<{ position: string; hash: Buffer; mac: Buffer }>(
    'SELECT position, hash, mac FROM audit_seals WHERE chain = $1 ORDER BY position',
    [chain],
  );
  return new Map(rows.map((row) => [Number(row.position), { hash: row.hash, mac: row.mac }]));
}
