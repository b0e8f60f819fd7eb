/**
 * Ears that work in provider threads: what an engine implements there, and what is said on its line. One line a call
 * and ear, from the first frame to the last; another while the phone rings. Types only.
 */
import type { EarCodec, EarHints, EarListener, EarWords } from '../../contract/ear.ts';
import type { ConnectionGrant } from '../../contract/grant.ts';
import type { ServiceDeps } from './provider-service.ts';

/** What a line is opened with. */
export interface EarOpening {
  codec: EarCodec;
  rateHz: number;
  /** The phone rings: the ear is opened, and waits for the line of the call. */
  isAhead: boolean;
}

export type EarOrder =
  /** Transferred. `atMs`: audio time of its first sample. */
  | { type: 'sound'; sound: Uint8Array<ArrayBuffer>; atMs: number }
  | { type: 'hint'; hints: EarHints }
  | { type: 'began'; turn: number; onsetMs: number }
  | { type: 'pause' }
  | { type: 'wentOn' }
  | { type: 'over' }
  | { type: 'dropped' }
  /** The call wants to hear no more: nobody will come for the ear. */
  | { type: 'bye' };

export type EarReport =
  | { type: 'words'; words: EarWords }
  | { type: 'speech'; onsetMs: number }
  | { type: 'failed'; turn: number; message: string }
  /** Nothing will be heard any more. */
  | { type: 'deaf'; message: string };

export interface ProviderEarWish extends Pick<EarOpening, 'codec' | 'rateHz'> {
  grant: ConnectionGrant;
  /** Of the agent: model, language and the like. */
  settings: Readonly<Record<string, unknown>>;
  /** Sound that the provider was sent, at the end. */
  used(model: string, listenedSeconds: number): void;
}

/** `CallEar` at the provider's side: the same orders, and sound in batches, in the form that was asked for. */
export interface ProviderEar {
  hint(hints: EarHints): void;
  /** Kept, not copied. */
  push(sound: Uint8Array, atMs: number): void;
  turnBegan(turn: number, onsetMs: number): void;
  mayBeOver(): void;
  wentOn(): void;
  turnOver(): void;
  turnDropped(): void;
  /** Idempotent. Nothing is told after it. */
  close(): void;
}

/** Opens its socket at once. */
export type OpenProviderEar = (
  wish: ProviderEarWish,
  deps: Pick<ServiceDeps, 'clock' | 'openSocket'>,
  listener: EarListener,
) => ProviderEar;
