/** The pages of a list that were read so far, one after the other by their cursors. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface CursorPage<Row> {
  data: Row[];
  nextCursor: string | null;
}

export interface CursorList<Row> {
  rows: readonly Row[];
  /** More are to be had. */
  hasMore: boolean;
  isLoading: boolean;
  error: unknown;
  more(): void;
  reload(): void;
}

interface State<Row> {
  of: string;
  rows: Row[];
  cursor: string | null;
  isLoading: boolean;
  error: unknown;
}

/**
 * `inputs`: of what the list is; another list begins anew. `refreshMs`: how often the newest page is read again, so
 * that rows that changed are seen and new ones stand above; rows keep their place. Null: only when the page is seen
 * again.
 */
export function useCursorList<Row>(
  inputs: readonly unknown[],
  read: (cursor: string | null, signal: AbortSignal) => Promise<CursorPage<Row>>,
  keyOf: (row: Row) => string,
  refreshMs: number | null = null,
): CursorList<Row> {
  const of = JSON.stringify(inputs);
  const empty: State<Row> = { of, rows: [], cursor: null, isLoading: true, error: undefined };
  const [state, setState] = useState(empty);
  const [round, setRound] = useState(0);
  const isAsking = useRef(false);
  const latest = useRef({ of, read, keyOf });
  latest.current = { of, read, keyOf };

  const ask = useCallback(
    async (cursor: string | null, signal: AbortSignal): Promise<void> => {
      isAsking.current = true;
      try {
        const page = await latest.current.read(cursor, signal);
        if (latest.current.of !== of) return;
        setState((before) => {
          const kept = cursor === null || before.of !== of ? [] : before.rows;
          return { of, rows: [...kept, ...page.data], cursor: page.nextCursor, isLoading: false, error: undefined };
        });
      } catch (error) {
        if (latest.current.of === of && !signal.aborted)
          setState((before) => ({ ...before, of, isLoading: false, error }));
      } finally {
        isAsking.current = false;
      }
    },
    [of],
  );

  // Read anew by `reload`.
  useEffect(() => {
    const gone = new AbortController();
    setState((before) => (before.of === of ? { ...before, isLoading: true, error: undefined } : empty));
    void ask(null, gone.signal);
    return () => gone.abort();
  }, [ask, round]);

  useEffect(() => {
    const gone = new AbortController();
    const refresh = async (): Promise<void> => {
      if (document.visibilityState !== 'visible' || isAsking.current) return;
      try {
        const page = await latest.current.read(null, gone.signal);
        setState((before) =>
          before.of === of && !before.isLoading
            ? { ...before, error: undefined, ...merged(before, page, latest.current.keyOf) }
            : before,
        );
      } catch {
        // The shell says that the service does not answer.
      }
    };
    const timer = refreshMs === null ? undefined : setInterval(refresh, refreshMs);
    document.addEventListener('visibilitychange', refresh);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', refresh);
      gone.abort();
    };
  }, [of, refreshMs]);

  const more = useCallback(() => {
    if (state.cursor !== null && !isAsking.current) void ask(state.cursor, new AbortController().signal);
  }, [ask, state.cursor]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const { rows, cursor, isLoading, error } = state.of === of ? state : empty;
  return { rows, hasMore: cursor !== null, isLoading, error, more, reload };
}

/** The newest page over what is there. Where more came than a page holds, the list begins anew. */
function merged<Row>(
  before: State<Row>,
  page: CursorPage<Row>,
  keyOf: (row: Row) => string,
): Pick<State<Row>, 'rows' | 'cursor'> {
  const known = new Set(before.rows.map(keyOf));
  if (!page.data.some((row) => known.has(keyOf(row)))) return { rows: page.data, cursor: page.nextCursor };
  const fresh = new Map(page.data.map((row) => [keyOf(row), row]));
  const added = page.data.filter((row) => !known.has(keyOf(row)));
  return { rows: [...added, ...before.rows.map((row) => fresh.get(keyOf(row)) ?? row)], cursor: before.cursor };
}
