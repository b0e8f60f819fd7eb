/**
 * Sound clips that users bring, as every side knows them: what a script says of one, and what media gets to play it.
 * Control makes them (`src/clips`), a process of its own converts them (`media/clips`), the
 * pipeline plays them like speech.
 */

/** The rate and the one channel that clips are stored in: 16-bit PCM in a WAV. */
export const CLIP_RATE_HZ = 24_000;
export const LONGEST_CLIP_MS = 180_000;
export const LARGEST_CLIP_FILE_BYTES = 10 * 1024 * 1024;
/** What clips are brought to, as EBU R 128 measures it. */
export const CLIP_LUFS = -16;

/** In place of a line of text, wherever an agent speaks. */
export interface ScriptedClip {
  /** Name or id of a clip of the workspace. */
  clip: string;
  /**
   * What it says, for the transcript, and for the voice should the clip be unreadable. Absent
   * at import: the clip's own.
   */
  text?: string;
}

export type ScriptedLine = string | ScriptedClip;

/** A clip as a call gets it, by what the script calls it. */
export interface ClipFile {
  clipId: string;
  /** Absolute path of the encrypted WAV on this machine. */
  path: string;
  /** Its data key, 64 hexadecimal digits. Never logged, never on a disk. */
  keyHex: string;
  durationMs: number;
}

export type CallClips = Readonly<Record<string, ClipFile>>;

/** Control → the clip process. */
export interface ClipOrder {
  file: Uint8Array;
}

/** The clip process → control, once; then it ends. */
export type ClipVerdict =
  | { ok: true; wav: Uint8Array; durationMs: number; loudnessLufs: number; kind: string }
  | { ok: false; problem: string };
