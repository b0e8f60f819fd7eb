/**
 * Reads what a target sends on a media socket. A target's media messages are alike: once one has been read as JSON,
 * those that begin and end with the same bytes are known to be audio, and only their payload is looked at. Made for
 * each stream; no allocation for such a message.
 */
import { decodeBase64 } from '../../../../media/audio/base64.ts';
import { fieldsOf, type TargetSays, type Wire } from './wire.ts';

const NOTHING = Buffer.alloc(0);
/** Room for a second; grows for a target that sends more at once. Shared: what is read is used up at once. */
let audio = new Uint8Array(8_192);

export type Heard = { heard: 'audio'; mulaw: Uint8Array } | Exclude<TargetSays, { says: 'audio' }>;

export class TargetMessages {
  readonly #wire: Wire;
  /** Of the last media message that was read as JSON: what stood before its payload and after it. */
  #before = NOTHING;
  #after = NOTHING;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** `mulaw` is valid until the next message of any stream. */
  read(message: Buffer): Heard {
    const alike = this.#payloadBytesOf(message);
    if (alike >= 0) return { heard: 'audio', mulaw: audio.subarray(0, alike) };
    let fields: Record<string, unknown>;
    try {
      fields = fieldsOf(JSON.parse(message.toString('utf8')));
    } catch {
      return { says: 'fault', fault: 'a message that is not JSON' };
    }
    const said = this.#wire.read(fields);
    if (said.says !== 'audio') return said;
    const payload = Buffer.from(said.base64, 'latin1');
    const bytes = decoded(payload, 0, payload.length);
    if (bytes < 0) return { says: 'fault', fault: 'a payload that is not base64' };
    const start = payload.length === 0 ? -1 : message.indexOf(payload);
    if (start > 0) {
      this.#before = Buffer.from(message.subarray(0, start));
      this.#after = Buffer.from(message.subarray(start + payload.length));
    }
    return { heard: 'audio', mulaw: audio.subarray(0, bytes) };
  }

  /** Bytes of audio in a message like the last; negative: it is none. */
  #payloadBytesOf(message: Buffer): number {
    const start = this.#before.length;
    const end = message.length - this.#after.length;
    if (start === 0 || end <= start) return -1;
    if (message.compare(this.#before, 0, start, 0, start) !== 0) return -1;
    if (message.compare(this.#after, 0, this.#after.length, end) !== 0) return -1;
    return decoded(message, start, end);
  }
}

function decoded(source: Uint8Array, start: number, end: number): number {
  const most = (end - start) * 0.75;
  if (most > audio.length) audio = new Uint8Array(Math.ceil(most));
  return decodeBase64(source, start, end, audio, 0);
}
