/**
 * The text messages of a web session's browser, read and bounded: so many a second on one socket, and so many with
 * wrong fields in the whole session. What a good one brings about is `web-leg.ts`'s to say.
 */
import { type ClientMessage, readClientMessage } from './client-messages.ts';

export interface InboundMessagesOptions {
  /** A message is overlooked, and the client told why. */
  warn(why: string): void;
  /** The client is no client; the session is to end. Nothing is read after it. */
  broken(detail: string): void;
}

/** Messages with wrong fields that are overlooked. */
const BAD_MESSAGES = 10;
const TEXT_BURST = 100;
const TEXT_PER_SECOND = 50;

export class InboundMessages {
  badMessages = 0;
  readonly #options: InboundMessagesOptions;
  #messages = 0;
  #sinceMs = 0;

  constructor(options: InboundMessagesOptions) {
    this.#options = options;
  }

  /** Another socket: it is counted from nought. */
  opened(nowMs: number): void {
    this.#messages = 0;
    this.#sinceMs = nowMs;
  }

  /** Null: nothing to be done, or nothing more. */
  read(bytes: Uint8Array, nowMs: number): ClientMessage | null {
    if (++this.#messages > TEXT_BURST + ((nowMs - this.#sinceMs) / 1000) * TEXT_PER_SECOND) {
      this.#options.broken('too many text messages');
      return null;
    }
    const read = readClientMessage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'));
    if (read.kind === 'message') return read.message;
    if (read.kind === 'malformed') {
      this.#options.broken(`a text message of ${bytes.length} bytes that is no message`);
    } else if (read.kind === 'wrong') this.wrong(read.why);
    return null;
  }

  /** A message that is known and does not fit. */
  wrong(why: string): void {
    if (++this.badMessages > BAD_MESSAGES) this.#options.broken('too many wrong messages');
    else this.#options.warn(why);
  }
}
