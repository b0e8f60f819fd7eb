import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AUDIT_COLUMNS, type AuditRow, FIRST_PREV_HASH, hashOf } from '../../../src/audit/audit-entry.ts';
import { createChainSigner } from '../../../src/audit/chain-signer.ts';
import { linkAudit } from '../../../src/audit/link-chain.ts';
import { recordAudit } from '../../../src/audit/record-audit.ts';
import { type ChainReport, verifyChain } from '../../../src/audit/verify-chain.ts';
import type { Database, Queryable } from '../../../src/store/database.ts';
import { createWorkspace } from '../../../src/workspaces/workspaces.ts';
import { type OpenTestDatabase, openTestDatabase } from '../../support/test-database.ts';

let test: OpenTestDatabase;
let database: Database;
let workspaceId: string;
let count = 0;
const sealer = createChainSigner('ab'.repeat(32));

beforeAll(async () => {
  test = await openTestDatabase({ maxConnections: 12 });
  database = test.database;
});
afterAll(() => test.close());
/** A chain of 12 rows, linked in three batches, each sealed; the first says that the workspace was made. */
beforeEach(async () => {
  workspaceId = (await createWorkspace(database, { slug: `w${count++}`, name: 'W' })).id;
  for (let position = 2; position <= 12; position++) {
    await record(database, position);
    if (position % 4 === 0) await linkAudit(database, sealer, workspaceId);
  }
});

function record(tx: Queryable, number: number): Promise<void> {
  return recordAudit(tx, {
    workspaceId,
    by: { actor: 'key:AbCdEfGh', ip: '192.0.2.7', requestId: `r${number}` },
    action: 'thing.changed',
    target: `thing:${number}`,
    before: { count: number - 1 },
    after: { count: number },
  });
}

const verify = (): Promise<ChainReport> => verifyChain(database, workspaceId, sealer);
const faultsOf = async (): Promise<string[]> =>
  (await verify()).faults.map((fault) =>
    [fault.position, fault.kind, fault.belongsAt ?? fault.toPosition].filter((part) => part !== undefined).join(' '),
  );

/** What somebody with every right on the database can do. */
function tamper(sql: string, parameters: unknown[] = []): Promise<void> {
  return database.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    await tx.query(sql, parameters);
  });
}

const at = (position: number): string => `chain = '${workspaceId}' AND position = ${position}`;

