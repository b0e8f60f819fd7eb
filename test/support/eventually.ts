/** Waits for what must come, however slow the machine is; what never comes is named. */
import { PATIENCE_MS } from '../../bench/harness/patience.ts';

/** What comes at once is seen at once; what takes its time is not looked for 200 times a second. */
const LOOK_EVERY_MS = { first: 5, most: 20 };

type Found<Value> = Exclude<Value, undefined | null | false>;

export interface EventuallyOptions {
  /** Added to the error. */
  story?(): string;
  /** Between two looks; what moves a virtual clock goes here. Default: 5 ms pass, later on 20. */
  between?(): unknown;
  /** Where what does not come would keep a whole file waiting. Default: as long as anything is waited for. */
  limitMs?: number;
}

/** What `look` finds, once it is neither undefined, null nor false. */
export async function eventually<Value>(
  what: string,
  look: () => Value | Promise<Value>,
  { story, between = pauses(), limitMs = PATIENCE_MS }: EventuallyOptions = {},
): Promise<Found<Value>> {
  for (const untilMs = performance.now() + limitMs; ; await between()) {
    const value = await look();
    if (value !== undefined && value !== null && value !== false) return value as Found<Value>;
    if (performance.now() > untilMs) {
      throw new Error(`waited ${limitMs / 1000} s for ${what}${story === undefined ? '' : `: ${story()}`}`);
    }
  }
}

function pauses(): () => Promise<void> {
  let ms = LOOK_EVERY_MS.first;
  return () =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
      ms = Math.min(ms + 1, LOOK_EVERY_MS.most);
    });
}
