/**
 * Digits from the telephone's keys, which are one answer when none has come for a while, or at once with `#`. Pure; the
 * conversation asks it at each tick.
 */

const KEYS_AFTER_MS = 2_000;
const MOST_KEYS = 64;

export class Keypad {
  #keys = '';
  #dueMs = Number.POSITIVE_INFINITY;

  press(key: string, nowMs: number): void {
    if (/^[0-9]$/.test(key) && this.#keys.length < MOST_KEYS) this.#keys += key;
    this.#dueMs = nowMs + (key === '#' ? 0 : KEYS_AFTER_MS);
  }

  /** The digits of an answer that is complete, once; null while there is none. */
  take(nowMs: number): string | null {
    if (nowMs < this.#dueMs) return null;
    const digits = this.#keys;
    this.#keys = '';
    this.#dueMs = Number.POSITIVE_INFINITY;
    return digits === '' ? null : digits;
  }
}
