/**
 * What all legs of a process have counted, for metrics. The registry adds a leg when it is over, and the running ones
 * when asked.
 */
import type { LegEnd } from './call-leg.ts';
import type { LegCounters } from './leg-counters.ts';

const SUMMED = [
  'receivedFrames',
  'playedFrames',
  'droppedFrames',
  'underrunFrames',
  'uplinkRefusedFrames',
  'downlinkRefusedFrames',
  'recordRefusedFrames',
  'gaps',
  'gapMs',
  'badMessages',
  'sendsDropped',
] as const satisfies readonly (keyof LegCounters)[];

type Sums = Record<(typeof SUMMED)[number], number>;

export class LegTotals {
  readonly sums: Sums = Object.fromEntries(SUMMED.map((name) => [name, 0])) as Sums;
  readonly ends: Record<LegEnd, number> = { socket_closed: 0, stopped: 0, bad_stream: 0, no_media: 0, failed: 0 };

  add(counters: Readonly<LegCounters>): void {
    for (const name of SUMMED) this.sums[name] += counters[name];
  }

  ended(why: LegEnd): void {
    this.ends[why]++;
  }

  copy(): LegTotals {
    const copy = new LegTotals();
    Object.assign(copy.sums, this.sums);
    Object.assign(copy.ends, this.ends);
    return copy;
  }
}
