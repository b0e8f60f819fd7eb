/**
 * Which call a pipeline thread is working for right now, in a word that outlives the thread: whoever finds it dead (it
 * span, or ran out of memory) reads there in whose work. The session registry writes it around each tick; the pool
 * reads it after a death. A call is known by a number made of its id; two calls of one thread
 * with the same number are both suspected.
 */
const NOBODY = 0;

export class Suspect {
  readonly memory: SharedArrayBuffer;
  readonly #word: Int32Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(4)) {
    this.memory = memory;
    this.#word = new Int32Array(memory);
  }

  static numberOf(callUuid: string): number {
    let hash = 0x811c9dc5;
    for (let i = 0; i < callUuid.length; i++) hash = Math.imul(hash ^ callUuid.charCodeAt(i), 0x01000193);
    return hash | 1;
  }

  working(callNumber: number): void {
    this.#word[0] = callNumber;
  }

  idle(): void {
    this.#word[0] = NOBODY;
  }

  is(callUuid: string): boolean {
    return Atomics.load(this.#word, 0) === Suspect.numberOf(callUuid);
  }
}
