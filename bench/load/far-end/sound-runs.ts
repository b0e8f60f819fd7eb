/**
 * When one side made a sound: runs of it, `[startMs, endMs)`, in order of time. Filled by the judge block by block,
 * also with what will only be heard later (a target may send ahead), and cut where that is dropped. Two numbers a
 * run, in an array that grows rarely.
 */

/** Holes up to this are part of one sound: jitter of the play-out, the closure before a consonant. */
const JOINED_MS = 30;
/** What is shorter is a click, no sound. */
const SHORTEST_MS = 10;
const FIRST_RUNS = 32;

export class SoundRuns {
  #edges = new Float64Array(FIRST_RUNS * 2);
  #runs = 0;
  /** The last run that had begun at the latest question. */
  #cursor = 0;

  /** At or after what was added before. */
  add(startMs: number, endMs: number): void {
    const last = this.#runs * 2 - 1;
    if (last > 0 && startMs - this.#edges[last]! <= JOINED_MS) {
      if (endMs > this.#edges[last]!) this.#edges[last] = endMs;
      return;
    }
    if (last + 2 >= this.#edges.length) {
      const larger = new Float64Array(this.#edges.length * 2);
      larger.set(this.#edges);
      this.#edges = larger;
    }
    this.#edges[last + 1] = startMs;
    this.#edges[last + 2] = endMs;
    this.#runs++;
  }

  /** What was to sound from `atMs` on does not. */
  cutAt(atMs: number): void {
    while (this.#runs > 0 && this.#edges[this.#runs * 2 - 2]! >= atMs) this.#runs--;
    const last = this.#runs * 2 - 1;
    if (last > 0 && this.#edges[last]! > atMs) this.#edges[last] = atMs;
    this.#cursor = Math.max(0, Math.min(this.#cursor, this.#runs - 1));
  }

  /** The last instant up to `nowMs` at which there was sound; minus infinity before any. `nowMs` never goes back. */
  lastSoundMs(nowMs: number): number {
    while (this.#cursor + 1 < this.#runs && this.#edges[this.#cursor * 2 + 2]! <= nowMs) this.#cursor++;
    for (let run = Math.min(this.#cursor, this.#runs - 1); run >= 0; run--) {
      const startMs = this.#edges[run * 2]!;
      const endMs = Math.min(this.#edges[run * 2 + 1]!, nowMs);
      if (endMs - startMs >= SHORTEST_MS) return endMs;
    }
    return Number.NEGATIVE_INFINITY;
  }

  /** All sounds, those that are less than `pauseMs` apart as one: pairs of start and end. */
  joined(pauseMs: number): SoundRun[] {
    const joined: SoundRun[] = [];
    for (let run = 0; run < this.#runs; run++) {
      const startMs = this.#edges[run * 2]!;
      const endMs = this.#edges[run * 2 + 1]!;
      if (endMs - startMs < SHORTEST_MS) continue;
      const last = joined.at(-1);
      if (last !== undefined && startMs - last.endMs < pauseMs) last.endMs = endMs;
      else joined.push({ startMs, endMs });
    }
    return joined;
  }
}

export interface SoundRun {
  startMs: number;
  endMs: number;
}
