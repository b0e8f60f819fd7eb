/**
 * What a speech-to-text client and the STT thread say to each other, over one MessagePort a
 * client. Ids are the client's own.
 */
import type { Grammar, Recognition } from '../../contract/engines.ts';
import type { DecoderRateHz } from './phrase-decoder.ts';

export type ToStt =
  | { type: 'open'; id: number; rateHz: DecoderRateHz; grammar: Grammar }
  /** 20 to 100 ms; transferred. */
  | { type: 'audio'; id: number; samples: Int16Array<ArrayBuffer> }
  | { type: 'conclude'; id: number }
  | { type: 'go-on'; id: number }
  | { type: 'finish'; id: number }
  | { type: 'cancel'; id: number };

export type FromStt =
  | { type: 'result'; id: number; result: Recognition }
  /** Instead of the final result. */
  | { type: 'failed'; id: number; message: string };
