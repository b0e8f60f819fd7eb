/** A row of links that may scroll sideways: the one that is marked as here is always seen. */
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Of the shade that tells that there is more. */
const EDGE_PX = 16;

/** For the row; `here`: what is marked in it now. */
export function useSeenItem<Row extends HTMLElement>(here: string | undefined): RefObject<Row | null> {
  const row = useRef<Row>(null);
  useEffect(() => {
    const element = row.current;
    const item = element?.querySelector('[aria-current]');
    if (element == null || item == null) return;
    const box = element.getBoundingClientRect();
    const { left, right } = item.getBoundingClientRect();
    // The row alone: the page stays where it is, also where the row is below what is seen of it.
    if (left < box.left) element.scrollLeft -= box.left - left + EDGE_PX;
    else if (right > box.right) element.scrollLeft += right - box.right + EDGE_PX;
  }, [here]);
  return row;
}
