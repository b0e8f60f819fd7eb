/**
 * Server-sent events out of bytes as they come (WHATWG HTML §9.2): the `data` of each event, comments and other fields
 * left out. A stranger writes them: what is longer than its bound throws. Pure.
 */
import { StringDecoder } from 'node:string_decoder';

const MOST_EVENT_CHARS = 256 * 1024;

export class EventStream {
  readonly #decoder = new StringDecoder('utf8');
  readonly #onData: (data: string) => void;
  #hasBegun = false;
  /** A line feed that comes now belongs to the line's end before it. */
  #isAfterReturn = false;
  #rest = '';
  #data: string[] = [];
  #dataChars = 0;

  constructor(onData: (data: string) => void) {
    this.#onData = onData;
  }

  push(bytes: Buffer): void {
    const [first = '', ...others] = this.#textOf(bytes).split(/\r\n|[\r\n]/);
    this.#rest += first;
    for (const other of others) {
      this.#line(this.#rest);
      this.#rest = other;
    }
    if (this.#rest.length > MOST_EVENT_CHARS) throw new Error('an event of the answer is too long');
  }

  /** Nothing more comes: an event without the empty line after it counts, for some servers leave that out. */
  end(): void {
    this.#line(this.#rest);
    this.#rest = '';
    this.#line('');
  }

  /** Without the mark that a stream may begin with, and without the second half of a line's end. */
  #textOf(bytes: Buffer): string {
    let text = this.#decoder.write(bytes);
    if (text === '') return '';
    if (!this.#hasBegun && text.startsWith('\ufeff')) text = text.slice(1);
    else if (this.#isAfterReturn && text.startsWith('\n')) text = text.slice(1);
    this.#hasBegun = true;
    this.#isAfterReturn = text.endsWith('\r');
    return text;
  }

  #line(line: string): void {
    if (line === '') {
      if (this.#data.length === 0) return;
      const data = this.#data.join('\n');
      this.#data = [];
      this.#dataChars = 0;
      this.#onData(data);
      return;
    }
    if (!line.startsWith('data:')) return;
    const value = line.slice(line[5] === ' ' ? 6 : 5);
    this.#dataChars += value.length;
    if (this.#dataChars > MOST_EVENT_CHARS) throw new Error('an event of the answer is too long');
    this.#data.push(value);
  }
}
