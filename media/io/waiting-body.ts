/**
 * A request's body that is kept until it is whole. Grows with what has come, however small the pieces and whatever
 * length was announced.
 */
const FIRST_BYTES = 1024;

export class WaitingBody {
  #bytes = Buffer.alloc(0);
  #length = 0;

  append(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(FIRST_BYTES, length, 2 * this.#bytes.length));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  whole(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}
