/**
 * What a far end of Plivo's hears of what it was sent: plays in real time behind a small buffer, tells late sound and
 * silence. Samples are counted, not kept. One a caller.
 */
const SAMPLES_PER_MS = 8;
/** Of a carrier's buffer: sound is late when it comes after its turn by so much. */
const BUFFER_MS = 40;

export class Playout {
  /** Until then there is something to play, ms; the past: silence. */
  #endsAtMs = Number.NEGATIVE_INFINITY;
  #lateMs = 0;
  #playedMs = 0;

  /** Sound that follows is a new answer's: where it begins, nothing is late. */
  beginAnswer(): void {
    this.#endsAtMs = Number.NEGATIVE_INFINITY;
  }

  receive(samples: number, nowMs: number): void {
    const lengthMs = samples / SAMPLES_PER_MS;
    if (this.#endsAtMs === Number.NEGATIVE_INFINITY) this.#endsAtMs = nowMs + BUFFER_MS;
    else if (nowMs > this.#endsAtMs) {
      this.#lateMs += nowMs - this.#endsAtMs;
      this.#endsAtMs = nowMs;
    }
    this.#endsAtMs += lengthMs;
    this.#playedMs += lengthMs;
  }

  /** What was not played is dropped. */
  clear(nowMs: number): void {
    if (this.#endsAtMs <= nowMs) return;
    this.#playedMs -= this.#endsAtMs - nowMs;
    this.#endsAtMs = nowMs;
  }

  isSilent(nowMs: number): boolean {
    return this.#endsAtMs <= nowMs;
  }

  /** Negative infinity: nothing since `beginAnswer`. */
  get endsAtMs(): number {
    return this.#endsAtMs;
  }

  /** Late sound, and all that was heard, since it was taken last. */
  take(): { lateMs: number; playedMs: number } {
    const taken = { lateMs: this.#lateMs, playedMs: this.#playedMs };
    this.#lateMs = 0;
    this.#playedMs = 0;
    return taken;
  }
}
