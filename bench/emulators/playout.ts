/**
 * The far end's play queue of one stream: audio in, real-time audio out, checkpoints answered when what stood before
 * them has been played, a clear that drops both. Called by a carrier's media stream, 20 ms at a time; it knows no time
 * of its own.
 */

interface Checkpoint {
  name: string;
  /** Position in the stream of all audio ever queued, bytes. */
  atByte: number;
}

export class Playout {
  readonly #capacityBytes: number;
  #chunks: Uint8Array[] = [];
  /** Bytes of `#chunks[0]` that were pulled already. */
  #headBytes = 0;
  #queuedBytes = 0;
  #playedBytes = 0;
  #checkpoints: Checkpoint[] = [];

  /** What the carrier keeps for a stream, in bytes of its format. */
  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  get playedBytes(): number {
    return this.#playedBytes;
  }

  get pendingCheckpoints(): number {
    return this.#checkpoints.length;
  }

  /** Keeps `audio` without copying. False, and nothing queued, when the buffer would hold more than its capacity. */
  push(audio: Uint8Array): boolean {
    if (this.#queuedBytes + audio.length > this.#capacityBytes) return false;
    if (audio.length > 0) this.#chunks.push(audio);
    this.#queuedBytes += audio.length;
    return true;
  }

  checkpoint(name: string): void {
    this.#checkpoints.push({ name, atByte: this.#playedBytes + this.#queuedBytes });
  }

  /** Plays up to `target.length` bytes into `target`, from its start; the rest of `target` is left as it was. */
  pull(target: Uint8Array): number {
    let filled = 0;
    while (filled < target.length) {
      const chunk = this.#chunks[0];
      if (chunk === undefined) break;
      const take = Math.min(chunk.length - this.#headBytes, target.length - filled);
      target.set(chunk.subarray(this.#headBytes, this.#headBytes + take), filled);
      filled += take;
      this.#headBytes += take;
      if (this.#headBytes === chunk.length) {
        this.#chunks.shift();
        this.#headBytes = 0;
      }
    }
    this.#queuedBytes -= filled;
    this.#playedBytes += filled;
    return filled;
  }

  /** The oldest checkpoint whose audio has all been played, once; null when there is none. */
  takePlayed(): string | null {
    const oldest = this.#checkpoints[0];
    if (oldest === undefined || oldest.atByte > this.#playedBytes) return null;
    this.#checkpoints.shift();
    return oldest.name;
  }

  /** Drops what is queued. A dropped checkpoint is never answered. */
  clear(): { droppedBytes: number; droppedCheckpoints: number } {
    const dropped = { droppedBytes: this.#queuedBytes, droppedCheckpoints: this.#checkpoints.length };
    this.#chunks = [];
    this.#headBytes = 0;
    this.#queuedBytes = 0;
    this.#checkpoints = [];
    return dropped;
  }
}
