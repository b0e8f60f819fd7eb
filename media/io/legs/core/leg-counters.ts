/**
 * What a leg has counted, for its last line in the log and for metrics; the part that carriers' streams and browsers'
 * sessions share.
 */
import type { StreamTimeline } from './stream-timeline.ts';

export interface LegCounters {
  receivedFrames: number;
  playedFrames: number;
  droppedFrames: number;
  underrunFrames: number;
  uplinkRefusedFrames: number;
  downlinkRefusedFrames: number;
  recordRefusedFrames: number;
  gaps: number;
  gapMs: number;
  wildTimestamps: number;
  badMessages: number;
  sendsDropped: number;
  firstSentMs: number;
  /** How the peer closed the socket; 0 when we did. */
  peerCloseCode: number;
}

/** What the rings count; the rest is the uplink's and the playout's. */
export type RingCounters = Pick<
  LegCounters,
  'underrunFrames' | 'uplinkRefusedFrames' | 'downlinkRefusedFrames' | 'recordRefusedFrames'
>;

/** Of a leg that has not begun. */
export function noCounters(): LegCounters {
  return {
    receivedFrames: 0,
    playedFrames: 0,
    droppedFrames: 0,
    underrunFrames: 0,
    uplinkRefusedFrames: 0,
    downlinkRefusedFrames: 0,
    recordRefusedFrames: 0,
    gaps: 0,
    gapMs: 0,
    wildTimestamps: 0,
    badMessages: 0,
    sendsDropped: 0,
    firstSentMs: -1,
    peerCloseCode: 0,
  };
}

/**
 * What of it is sound; what came over the sockets is each leg's own to fill in. One object that does not grow: behind
 * a spread it would be copied again and again, for each leg at each report.
 */
export function soundCounters(
  rings: { readonly counters: RingCounters },
  uplink: { readonly receivedFrames: number; readonly timeline: StreamTimeline },
  playout: { readonly playedFrames: number; readonly droppedFrames: number; readonly firstSentMs: number },
): LegCounters {
  const { gaps, gapMs, wildTimestamps } = uplink.timeline;
  const { underrunFrames, uplinkRefusedFrames, downlinkRefusedFrames, recordRefusedFrames } = rings.counters;
  const counters = noCounters();
  counters.receivedFrames = uplink.receivedFrames;
  counters.playedFrames = playout.playedFrames;
  counters.droppedFrames = playout.droppedFrames;
  counters.underrunFrames = underrunFrames;
  counters.uplinkRefusedFrames = uplinkRefusedFrames;
  counters.downlinkRefusedFrames = downlinkRefusedFrames;
  counters.recordRefusedFrames = recordRefusedFrames;
  counters.gaps = gaps;
  counters.gapMs = Math.round(gapMs);
  counters.wildTimestamps = wildTimestamps;
  counters.firstSentMs = Math.round(playout.firstSentMs);
  return counters;
}
