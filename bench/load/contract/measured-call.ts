/**
 * What became of one planned call, by what the far end saw and heard. Made by a target's far end, gathered by
 * `result/`. Plain data: it crosses processes as it is. Instants are milliseconds of the run's beginning.
 */

/**
 * `talked`: answered, carried sound, and ended by either side. `unanswered`: as planned. `refused`: the target said
 * no, with a code. `failed`: it never came to that, or nothing was heard of the target. `held_back`: never begun, too
 * many were. `lost`: it was answered and its stream broke. `cut`: the run was stopped under it.
 */
export type CallFate = 'talked' | 'unanswered' | 'refused' | 'failed' | 'lost' | 'held_back' | 'cut';

export interface Reply {
  /** End of the far end's own last audible sample. */
  atMs: number;
  /** To the target's first audible sample after it. */
  replyMs: number;
}

export interface BargeIn {
  /** Onset of the far end's sound. */
  atMs: number;
  /** To the target's last audible sample before a silence; null: it went on talking. */
  stoppedAfterMs: number | null;
}

/** Of the sound of one call, as it came. */
export interface HeardSound {
  frames: number;
  /** Audio that came, and the time in which the target was sending it continuously. */
  audioMs: number;
  streamedMs: number;
  /**
   * Lateness of frames in buckets of 1 ms: `lateMs[i]` frames were i ms behind the stream's own best line; the last
   * bucket holds all beyond. Not longer than 2,001.
   */
  lateMs: number[];
  /** Play-out that starved in the middle of a turn. */
  gaps: { atMs: number; gapMs: number }[];
  /** Only of targets that send a known signal; null: cannot be told. */
  lostMs: number | null;
  repeatedMs: number | null;
}

export interface MeasuredCall {
  index: number;
  caller: string;
  by: 'phone' | 'browser';
  fate: CallFate;
  /** The target's own code (`x-error-code`, HTTP status, close code) or the system's (`ECONNREFUSED`); null: none. */
  code: string | null;
  /** One sentence of what went wrong, for a person; null: nothing. */
  why: string | null;
  plannedAtMs: number;
  /** When the tool really began it: later than planned by the tool's own lateness. */
  begunAtMs: number;
  /** From the planned instant to the target's answer to the request; null where there is no request. */
  placementMs: number | null;
  /** From the planned instant until the phone rang or the socket was open; null: never. */
  dialledMs: number | null;
  answeredAtMs: number | null;
  endedAtMs: number | null;
  endedBy: 'target' | 'far_end' | null;
  /** From the answer to the first audible sample; null: never heard. */
  firstWordMs: number | null;
  replies: Reply[];
  /** Turns of the far end that nobody answered within its patience. */
  unanswered: number;
  bargeIns: BargeIn[];
  sound: HeardSound | null;
  /** From the call's end to its webhook; null where none is listened for. */
  webhookMs: number | null;
  /** A browser session that lost its socket: from the loss to the first sound afterwards; null: did not come back. */
  resumes: { atMs: number; resumedAfterMs: number | null }[];
  /** Stereo mu-law 8 kHz of the call (left the far end, right the target), where it was kept: a file's path. */
  recordingPath: string | null;
}
