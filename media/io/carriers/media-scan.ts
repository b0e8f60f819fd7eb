/**
 * Finds the parts of a `{"event":"media","media":{"payload":"…"}}` message in its bytes, whatever the order of keys,
 * white space and unknown fields, without JSON.parse and without allocation. The carrier codecs of that family use it.
 * Messages of one length look alike, so the places found last in one of that length are tried first; when any byte
 * around them differs, the whole message is walked. Strings are walked as strings: nothing inside another field's text
 * can pass for a field. One object serves all sockets of a carrier: what it remembers then stays in the processor's
 * first cache, where a memory of each socket's own would be fetched anew for each frame.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const SPACE = 0x20;

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const EVENT = ascii('event');
const MEDIA = ascii('media');
const PAYLOAD = ascii('payload');
const TIMESTAMP = ascii('timestamp');
const TRACK = ascii('track');
/** Room for what stands before a value and must be as it was: the key, its quotes, the colon, some space. */
const MAX_LEAD_IN_BYTES = 24;
/** Room for what stands up to the end of the event's name. */
const MAX_HEAD_BYTES = 32;
/** Longer messages (100 ms of PCM) are walked each time. */
const MOST_LENGTHS = 2048;

/** The bytes from a key's first quote to its value, remembered with the place of the value. */
class LeadIn {
  readonly #bytes = new Uint8Array(MAX_LEAD_IN_BYTES);
  #lengthBytes = 0;

