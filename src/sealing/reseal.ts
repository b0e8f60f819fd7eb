/**
 * Seals every value anew that does not lie under the newest key, in place: bounded batches, each its own transaction,
 * opened and sealed in this process's memory alone. It waits for no lock: a row that somebody holds is taken with the
 * next pass. Stopped at any point, it goes on where it is called again, because a value says
 * itself under which key it lies.
 */
import type { Database } from '../store/database.ts';
import { fixedKeys, type MasterKey } from './master-keys.ts';
import { keyLists, matchesSql, pagesOf, unnestSql } from './pages.ts';
import { rowSql, SEALED_COLUMNS, type SealedColumn, type SealedRow } from './sealed-columns.ts';
import { createSealer, SEALED_HEAD_BYTES, type Sealer, sealedHeadOf } from './sealer.ts';

export interface PassOptions {
  database: Database;
  /** The newest first. */
  keys: readonly MasterKey[];
  batchRows: number;
  /** After each batch. */
  breathe(): Promise<void>;
  /** So many more are under the newest key. */
  resealed(values: number): void;
}

export interface PassReport {
  resealed: number;
  /** Somebody held the row, or changed it meanwhile. */
  passedOver: number;
  /** Under none of the keys: `table.column`, and how many. */
  unreadable: Map<string, number>;
}

const PAGE_ROWS = 1_000;

export async function resealAll(options: PassOptions): Promise<PassReport> {
  const report: PassReport = { resealed: 0, passedOver: 0, unreadable: new Map() };
  const keys = fixedKeys(options.keys);
  const sealer = createSealer(keys);
  const head = sealedHeadOf(keys.current());
  for (const column of SEALED_COLUMNS) {
    const isOther = `substring(${column.bytes} FROM 1 FOR ${SEALED_HEAD_BYTES}) <> '\\x${head.toString('hex')}'::bytea`;
    for await (const page of pagesOf<{ isOther: boolean | null }>(
      options.database,
      column,
      `${isOther} AS "isOther"`,
      PAGE_ROWS,
    )) {
      const others = page.filter((row) => row.isOther === true).map((row) => row.key);
      for (let from = 0; from < others.length; from += options.batchRows) {
        const batch = others.slice(from, from + options.batchRows);
        const done = await resealBatch(options.database, column, batch, isOther, sealer);
        report.resealed += done.resealed;
        report.passedOver += batch.length - done.resealed - done.unreadable;
        const name = `${column.table}.${column.column}`;
        if (done.unreadable > 0) report.unreadable.set(name, (report.unreadable.get(name) ?? 0) + done.unreadable);
        options.resealed(done.resealed);
        await options.breathe();
      }
    }
  }
  return report;
}

function resealBatch(
  database: Database,
  column: SealedColumn,
  keys: readonly string[][],
  isOther: string,
  sealer: Sealer,
): Promise<{ resealed: number; unreadable: number }> {
  return database.transaction(async (tx) => {
    const rows = await tx.query<SealedRow>(
      `SELECT ${rowSql(column)} FROM ${column.table} t JOIN ${unnestSql(column)} ON ${matchesSql(column)}
       WHERE ${isOther} FOR NO KEY UPDATE OF t SKIP LOCKED`,
      keyLists(column, keys),
    );
    const anew = rows.flatMap((row) => {
      const place = column.placeOf(row);
      try {
        return [{ key: row.key, sealed: sealer.seal(sealer.open(row.sealed, place), place) }];
      } catch {
        return [];
      }
    });
    if (anew.length > 0) {
      await tx.query(
        `UPDATE ${column.table} t SET ${column.column} = ${column.stored.replace('$bytes', 'v."v_sealed"')}
         FROM ${unnestSql(column, { sealed: 'bytea' })} WHERE ${matchesSql(column)}`,
        [
          ...keyLists(
            column,
            anew.map(({ key }) => key),
          ),
          anew.map(({ sealed }) => sealed),
        ],
      );
    }
    return { resealed: anew.length, unreadable: rows.length - anew.length };
  });
}

/** How many values lie under the newest of the keys, and how many do not, by `table.column`. */
export async function countSealed(
  database: Database,
  newest: MasterKey,
): Promise<{ column: string; under: number; other: number }[]> {
  const counts: { column: string; under: number; other: number }[] = [];
  const head = sealedHeadOf(newest).toString('hex');
  for (const { table, column, bytes } of SEALED_COLUMNS) {
    const [row] = await database.query<{ under: number; other: number }>(
      `SELECT count(*) FILTER (WHERE is_newest)::float AS under, count(*) FILTER (WHERE NOT is_newest)::float AS other
       FROM (SELECT substring(${bytes} FROM 1 FOR ${SEALED_HEAD_BYTES}) = '\\x${head}'::bytea AS is_newest FROM ${table} t) AS values`,
    );
    counts.push({ column: `${table}.${column}`, under: row?.under ?? 0, other: row?.other ?? 0 });
  }
  return counts;
}
