/** Parts that are fetched when they are first shown. */
import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Failure, Loading } from './states.tsx';

export type Part<Props> = (props: Props) => ComponentChildren;

/** `fetch` is an `import()` of the part; one that failed is asked for again by a click. */
export function lazy<Props extends object>(fetch: () => Promise<Part<Props>>): Part<Props> {
  let known: Part<Props> | undefined;
  return function Lazy(props: Props) {
    const [, setRound] = useState(0);
    const [error, setError] = useState<unknown>();
    // Tried anew when the error is cleared.
    useEffect(() => {
      if (known !== undefined || error !== undefined) return;
      fetch().then((part) => {
        known = part;
        setRound((before) => before + 1);
      }, setError);
    }, [error]);
    if (known !== undefined) return h(known, props);
    // Of another build: the page that is open knows names that are there no more.
    if (error !== undefined) return <Failure error={error} onRetry={() => location.reload()} />;
    return <Loading lines={6} />;
  };
}
