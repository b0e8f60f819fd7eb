/**
 * The checkpoint messages of one stream of Plivo: assembled once, and only the name in them is written. One goes out
 * every 200 ms of each call, so it makes no garbage.
 */

/** Names are ours (`g<generation>-<frame>`): two numbers of 32 bits and two more characters. */
const MAX_NAME_CHARACTERS = 24;
const TAIL = '"}';

export class CheckpointMessages {
  readonly #bytes: Buffer;
  readonly #nameAt: number;
  /** Up to the end of a name of so many characters. */
  readonly #views: Uint8Array[] = [];

  constructor(streamId: string) {
    const head = `{"event":"checkpoint","streamId":${JSON.stringify(streamId)},"name":"`;
    this.#nameAt = Buffer.byteLength(head);
    this.#bytes = Buffer.alloc(this.#nameAt + MAX_NAME_CHARACTERS + TAIL.length);
    this.#bytes.write(head);
  }

  /** `name`: at most 24 letters, digits and `-`, else a `RangeError`. The bytes are rewritten by the next call. */
  named(name: string): Uint8Array {
    if (name.length > MAX_NAME_CHARACTERS) throw new RangeError(`A checkpoint's name is too long: ${name}`);
    const tailAt = this.#nameAt + name.length;
    this.#bytes.write(name, this.#nameAt, 'latin1');
    this.#bytes.write(TAIL, tailAt, 'latin1');
    this.#views[name.length] ??= this.#bytes.subarray(0, tailAt + TAIL.length);
    return this.#views[name.length]!;
  }
}
