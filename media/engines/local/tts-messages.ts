/**
 * What a text-to-speech client and the TTS thread say to each other, over one MessagePort a
 * client. Ids are the client's own.
 */
import type { VoiceErrorCode } from '../voice-error.ts';

export type ToTts =
  /** `ahead`: nobody waits for it yet. `isFixed`: the same in every call, so it may be remembered. */
  | { type: 'synthesize'; id: number; text: string; voice: string; ahead: boolean; isFixed: boolean }
  /** Nothing is sent for `id` after this was read. */
  | { type: 'cancel'; id: number };

export type FromTts =
  /** `samples` are transferred. */
  | { type: 'chunk'; id: number; samples: Int16Array<ArrayBuffer>; text: string }
  | { type: 'done'; id: number }
  /** Each second while anything of the client's waits: the thread works, whoever's turn it is. */
  | { type: 'working' }
  | { type: 'failed'; id: number; code: VoiceErrorCode; message: string };
