/**
 * What is signed for good with a key that was made of the master key: the ends of audit chains and the permits of
 * calls. Rotation signs anew what the former key had signed, and nothing else: a signature that
 * was none stays one that is none.
 */
import { createChainSigner } from '../audit/chain-signer.ts';
import { fixedKeys, type MasterKey } from '../sealing/master-keys.ts';
import { keyLists, matchesSql, type PagedTable, pagesOf, unnestSql } from '../sealing/pages.ts';
import type { Database } from '../store/database.ts';
import { createPermitSigner } from '../suppressions/dial-permit.ts';

interface SignedColumn extends PagedTable {
  column: string;
  /** SQL for what is signed, of the row `t`, as `signed`. */
  signed: string;
  signer(keys: readonly MasterKey[]): {
    sign(row: SignedRow): Buffer;
    verify(row: SignedRow): boolean;
  };
}

interface SignedRow {
  key: string[];
  signed: Buffer;
  signature: Buffer;
}

export const SIGNED_COLUMNS: readonly SignedColumn[] = [
  {
    table: 'audit_seals',
    column: 'mac',
    key: { chain: 'text', position: 'bigint' },
    signed: 't.hash',
    signer(keys) {
      const signer = createChainSigner(fixedKeys(keys));
      return {
        sign: ({ key: [chain = '', position], signed }) => signer.macOf(chain, Number(position), signed),
        verify: ({ key: [chain = '', position], signed, signature }) =>
          signer.isOurs(chain, Number(position), signed, signature),
      };
    },
  },
  {
    table: 'dial_permits',
    column: 'signature',
    key: { id: 'uuid' },
    signed: `convert_to(t.body, 'UTF8')`,
    signer(keys) {
      const signer = createPermitSigner(fixedKeys(keys));
      return {
        sign: ({ signed }) => signer.sign(signed.toString('utf8')),
        verify: ({ signed, signature }) => signer.verify(signed.toString('utf8'), signature),
      };
    },
  },
];

const PAGE_ROWS = 500;

/** The newest key first. `passedOver`: somebody held the row; it is for the next pass. */
export async function resignAll(
  database: Database,
  keys: readonly MasterKey[],
  breathe: () => Promise<void>,
): Promise<{ resigned: number; passedOver: number }> {
  const report = { resigned: 0, passedOver: 0 };
  for (const column of SIGNED_COLUMNS) {
    const newest = column.signer(keys.slice(0, 1));
    const former = column.signer(keys.slice(1));
    const columns = `${column.signed} AS signed, t.${column.column} AS signature`;
    for await (const page of pagesOf<Omit<SignedRow, 'key'>>(database, column, columns, PAGE_ROWS)) {
      const due = page.filter((row) => !newest.verify(row) && former.verify(row));
      if (due.length === 0) continue;
      const rows = await database.query(
        `WITH held AS (
           SELECT v.* FROM ${column.table} t JOIN ${unnestSql(column, { anew: 'bytea', former: 'bytea' })} ON ${matchesSql(column)}
           WHERE t.${column.column} = v.v_former FOR NO KEY UPDATE OF t SKIP LOCKED)
         UPDATE ${column.table} t SET ${column.column} = v.v_anew FROM held AS v WHERE ${matchesSql(column)} RETURNING 1 AS one`,
        [
          ...keyLists(
            column,
            due.map(({ key }) => key),
          ),
          due.map((row) => newest.sign(row)),
          due.map((row) => row.signature),
        ],
      );
      report.resigned += rows.length;
      report.passedOver += due.length - rows.length;
      await breathe();
    }
  }
  return report;
}
