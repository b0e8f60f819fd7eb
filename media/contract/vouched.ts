/**
 * What control tells the media process with an answer: that it knows who asked, by a right key or by a carrier's
 * signature. Those whom it vouches for get room of their own at the public port (`media/io/request-room`). The header
 * stops there; no client sees it.
 */
export const VOUCHED_HEADER = 'x-parley-vouched';

/** With a key comes who shares its room: a workspace's id, so that more keys are no more room. */
export type Vouched = `${typeof BY_KEY}${string}` | 'carrier';

const BY_KEY = 'key ';

export function vouchedByKey(holder: string): Vouched {
  return `${BY_KEY}${holder}`;
}

/** Null: by no key. */
export function keyHolderOf(vouched: string): string | null {
  return vouched.startsWith(BY_KEY) ? vouched.slice(BY_KEY.length) : null;
}
