/** A row of links that may scroll sideways: the one that is marked as here is always seen. */
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** For the row; `here`: what is marked in it now. */
export function useSeenItem<Row extends HTMLElement>(here: string | undefined): RefObject<Row | null> {
  const row = useRef<Row>(null);
  useEffect(() => {
    row.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [here]);
  return row;
}
