/**
 * A provider counts time from the beginning of its socket; here it becomes audio time. Where what is sent is not
 * contiguous (a replay, silence of ours, what was left out), an anchor says so. Kept by the socket of a call's sound.
 * Pure.
 */
const MOST_ANCHORS = 64;

export class StreamAnchors {
  readonly #anchors: { streamMs: number; atMs: number }[] = [];
  /** Sent over this socket, fillers too. */
  #streamMs = 0;

  /** Another socket. */
  reset(): void {
    this.#streamMs = 0;
    this.#anchors.length = 0;
  }

  /** `ms` of sound from `atMs` on, audio time. */
  sound(atMs: number, ms: number): void {
    const last = this.#anchors.at(-1);
    const isNext = last !== undefined && Math.abs(last.atMs + (this.#streamMs - last.streamMs) - atMs) < 1;
    if (!isNext) this.#anchors.push({ streamMs: this.#streamMs, atMs });
    if (this.#anchors.length > MOST_ANCHORS) this.#anchors.shift();
    this.#streamMs += ms;
  }

  /** Silence of ours, which takes no audio time: what follows is anchored anew. `atMs`: of the newest sound. */
  filler(atMs: number, ms: number): void {
    if (this.#anchors.length === 0) this.#anchors.push({ streamMs: 0, atMs });
    this.#streamMs += ms;
  }

  /** Audio time of a moment of the provider's; nothing sounded before the stream. `pushedMs`: of the newest sound. */
  audioMs(toldMs: number, pushedMs: number): number {
    const streamMs = Math.max(0, toldMs);
    const anchors = this.#anchors;
    let at = anchors.length - 1;
    while (at > 0 && anchors[at]!.streamMs > streamMs) at--;
    const anchor = anchors[at];
    if (anchor === undefined) return streamMs;
    // Silence of ours takes no audio time.
    const mostMs = anchors[at + 1]?.atMs ?? pushedMs;
    return Math.min(anchor.atMs + (streamMs - anchor.streamMs), mostMs);
  }
}
