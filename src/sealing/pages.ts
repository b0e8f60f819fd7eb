/**
 * A table read by its primary key, page by page, however long it is and whatever is written to
 * it meanwhile. Used by rotation.
 */
import type { Queryable } from '../store/database.ts';
import { keySql } from './sealed-columns.ts';

export interface PagedTable {
  table: string;
  /** The primary key with its types, in order. */
  key: Readonly<Record<string, string>>;
}

/** `columns` is SQL of the row `t`; each row has its `key` as texts. */
export async function* pagesOf<Row extends object>(
  database: Queryable,
  from: PagedTable,
  columns: string,
  pageRows: number,
): AsyncGenerator<(Row & { key: string[] })[], void, undefined> {
  const names = Object.keys(from.key);
  const types = Object.values(from.key);
  const order = names.map((name) => `t.${name}`).join(', ');
  const after = types.map((type, index) => `$${index + 1}::${type}`).join(', ');
  let last: string[] | null = null;
  for (;;) {
    const rows: (Row & { key: string[] })[] = await database.query<Row & { key: string[] }>(
      `SELECT ${keySql(from)} AS key, ${columns} FROM ${from.table} t
       ${last === null ? '' : `WHERE (${order}) > (${after})`} ORDER BY ${order} LIMIT ${pageRows}`,
      last ?? [],
    );
    if (rows.length > 0) yield rows;
    if (rows.length < pageRows) return;
    last = rows.at(-1)!.key;
  }
}

/** `t` joined with the keys `$1…`, a list for each part; `more` are columns beside them: names and types. */
export function unnestSql(from: PagedTable, more: Readonly<Record<string, string>> = {}): string {
  const columns = { ...from.key, ...more };
  const lists = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  return `unnest(${lists.join(', ')}) AS v (${Object.keys(columns)
    .map((name) => `"v_${name}"`)
    .join(', ')})`;
}

export function matchesSql(from: PagedTable): string {
  return Object.keys(from.key)
    .map((name) => `t.${name} = v."v_${name}"`)
    .join(' AND ');
}

/** The lists for `unnestSql`. */
export function keyLists(from: PagedTable, keys: readonly (readonly string[])[]): string[][] {
  return Object.keys(from.key).map((_name, part) => keys.map((key) => key[part] ?? ''));
}