describe('a chain of audit rows', () => {
  it('holds 12 rows without a fault, each hash made from the row before it', async () => {
    expect(await verify()).toMatchObject({ rows: 12, seals: 3, faults: [], end: { position: 12 } });
    const rows = await database.query<AuditRow & { prev_hash: Buffer; hash: Buffer }>(
      `SELECT ${AUDIT_COLUMNS}, prev_hash, hash FROM audit_log WHERE chain = $1 ORDER BY position`,
      [workspaceId],
    );
    let prevHash: Buffer = FIRST_PREV_HASH;
    for (const [index, row] of rows.entries()) {
      expect(row.prev_hash.equals(prevHash)).toBe(true);
      expect(row.hash.equals(hashOf(row, index + 1, prevHash))).toBe(true);
      prevHash = row.hash;
    }
  });

  it('has no row of a change that was rolled back', async () => {
    await expect(
      database.transaction(async (tx) => {
        await record(tx, 13);
        throw new Error('the change failed');
      }),
    ).rejects.toThrow('the change failed');
    expect(await linkAudit(database, sealer, workspaceId)).toBe(0);
  });

  it('takes 60 changes at once, two linkers at a time, and puts each at one place', async () => {
    await Promise.all(
      Array.from({ length: 60 }, async (_none, index) => {
        await database.transaction((tx) => record(tx, 13 + index));
        if (index % 10 === 0) await linkAudit(database, sealer);
      }),
    );
    await linkAudit(database, sealer);
    expect(await verify()).toMatchObject({ rows: 72, faults: [], end: { position: 72 } });
  });

  it.each(['actor', 'action', 'target', 'ip', 'request_id', 'before', 'after'])(
    'shows that %s of row 5 was changed',
    async (column) => {
      await tamper(`UPDATE audit_log SET ${column} = '"x"' WHERE ${at(5)}`);
      expect(await faultsOf()).toEqual(['5 changed']);
    },
  );

  it('shows a time that was moved by 1 ms, and a value that was taken away', async () => {
    await tamper(`UPDATE audit_log SET at = at + interval '1 millisecond' WHERE ${at(3)}`);
    await tamper(`UPDATE audit_log SET ip = NULL WHERE ${at(9)}`);
    expect(await faultsOf()).toEqual(['3 changed', '9 changed']);
  });

  it('shows a changed row whose own hash was made anew, by the row after it and its seal', async () => {
    await rehash(8, { after: '{"count":99}' });
    expect(await faultsOf()).toEqual(['8 seal', '9 does_not_follow']);
  });

  it('shows a chain that was written anew from row 2 on, by its seals alone', async () => {
    await rewriteFrom(2);
    expect(await faultsOf()).toEqual(['4 seal', '8 seal', '12 seal']);
    expect((await verifyChain(database, workspaceId, null)).faults.length).toBeGreaterThan(0);
    await tamper(
      `UPDATE audit_seals s SET hash = a.hash FROM audit_log a WHERE a.chain = s.chain AND a.position = s.position`,
    );
    expect((await verifyChain(database, workspaceId, null)).faults).toEqual([]);
    expect(await faultsOf()).toEqual(['4 seal', '8 seal', '12 seal']);
  });

  it('shows one removed row, three of them, the first and the last', async () => {
    await tamper(`DELETE FROM audit_log WHERE chain = '${workspaceId}' AND position IN (1, 4, 6, 7, 8, 12)`);
    expect(await faultsOf()).toEqual(['1 removed', '4 removed', '6 removed 8', '12 removed']);
  });

  it('shows that the end was removed although the noted end was moved back with it', async () => {
    await tamper(`DELETE FROM audit_log WHERE chain = '${workspaceId}' AND position > 10`);
    await tamper(
      `UPDATE audit_chains c SET position = 10, hash = (SELECT hash FROM audit_log WHERE ${at(10)}) WHERE chain = '${workspaceId}'`,
    );
    expect(await faultsOf()).toEqual(['12 removed']);
  });

  it('shows a removed row that was hidden by giving the rows after it new numbers', async () => {
    await tamper(`DELETE FROM audit_log WHERE ${at(5)}`);
    for (let position = 6; position <= 12; position++) {
      await tamper(`UPDATE audit_log SET position = ${position - 1} WHERE ${at(position)}`);
    }
    const faults = await faultsOf();
    expect(faults[0]).toBe('5 moved 6');
    expect(faults).toContain('12 removed');
  });

  it('shows an inserted row, also when it was hashed to fit, and what it pushed on', async () => {
    for (let position = 12; position >= 7; position--) {
      await tamper(`UPDATE audit_log SET position = ${position + 1} WHERE ${at(position)}`);
    }
    await tamper(
      `INSERT INTO audit_log SELECT gen_random_uuid(), chain, workspace_id, at, actor, 'forged', target, ip, request_id, before, after, 7, hash, hash
       FROM audit_log WHERE ${at(6)}`,
    );
    await rehash(7, {});
    const faults = await faultsOf();
    expect(faults[0]).toBe('7 inserted');
    expect(faults).toContain('8 moved 7');
  });

  it('shows a row that was put behind the end', async () => {
    await tamper(
      `INSERT INTO audit_log SELECT gen_random_uuid(), chain, workspace_id, at, actor, 'forged', target, ip, request_id, before, after, 13, hash, hash
       FROM audit_log WHERE ${at(12)}`,
    );
    await rehash(13, {});
    expect(await faultsOf()).toEqual(['13 inserted']);
  });

  it('shows two rows that changed places', async () => {
    await tamper(`UPDATE audit_log SET position = 1000 WHERE ${at(3)}`);
    await tamper(`UPDATE audit_log SET position = 3 WHERE ${at(10)}`);
    await tamper(`UPDATE audit_log SET position = 10 WHERE ${at(1000)}`);
    expect(await faultsOf()).toEqual(['3 moved 10', '10 moved 3']);
  });

  it('cannot be changed, emptied or shortened by a slip: only the link may be added', async () => {
    for (const sql of [
      `UPDATE audit_log SET actor = 'cli:other' WHERE ${at(5)}`,
      `DELETE FROM audit_log WHERE ${at(5)}`,
      'TRUNCATE audit_log',
    ]) {
      await expect(database.query(sql)).rejects.toThrow(/the audit log only grows/);
    }
    expect(await faultsOf()).toEqual([]);
  });
});

async function rehash(position: number, change: Partial<AuditRow>): Promise<void> {
  const [row] = await database.query<AuditRow & { prev_hash: Buffer }>(
    `SELECT ${AUDIT_COLUMNS}, prev_hash FROM audit_log WHERE ${at(position)}`,
  );
  const changed = { ...row!, ...change };
  await tamper(`UPDATE audit_log SET after = $1, hash = $2 WHERE ${at(position)}`, [
    changed.after,
    hashOf(changed, position, changed.prev_hash),
  ]);
}

async function rewriteFrom(first: number): Promise<void> {
  const rows = await database.query<AuditRow & { prev_hash: Buffer }>(
    `SELECT ${AUDIT_COLUMNS}, prev_hash FROM audit_log WHERE chain = $1 AND position >= $2 ORDER BY position`,
    [workspaceId, first],
  );
  let prevHash = rows[0]!.prev_hash;
  for (const [index, row] of rows.entries()) {
    const changed = { ...row, actor: 'cli:nobody' };
    const hash = hashOf(changed, first + index, prevHash);
    await tamper(`UPDATE audit_log SET actor = $1, prev_hash = $2, hash = $3 WHERE ${at(first + index)}`, [
      changed.actor,
      prevHash,
      hash,
    ]);
    prevHash = hash;
  }
  await tamper(`UPDATE audit_chains SET hash = $1 WHERE chain = '${workspaceId}'`, [prevHash]);
}
