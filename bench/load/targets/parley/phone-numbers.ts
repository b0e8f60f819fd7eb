/** Numbers for the calls of a run: each call that goes on has one of its own, by which the carrier knows it. Pure. */
import { TargetFault } from '../../contract/target.ts';

/** E.164 has at most 15 digits; more than so many are not needed to tell calls apart. */
const MOST_DIGITS = 15;
const TOLD_BY_DIGITS = 4;
/** +1 XXX 555 0100 to 0199 are kept for fiction: the first call, which shows whose carrier it is, dials nobody else. */
const FIRST = 199;

/**
 * `pattern`: E.164 with a star for the digits that change, `+1415555*`. Processes share the numbers by their remainder:
 * `of` processes, this one the `process`-th. Throws a `TargetFault`.
 */
export class PhoneNumbers {
  readonly #prefix: string;
  readonly #digits: number;
  readonly #process: number;
  readonly #of: number;
  #next: number;

  constructor(pattern: string, process = 0, of = 1) {
    const prefix = /^(\+[1-9]\d{1,13})\*$/.exec(pattern)?.[1];
    if (prefix === undefined) {
      throw new TargetFault(
        `--to ${pattern}: write the beginning of numbers that the line may call, and a star: +1415555*`,
      );
    }
    this.#prefix = prefix;
    this.#digits = Math.min(TOLD_BY_DIGITS, MOST_DIGITS + 1 - prefix.length);
    this.#process = process;
    this.#of = of;
    this.#next = Math.floor(FIRST / of);
  }

  /** The next that `isTaken` does not have; null: all are taken. */
  next(isTaken: (number: string) => boolean): string | null {
    const count = Math.floor(10 ** this.#digits / this.#of);
    for (let tries = 0; tries < count; tries++) {
      const rest = (this.#next++ % count) * this.#of + this.#process;
      const number = `${this.#prefix}${String(rest).padStart(this.#digits, '0')}`;
      if (!isTaken(number)) return number;
    }
    return null;
  }
}
