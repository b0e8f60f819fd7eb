/**
 * The port of a carrier's wire codec (I/O side): socket message ⇄ neutral events. Pure, one instance a socket. Audio is
 * handled without allocation; rare messages may cost what they cost. A codec never throws and never closes the socket.
 */
import type { LegFormat } from '../../contract/audio-format.ts';
import type { FramesPerMessage } from '../../contract/carriers.ts';

export interface StreamStart {
  /** Empty when the message names none. */
  carrierCallId: string;
  streamId: string;
  /** What the carrier says that it sends; null when it does not say. */
  format: LegFormat | null | 'unsupported';
}

/** Called from within `decode`. */
export interface StreamEvents {
  started(start: StreamStart): void;
  /**
   * Received audio in the leg's format, any number of samples: `bytes[start, start + lengthBytes)`, void after the
   * call. `timestampMs` counts from an unknown zero: use differences only. NaN when the message has none.
   */
  audio(bytes: Uint8Array, start: number, lengthBytes: number, timestampMs: number): void;
  digit(digit: string): void;
  /** All that was sent before the checkpoint of this name has been played. */
  played(name: string): void;
  cleared(): void;
  stopped(): void;
  /** The carrier reports a fault of the stream. */
  faulted(detail: string): void;
}

/**
 * `ignored`: well formed, but nothing we know. `bad_audio`: a media message whose payload is no audio.
 * `malformed`: no message of this protocol at all.
 */
export type Decoded = 'audio' | 'event' | 'ignored' | 'bad_audio' | 'malformed';

export interface MediaCodec {
  decode(message: Uint8Array, isBinary: boolean): Decoded;
  /**
   * A message that plays 1 to 3 frames, in the leg's format. The returned bytes are the codec's own and are rewritten
   * by the next call.
   */
  audioMessage(frames: Uint8Array, start: number, lengthBytes: number): Uint8Array;
  /** `name`: at most 24 letters, digits and `-`. The bytes are rewritten by the next call, too. */
  checkpointMessage(name: string): Uint8Array;
  /** The far end drops all that it has not played. */
  clearMessage(): Uint8Array;
  /** Keys (0–9, *, #, A–D) pressed towards the far end; there where the carrier declares `digitsOut: 'stream'`. */
  digitsMessage?(digits: string): Uint8Array;
}

export interface MediaCodecFactory {
  readonly carrier: string;
  readonly framesPerMessage: FramesPerMessage;
  create(format: LegFormat, events: StreamEvents): MediaCodec;
}
