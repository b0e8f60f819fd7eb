/**
 * A plain table for lists that are read whole. On a phone each row becomes a card, with the column's name at its
 * cell.
 */
import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  name: string;
  /** Nothing stands in the heading: of a column of buttons. */
  isHidden?: boolean;
  isNumber?: boolean;
  /** One or two words, or an address: never broken. */
  isShort?: boolean;
  cell(row: Row): ComponentChildren;
}

export function Table<Row>(props: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
}) {
  const { label, columns, rows, keyOf } = props;
  return (
    <div class="table-box">
      <table class="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ name, isHidden, isNumber }) => (
              <th key={name} scope="col" class={isNumber === true ? 'number' : undefined}>
                {isHidden === true ? <span class="hidden">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, isHidden, cell, ...column }) => (
                <td
                  key={name}
                  data-name={isHidden === true ? undefined : name}
                  class={isHidden === true ? 'buttons' : classOf(column)}
                >
                  <div class="value">{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classOf({ isNumber, isShort }: Pick<Column<never>, 'isNumber' | 'isShort'>): string | undefined {
  if (isNumber === true) return 'number';
  return isShort === true ? 'short' : undefined;
}
