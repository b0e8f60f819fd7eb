/** What is said on the line of a voice in a provider thread: one line a text. Types only. */
import type { ChunkWord } from '../../contract/engines.ts';

/** What the line is opened with. */
export interface SpeechOrder {
  text: string;
  voice: string;
  takesMulaw: boolean;
}

/** The line's end without a fault is the end of the speech. */
export interface SpeechReport {
  /** Transferred. Little-endian samples, or mu-law. */
  sound: Uint8Array<ArrayBuffer>;
  isMulaw: boolean;
  /** Range of the text that begins to sound in it. */
  charStart: number;
  charEnd: number;
  words?: readonly ChunkWord[];
}
