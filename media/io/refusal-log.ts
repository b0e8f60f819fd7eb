/**
 * What is refused at a door that anybody can reach: so many refusals a minute are told one by one, the rest as a
 * number. Otherwise whoever comes with made-up tokens writes the log. Used for carriers' streams and for web sockets.
 */
import type { Clock } from '../contract/clock.ts';

const TOLD_A_MINUTE = 20;
const MINUTE_MS = 60_000;

export class RefusalLog {
  readonly #clock: Clock;
  /** `media stream`, `web socket`. */
  readonly #what: string;
  readonly #write: (fields: Record<string, unknown>, text: string) => void;
  #sinceMs = 0;
  #count = 0;

  constructor(clock: Clock, what: string, write: (fields: Record<string, unknown>, text: string) => void) {
    this.#clock = clock;
    this.#what = what;
    this.#write = write;
  }

  tell(refusal: Record<string, unknown>): void {
    const nowMs = this.#clock.nowMs();
    if (this.#count === 0) this.#sinceMs = nowMs;
    else if (nowMs - this.#sinceMs > MINUTE_MS) {
      this.#sayUntold();
      this.#count = 0;
      this.#sinceMs = nowMs;
    }
    this.#count++;
    if (this.#count <= TOLD_A_MINUTE) this.#write(refusal, `${this.#what} refused`);
    else if (this.#count === TOLD_A_MINUTE + 1) {
      this.#write(refusal, `${this.#what}s are refused in great number; the rest of this minute is only counted`);
      this.#clock.after(MINUTE_MS, () => this.#sayUntold());
    }
  }

  #sayUntold(): void {
    const untold = this.#count - TOLD_A_MINUTE - 1;
    if (untold > 0) this.#write({ untold }, `${this.#what}s were refused that the log does not name`);
    this.#count = 0;
  }
}
