/** What the times of round trips say of a visitor's network. */
import { type Finding, ok, warn } from './finding.ts';

const SLOW_RTT_MS = 300;
const SHAKY_MS = 80;

/** Of round trips in ms, at least one. */
export function networkResult(roundTripsMs: readonly number[]): Finding {
  const times = [...roundTripsMs].sort((a, b) => a - b);
  const median = times[times.length >> 1]!;
  const spread = times.at(-1)! - times[0]!;
  const words = `${Math.round(median)} ms round trip, ${Math.round(spread)} ms of spread.`;
  if (median > SLOW_RTT_MS || spread > SHAKY_MS)
    return warn(words, 'Answers will feel slow: try a cable, or come closer to the access point.');
  return ok(words);
}
