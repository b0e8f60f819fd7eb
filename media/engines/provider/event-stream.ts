/**
 * Server-sent events out of bytes as they come (WHATWG HTML §9.2): the `data` of each event, comments and other fields
 * left out. A stranger writes them: what is longer than its bound throws. Pure.
 */
import { StringDecoder } from 'node:string_decoder';

const MOST_EVENT_CHARS = 256 * 1024;

export class EventStream {
  readonly #decoder = new StringDecoder('utf8');
  readonly #onData: (data: string) => void;
  #rest = '';
  #data: string[] = [];
  #dataChars = 0;

  constructor(onData: (data: string) => void) {
    this.#onData = onData;
  }

  push(bytes: Buffer): void {
    this.#rest += this.#decoder.write(bytes);
    let from = 0;
    for (;;) {
      const end = this.#rest.slice(from).search(/[\r\n]/);
      if (end < 0) break;
      const at = from + end;
      // Whether a line feed follows is not known yet.
      if (this.#rest[at] === '\r' && at + 1 === this.#rest.length) break;
      this.#line(this.#rest.slice(from, at));
      from = at + (this.#rest.startsWith('\r\n', at) ? 2 : 1);
    }
    this.#rest = this.#rest.slice(from);
    if (this.#rest.length > MOST_EVENT_CHARS) throw new Error('an event of the answer is too long');
  }

  /** Nothing more comes: an event without the empty line after it counts, for some servers leave that out. */
  end(): void {
    this.#line(this.#rest.replace(/\r$/, ''));
    this.#rest = '';
    this.#line('');
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
