/** Room for so many at once, and for so many of one holder. Only counts; whoever enters must leave, once. */

/** `holder_full`: this holder has as many as one may. `full`: all of them together do. */
export type Entry = 'entered' | 'holder_full' | 'full';

export class Room {
  readonly #total: number;
  readonly #each: number;
  readonly #leavesFree: boolean;
  readonly #byHolder = new Map<string, number>();
  #inUse = 0;

  /**
   * `leavesFree`: nobody gets one more who has as many as are free. One who takes all that there is to get leaves half,
   * the next one half of that, and as what they hold ends it evens out.
   */
  constructor(total: number, each: number, leavesFree = false) {
    this.#total = total;
    this.#each = each;
    this.#leavesFree = leavesFree;
  }

  get inUse(): number {
    return this.#inUse;
  }

  enter(holder: string): Entry {
    const held = this.#byHolder.get(holder) ?? 0;
    if (held >= this.#each) return 'holder_full';
    const free = this.#total - this.#inUse;
    if (free <= 0) return 'full';
    if (this.#leavesFree && held >= free) return 'holder_full';
    this.#byHolder.set(holder, held + 1);
    this.#inUse++;
    return 'entered';
  }

  release(holder: string): void {
    const held = this.#byHolder.get(holder);
    if (held === undefined) return;
    this.#inUse--;
    if (held > 1) this.#byHolder.set(holder, held - 1);
    else this.#byHolder.delete(holder);
  }
}
