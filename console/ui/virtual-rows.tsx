/**
 * Rows of one height, of which only those that are seen exist: a list of a hundred thousand costs what one window full
 * does. Arrow keys, Home and End move between the rows' links; screen readers are told the place of each and how many
 * there are.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface VirtualRowsProps<Row> {
  label: string;
  rows: readonly Row[];
  /** More are to be had. */
  hasMore: boolean;
  /** Names of the columns, in their order. */
  columns: readonly string[];
  /** The kind of row, for its widths. */
  class: string;
  keyOf(row: Row): string;
  /** Its cells, each an element with the role `cell`; the first holds the row's link. */
  children(row: Row, index: number): ComponentChildren;
  /** The end is near. */
  onNearEnd(): void;
  end?: ComponentChildren;
}

const NARROW = '(max-width: 760px)';
const ROW_PX = { wide: 40, narrow: 68 };
/** Beyond what is seen, on both sides. */
const MARGIN_ROWS = 8;
const NEAR_ROWS = 40;

export function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const change = (): void => setNarrow(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, []);
  return isNarrow;
}

export function VirtualRows<Row>(props: VirtualRowsProps<Row>) {
  const { rows, columns, hasMore, onNearEnd } = props;
  const box = useRef<HTMLDivElement>(null);
  const rowPx = useIsNarrow() ? ROW_PX.narrow : ROW_PX.wide;
  const [seen, setSeen] = useState({ topPx: 0, heightPx: 800 });
  const wanted = useRef<number | null>(null);

  useEffect(() => {
    const element = box.current!;
    const look = (): void => setSeen({ topPx: element.scrollTop, heightPx: element.clientHeight });
    look();
    element.addEventListener('scroll', look, { passive: true });
    const resized = new ResizeObserver(look);
    resized.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      resized.disconnect();
    };
  }, []);

  const first = Math.max(0, Math.floor(seen.topPx / rowPx) - MARGIN_ROWS);
  const last = Math.min(rows.length, Math.ceil((seen.topPx + seen.heightPx) / rowPx) + MARGIN_ROWS);
  const isNear = hasMore && last > rows.length - NEAR_ROWS;
  // Asked once for each number of rows.
  useEffect(() => {
    if (isNear) onNearEnd();
  }, [isNear, rows.length]);

  useEffect(() => {
    if (wanted.current === null) return;
    const link = box.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"] a`);
    if (link == null) return;
    wanted.current = null;
    link.focus({ preventScroll: true });
  });

  function move(event: KeyboardEvent): void {
    const row = (event.target as HTMLElement).closest<HTMLElement>('[data-row]');
    if (row === null || rows.length === 0) return;
    const at = Number(row.dataset['row']);
    const page = Math.max(1, Math.floor(seen.heightPx / rowPx) - 1);
    const target = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: rows.length - 1,
      PageDown: at + page,
      PageUp: at - page,
    }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const next = Math.min(rows.length - 1, Math.max(0, target));
    wanted.current = next;
    const element = box.current!;
    const [topPx, endPx] = [next * rowPx, (next + 1) * rowPx];
    if (topPx < element.scrollTop) element.scrollTop = topPx;
    else if (endPx > element.scrollTop + element.clientHeight) element.scrollTop = endPx - element.clientHeight;
    setSeen({ topPx: element.scrollTop, heightPx: element.clientHeight });
  }

  return (
    <div
      ref={box}
      class={`rows ${props.class}`}
      role="table"
      aria-label={props.label}
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      onKeyDown={move}
    >
      <div role="rowgroup" class="row-head">
        <div role="row" class="row head" aria-rowindex={1}>
          {columns.map((name) => (
            <div key={name} role="columnheader">
              {name}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="row-space" style={{ height: `${rows.length * rowPx}px` }}>
        {rows.slice(first, last).map((row, index) => (
          <div
            key={props.keyOf(row)}
            role="row"
            class="row"
            data-row={first + index}
            aria-rowindex={first + index + 2}
            style={{ transform: `translateY(${(first + index) * rowPx}px)`, height: `${rowPx}px` }}
          >
            {props.children(row, first + index)}
          </div>
        ))}
      </div>
      {props.end}
    </div>
  );
}
