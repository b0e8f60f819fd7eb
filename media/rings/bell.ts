/**
 * Wakes another thread once per batch of ring writes (never once a frame). The ringer is never blocked; a thread that
 * is already awake loses nothing, because the bell counts and the waiter compares counts.
 */
export class Bell {
  readonly memory: SharedArrayBuffer;
  readonly #word: Int32Array;
  #seen = 0;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(4)) {
    this.memory = memory;
    this.#word = new Int32Array(memory);
  }

  ring(): void {
    Atomics.add(this.#word, 0, 1);
    Atomics.notify(this.#word, 0);
  }

  /**
   * Resolves when the bell has been rung since the last wait, or after `timeoutMs`. It does not
   * keep the event loop alive. True: it slept, and the event loop has turned.
   */
  async wait(timeoutMs: number): Promise<boolean> {
    let hasSlept = false;
    if (Atomics.load(this.#word, 0) === this.#seen) {
      const waiting = Atomics.waitAsync(this.#word, 0, this.#seen, timeoutMs);
      if (waiting.async) {
        await waiting.value;
        hasSlept = true;
      }
    }
    this.#seen = Atomics.load(this.#word, 0);
    return hasSlept;
  }
}
