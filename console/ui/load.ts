/**
 * What a page asks for when it is shown: the answer, whether it is under way, what went wrong. What was there stays
 * while it is asked for again, so that nothing jumps.
 */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Loaded<Data> {
  data: Data | undefined;
  error: unknown;
  isLoading: boolean;
  reload(): void;
  /** Puts in what an answer to a change said. */
  set(data: Data): void;
}

/** Asks when it is first shown and whenever one of `inputs` is another. */
export function useLoad<Data>(load: (signal: AbortSignal) => Promise<Data>, inputs: readonly unknown[]): Loaded<Data> {
  const [state, setState] = useState<{ data?: Data; error?: unknown; isLoading: boolean; of: unknown }>({
    isLoading: true,
    of: null,
  });
  const [round, setRound] = useState(0);
  const key = JSON.stringify(inputs);
  const latest = useRef(load);
  latest.current = load;
  // Asked again for other inputs, and by `reload`.
  useEffect(() => {
    const gone = new AbortController();
    // What belongs to other inputs goes at once; what is only asked again stays.
    setState((before) => (before.of === key ? { ...before, isLoading: true } : { isLoading: true, of: key }));
    latest.current(gone.signal).then(
      (data) => !gone.signal.aborted && setState({ data, isLoading: false, of: key }),
      (error: unknown) =>
        !gone.signal.aborted && setState((before) => ({ ...before, error, isLoading: false, of: key })),
    );
    return () => gone.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const set = useCallback((data: Data) => setState({ data, isLoading: false, of: key }), [key]);
  return { data: state.data, error: state.error, isLoading: state.isLoading, reload, set };
}

/** Runs `run` every so often while the page is seen, and when it is seen again. */
export function useEvery(ms: number, run: () => void, isOn = true): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (!isOn) return;
    const runIfSeen = (): void => {
      if (document.visibilityState === 'visible') latest.current();
    };
    const timer = setInterval(runIfSeen, ms);
    document.addEventListener('visibilitychange', runIfSeen);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', runIfSeen);
    };
  }, [ms, isOn]);
}

/** How long a list of settings may be old: a key was used, a receiver failed, a colleague changed something. */
export const LIST_REFRESH_MS = 15_000;
