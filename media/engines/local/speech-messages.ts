/** What a text-to-speech client and the speech thread say to each other, over one MessagePort a client. Ids are the client's own. */
import type { VoiceErrorCode } from './voice-error.ts';

export type ToSpeech =
  | { type: 'synthesize'; id: number; text: string; voice: string }
  /** Nothing is sent for `id` after this was read. */
  | { type: 'cancel'; id: number };

export type FromSpeech =
  /** `samples` are transferred. */
  | { type: 'chunk'; id: number; samples: Int16Array<ArrayBuffer>; text: string }
  | { type: 'done'; id: number }
  | { type: 'failed'; id: number; code: VoiceErrorCode; message: string };
