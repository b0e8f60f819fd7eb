/**
 * A place for kept speech that answers within the turn of the loop: no disk, whose speed a call on a virtual clock
 * could depend on.
 */
import type { SpeechStore } from '../../../media/call/speaking/greeting-files.ts';

export class SpeechInMemory implements SpeechStore {
  readonly #kept = new Map<string, Buffer>();

  knows(key: string): boolean {
    return this.#kept.has(key);
  }

  async read(key: string): Promise<Buffer | null> {
    return this.#kept.get(key) ?? null;
  }

  async touch(): Promise<void> {}

  async write(key: string, sealed: Buffer): Promise<void> {
    this.#kept.set(key, sealed);
  }
}
