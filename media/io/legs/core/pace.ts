/**
 * How much faster than real time received audio may come before it is no call any more: by half for ever, and by ten
 * seconds once, after a stall.
 */

const FAST_RATIO = 1.5;
const FAST_BURST_MS = 10_000;

/** `receivedMs` of audio after `elapsedMs` of stream. */
export function isTooFast(receivedMs: number, elapsedMs: number): boolean {
  return receivedMs > elapsedMs * FAST_RATIO + FAST_BURST_MS;
}
