/** Parts that are fetched when they are first shown. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Failure, Loading } from './states.tsx';

/** `fetch` is an `import()` of the part; one that failed is asked for again by a click. */
export function lazy<Props extends object>(fetch: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let known: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [, setRound] = useState(0);
    const [error, setError] = useState<unknown>();
    // biome-ignore lint/correctness/useExhaustiveDependencies: tried anew when the error is cleared
    useEffect(() => {
      if (known !== undefined || error !== undefined) return;
      fetch().then((part) => {
        known = part;
        setRound((before) => before + 1);
      }, setError);
    }, [error]);
    const Part = known;
    if (Part !== undefined) return <Part {...props} />;
    // Of another build: the page that is open knows names that are there no more.
    if (error !== undefined) return <Failure error={error} onRetry={() => location.reload()} />;
    return <Loading lines={6} />;
  };
}
