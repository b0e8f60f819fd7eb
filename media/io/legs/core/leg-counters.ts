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

/** What came over the sockets is each leg's own to count. */
export type SoundCounters = Omit<LegCounters, 'badMessages' | 'sendsDropped' | 'peerCloseCode'>;

/** What the rings count; the rest is the uplink's and the playout's. */
export type RingCounters = Pick<
  SoundCounters,
  'underrunFrames' | 'uplinkRefusedFrames' | 'downlinkRefusedFrames' | 'recordRefusedFrames'
>;

/** Of a leg that has not begun. */
export const NO_SOUND: SoundCounters = {
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
  firstSentMs: -1,
};

export function soundCounters(
  rings: { readonly counters: RingCounters },
  uplink: { readonly receivedFrames: number; readonly timeline: StreamTimeline },
  playout: { readonly playedFrames: number; readonly droppedFrames: number; readonly firstSentMs: number },
): SoundCounters {
  const { gaps, gapMs, wildTimestamps } = uplink.timeline;
  return {
    ...rings.counters,
    receivedFrames: uplink.receivedFrames,
    playedFrames: playout.playedFrames,
    droppedFrames: playout.droppedFrames,
    gaps,
    gapMs: Math.round(gapMs),
    wildTimestamps,
    firstSentMs: Math.round(playout.firstSentMs),
  };
}
