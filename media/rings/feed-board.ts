/**
 * Which calls of one pipeline thread were fed since it looked last: two bytes a call, side by side with those of the
 * other calls, so that a bell names its calls and no thread has to look into each of them.
 *
 *   listens (a byte a seat, the pipeline's) │ fed (a byte a seat, set by the I/O thread, taken back by the pipeline)
 *
 * A call has a seat of its thread's board for as long as it is there. A mark that comes a moment late costs nothing but
 * time: each call is looked at every 20 ms all the same. So is one for which no seat was left, and one that nobody
 * listens in is never marked at all.
 */
const SEATS = 4096;
export const NO_SEAT = -1;

export class FeedBoard {
  readonly memory: SharedArrayBuffer;
  readonly #listens: Uint8Array;
  readonly #fed: Uint8Array;
  /** The I/O thread's: seats that were left, and how many were ever taken. */
  readonly #free: number[] = [];
  #taken = 0;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(2 * SEATS)) {
    this.memory = memory;
    this.#listens = new Uint8Array(memory, 0, SEATS);
    this.#fed = new Uint8Array(memory, SEATS, SEATS);
  }

  /** I/O thread: a seat for a call, or `NO_SEAT`. */
  takeSeat(): number {
    return this.#free.pop() ?? (this.#taken < SEATS ? this.#taken++ : NO_SEAT);
  }

  /** I/O thread: the call is not there any more, and the pipeline has said its last about it. */
  leaveSeat(seat: number): void {
    if (seat !== NO_SEAT) this.#free.push(seat);
  }

  /** I/O thread: frames were written for the call. False: nobody waits for them. */
  feed(seat: number): boolean {
    if (this.#listens[seat] !== 1) return false;
    this.#fed[seat] = 1;
    return true;
  }

  /** Pipeline: from now on the call wants to be woken for what comes, or does not. */
  listen(seat: number, listens: boolean): void {
    if (seat === NO_SEAT) return;
    this.#listens[seat] = listens ? 1 : 0;
    this.#fed[seat] = 0;
  }

  /** Pipeline: was the call fed since this was asked last? Before its ring is read. */
  takeFed(seat: number): boolean {
    if (this.#fed[seat] !== 1) return false;
    this.#fed[seat] = 0;
    return true;
  }
}
