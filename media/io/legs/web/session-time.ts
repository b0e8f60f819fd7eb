/** A web session's own time: ms since it began, without those in which it stood still because its browser was away. */

export class SessionTime {
  #startedAtMs = Number.NaN;
  #heldAtMs = Number.NaN;

  start(nowMs: number): void {
    this.#startedAtMs = nowMs;
  }

  get isHeld(): boolean {
    return !Number.isNaN(this.#heldAtMs);
  }

  /** Ms of session, not rounded; 0 before it has begun. */
  atMs(nowMs: number): number {
    if (Number.isNaN(this.#startedAtMs)) return 0;
    return (this.isHeld ? this.#heldAtMs : nowMs) - this.#startedAtMs;
  }

  /** False: it stands still already, since then. */
  hold(nowMs: number): boolean {
    if (this.isHeld) return false;
    this.#heldAtMs = nowMs;
    return true;
  }

  /** Ms for which it stood still. */
  goOn(nowMs: number): number {
    const stoodStillMs = this.isHeld ? nowMs - this.#heldAtMs : 0;
    this.#startedAtMs += stoodStillMs;
    this.#heldAtMs = Number.NaN;
    return stoodStillMs;
  }
}
