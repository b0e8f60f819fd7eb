/**
 * Words of strangers: always text, never markup; isolated, so that marks of direction reach no further; cut when
 * long.
 */
import { useState } from 'preact/hooks';
import { common } from '../texts/en/common.ts';

const MOST_CHARACTERS = 2_000;

/** A name, a number, a value on one line. */
export function Words({ children }: { children: string | number | null | undefined }) {
  return <bdi>{children}</bdi>;
}

/** A text of any length; what is beyond some lines waits for a click. */
export function LongText({ text, most = MOST_CHARACTERS }: { text: string; most?: number }) {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= most) return <bdi class="long">{text}</bdi>;
  return (
    <>
      <bdi class="long">{isWhole ? text : `${cutAt(text, most)}…`}</bdi>{' '}
      <button type="button" class="inline" onClick={() => setWhole(!isWhole)}>
        {isWhole ? common.less : common.showAll(Math.ceil(text.length / 1_000))}
      </button>
    </>
  );
}

/** Never in the middle of a character that is two. */
function cutAt(text: string, most: number): string {
  return text.slice(0, /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most);
}

/** JSON to read. */
export function Json({ value }: { value: unknown }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll sideways by keyboard
    <pre class="json" tabIndex={0}>
      <LongText text={JSON.stringify(value, null, 2) ?? 'null'} most={4_000} />
    </pre>
  );
}