  remember(bytes: Uint8Array, start: number, valueStart: number): boolean {
    if (start < 0 || valueStart - start > MAX_LEAD_IN_BYTES) return false;
    this.#lengthBytes = valueStart - start;
    for (let i = 0; i < this.#lengthBytes; i++) this.#bytes[i] = bytes[start + i]!;
    return true;
  }

  stands(bytes: Uint8Array, valueStart: number): boolean {
    const from = valueStart - this.#lengthBytes;
    for (let i = 0; i < this.#lengthBytes; i++) if (bytes[from + i] !== this.#bytes[i]) return false;
    return true;
  }
}

/** `media`: the fields are set. `other`: well formed, another event. `malformed`: not such an object. */
export type Scanned = 'media' | 'other' | 'malformed';

/** Where things were in a message of one length. Filled only where all of them are in their usual places. */
class Places {
  payloadStart = 0;
  payloadEnd = 0;
  timestampStart = 0;
  timestampEnd = 0;
  trackStart = 0;
  headBytes = 0;
  readonly head = new Uint8Array(MAX_HEAD_BYTES);
  readonly payloadLeadIn = new LeadIn();
  readonly timestampLeadIn = new LeadIn();
  readonly trackLeadIn = new LeadIn();

  stand(bytes: Uint8Array): boolean {
    if (bytes[this.payloadEnd] !== QUOTE || bytes[bytes.length - 1] !== CLOSE_BRACE) return false;
    if (bytes[this.timestampEnd] !== QUOTE) return false;
    const head = this.head;
    for (let i = 0; i < this.headBytes; i++) if (bytes[i] !== head[i]) return false;
    if (!this.payloadLeadIn.stands(bytes, this.payloadStart)) return false;
    if (!this.timestampLeadIn.stands(bytes, this.timestampStart)) return false;
    return this.trackLeadIn.stands(bytes, this.trackStart);
  }
}

export class MediaScan {
  payloadStart = 0;
  payloadEnd = 0;
  /** The payload holds a backslash: it must be unescaped before it is base64. */
  payloadEscaped = false;
  /** NaN when there is none. */
  timestampMs = Number.NaN;
  /** First byte of the track's name; 0 when there is none. */
  trackByte = 0;
  fastHits = 0;

  /** Is filled while a message is walked. */
  #spare = new Places();
  /** By the message's length. */
  readonly #places: (Places | null)[] = new Array<Places | null>(MOST_LENGTHS).fill(null);

  scan(bytes: Uint8Array): Scanned {
    const places = bytes.length < MOST_LENGTHS ? this.#places[bytes.length]! : null;
    if (places?.stand(bytes)) {
      this.fastHits++;
      this.payloadStart = places.payloadStart;
      this.payloadEnd = places.payloadEnd;
      this.payloadEscaped = false;
      this.timestampMs = parseMs(bytes, places.timestampStart, places.timestampEnd);
      this.trackByte = bytes[places.trackStart]!;
      return 'media';
    }
    return this.walk(bytes);
  }

  /** Finds everything anew: also for a payload that turned out to be no base64 at the remembered place. */
  walk(bytes: Uint8Array): Scanned {
    const end = bytes.length;
    this.timestampMs = Number.NaN;
    this.trackByte = 0;
    let eventStart = -1;
    let eventEnd = -1;
    let payloadStart = -1;
    let timestampStart = -1;
    let trackStart = -1;
    let timestampEnd = -1;
    const places = this.#spare;
    let canRepeat = end < MOST_LENGTHS;
    let at = skipSpace(bytes, 0);
    if (bytes[at] !== OPEN_BRACE) return 'malformed';
    at++;
    let depth = 1;
    let keyStart = -1;
    let keyEnd = -1;
    let isInMedia = false;
    while (depth > 0) {
      if (at >= end) return 'malformed';
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        const start = at + 1;
        let close = start;
        let escaped = false;
        while (close < end && bytes[close] !== QUOTE) {
          if (bytes[close] === BACKSLASH) {
            escaped = true;
            close++;
          }
          close++;
        }
        if (close >= end) return 'malformed';
        at = skipSpace(bytes, close + 1);
        if (bytes[at] === COLON) {
          at++;
          keyStart = start;
          keyEnd = close;
        } else if (depth === 1 && isWord(bytes, keyStart, keyEnd, EVENT)) {
          eventStart = start;
          eventEnd = close;
        } else if (depth === 2 && isInMedia) {
          if (isWord(bytes, keyStart, keyEnd, PAYLOAD)) {
            payloadStart = start;
            this.payloadEnd = close;
            this.payloadEscaped = escaped;
            canRepeat = places.payloadLeadIn.remember(bytes, keyStart - 1, start) && canRepeat;
          } else if (isWord(bytes, keyStart, keyEnd, TIMESTAMP)) {
            timestampStart = start;
            timestampEnd = close;
            canRepeat = places.timestampLeadIn.remember(bytes, keyStart - 1, start) && canRepeat;
          } else if (isWord(bytes, keyStart, keyEnd, TRACK)) {
            trackStart = start;
            canRepeat = places.trackLeadIn.remember(bytes, keyStart - 1, start) && canRepeat;
          }
        }
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (depth === 1 && byte === OPEN_BRACE && isWord(bytes, keyStart, keyEnd, MEDIA)) isInMedia = true;
        depth++;
        at++;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        depth--;
        if (depth === 1) isInMedia = false;
        at++;
      } else if (byte === COMMA || byte <= SPACE) {
        at++;
      } else {
        // A number or a word. Timestamps come as numbers too, from some.
        const start = at;
        while (at < end && !endsPrimitive(bytes[at]!)) at++;
        if (at === start) return 'malformed';
        if (depth === 2 && isInMedia && isWord(bytes, keyStart, keyEnd, TIMESTAMP)) {
          this.timestampMs = parseMs(bytes, start, at);
        }
      }
    }
    if (skipSpace(bytes, at) !== end) return 'malformed';
    if (!isWord(bytes, eventStart, eventEnd, MEDIA)) return 'other';
    if (payloadStart < 0) return 'malformed';
    this.payloadStart = payloadStart;
    if (timestampStart >= 0) this.timestampMs = parseMs(bytes, timestampStart, timestampEnd);
    if (trackStart >= 0) this.trackByte = bytes[trackStart]!;
    // Where anything is missing or in an unusual place, each message is walked: right, only slower.
    canRepeat &&=
      !this.payloadEscaped &&
      timestampStart >= 0 &&
      trackStart >= 0 &&
      eventEnd < MAX_HEAD_BYTES &&
      eventStart < payloadStart;
    if (canRepeat) {
      places.payloadStart = payloadStart;
      places.payloadEnd = this.payloadEnd;
      places.timestampStart = timestampStart;
      places.timestampEnd = timestampEnd;
      places.trackStart = trackStart;
      places.headBytes = eventEnd + 1;
      for (let i = 0; i < places.headBytes; i++) places.head[i] = bytes[i]!;
      this.#spare = this.#places[end] ?? new Places();
      this.#places[end] = places;
    }
    return 'media';
  }
}

function isWord(bytes: Uint8Array, start: number, end: number, word: Uint8Array): boolean {
  if (end - start !== word.length) return false;
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word[i]) return false;
  return true;
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at]! <= SPACE) at++;
  return at;
}

function endsPrimitive(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= SPACE || byte === QUOTE;
}

/** Whole milliseconds in decimal digits, at most 15 of them; NaN for anything else. */
function parseMs(bytes: Uint8Array, start: number, end: number): number {
  if (end <= start || end - start > 15) return Number.NaN;
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = bytes[i]! - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}
