/** What the page and its two audio worklets say to each other. Types only. */

/** Page → playback. `utterance` counts from 1. */
export type ToPlayback =
  | { type: 'format'; rateHz: number }
  | { type: 'audio'; utterance: number; samples: Int16Array | Float32Array }
  | { type: 'end'; utterance: number }
  | { type: 'flush' };

/** Playback → page. `playedMs` is of the utterance, as the speaker's device has taken it. */
export type FromPlayback =
  | { type: 'started'; utterance: number; contextTime: number }
  | { type: 'position'; utterance: number; playedMs: number }
  | { type: 'done'; utterance: number; playedMs: number }
  | { type: 'flushed'; utterance: number; playedMs: number; droppedMs: number }
  | { type: 'underrun'; utterance: number; targetMs: number }
  | { type: 'level'; level: number };

/** Page → capture; until then nothing is sent. */
export type ToCapture = { type: 'format'; rateHz: number; asFloat: boolean };

/** Capture → page: 20 ms each. */
export interface FromCapture {
  frame: ArrayBuffer;
  level: number;
}
