/**
 * How many messages that are no audio a carrier's stream may send: of no known kind some, of any kind so many a second
 * (reliability.md §5). `carrier-leg.ts` asks for each of them, and ends the leg where this says so.
 */
import type { Decoded } from '../../carriers/media-codec.ts';

/** A burst, and then so many a second. */
const BURST = 100;
const PER_SECOND = 20;
/** Bad audio and unknown events that are overlooked. */
const BAD_MESSAGES = 10;

export type RareVerdict = 'fine' | 'no_message' | 'unknown_kinds' | 'flood';

export class RareMessages {
  /** Of no known kind, or at the wrong time. */
  badMessages = 0;
  #messages = 0;

  /** One message that was no audio, after the socket was open for so long. */
  judge(decoded: Exclude<Decoded, 'audio'>, openMs: number): RareVerdict {
    if (decoded === 'malformed') return 'no_message';
    if (decoded !== 'event' && ++this.badMessages > BAD_MESSAGES) return 'unknown_kinds';
    return ++this.#messages > BURST + (openMs / 1000) * PER_SECOND ? 'flood' : 'fine';
  }

  /** What each verdict says in the log. */
  static told(verdict: Exclude<RareVerdict, 'fine'>, messageBytes: number): string {
    if (verdict === 'no_message') return `a message of ${messageBytes} bytes that is no JSON object`;
    if (verdict === 'unknown_kinds') return `more than ${BAD_MESSAGES} messages of no known kind`;
    return 'too many messages that are no audio';
  }
}
