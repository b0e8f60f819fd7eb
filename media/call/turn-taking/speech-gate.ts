/**
 * From frame-by-frame voice activity to "someone is speaking". Opens on 60 ms of speech within 100 ms, closes after 200
 * ms without; while open, two speech frames of five keep it open, so that a lone click in the pause after a word does
 * not. Pure, on audio time: frames must be contiguous, 20 ms each (the uplink fills gaps). The turn taker feeds it.
 */
import { FRAME_MS } from '../../contract/audio-format.ts';

const WINDOW_FRAMES = 5;
export const WINDOW_MS = WINDOW_FRAMES * FRAME_MS;
const WINDOW_MASK = (1 << WINDOW_FRAMES) - 1;
const OPEN_FRAMES = 3;
const STAY_OPEN_FRAMES = 2;
export const CLOSE_AFTER_MS = 200;
/** A gate that was shut by force opens again after silence, or after this long in unbroken sound. */
const REARM_AFTER_MS = 1_000;

/** What a frame did to the gate. */
export const GATE_UNCHANGED = 0;
export const GATE_OPENED = 1;
export const GATE_CLOSED = 2;
export type GateChange = typeof GATE_UNCHANGED | typeof GATE_OPENED | typeof GATE_CLOSED;

export class SpeechGate {
  open = false;
  /** Start of the first speech frame of the sound that opened the gate. */
  onsetMs = 0;
  /** End of the last speech frame: the caller's last sound, if the gate is shut. */
  lastSpeechEndMs = 0;
  #history = 0;
  #shutUntilMs = Number.NEGATIVE_INFINITY;

  /** Shut, with speech in the last 100 ms: it may be about to open. */
  get stirs(): boolean {
    return !this.open && this.#history !== 0;
  }

  /** `atMs` is the audio time of the frame's first sample. */
  push(atMs: number, isSpeech: boolean): GateChange {
    this.#history = ((this.#history << 1) | (isSpeech ? 1 : 0)) & WINDOW_MASK;
    const endMs = atMs + FRAME_MS;
    if (this.open) {
      if (isSpeech && speechFrames(this.#history) >= STAY_OPEN_FRAMES) this.lastSpeechEndMs = endMs;
      if (endMs - this.lastSpeechEndMs < CLOSE_AFTER_MS) return GATE_UNCHANGED;
      this.open = false;
      return GATE_CLOSED;
    }
    if (this.#history === 0) this.#shutUntilMs = Number.NEGATIVE_INFINITY;
    if (!isSpeech || speechFrames(this.#history) < OPEN_FRAMES || atMs < this.#shutUntilMs) return GATE_UNCHANGED;
    this.open = true;
    this.onsetMs = endMs - framesSinceOldest(this.#history) * FRAME_MS;
    this.lastSpeechEndMs = endMs;
    return GATE_OPENED;
  }

  /** Shuts the gate in the middle of sound. It stays shut until 100 ms of silence, or for a second. */
  shut(atMs: number): void {
    this.open = false;
    this.#shutUntilMs = atMs + REARM_AFTER_MS;
  }
}

function speechFrames(history: number): number {
  let count = 0;
  for (let bits = history; bits !== 0; bits &= bits - 1) count++;
  return count;
}

/** Frames from the oldest speech frame in the window to its end, both counted. */
function framesSinceOldest(history: number): number {
  let frames = 0;
  for (let bits = history; bits !== 0; bits >>= 1) frames++;
  return frames;
}
