/**
 * What Deepgram has heard so far, in audio time: words that stay, and words that the next result replaces. A turn's
 * words are those that lie behind its beginning, whenever they come. Pure.
 */
import { middleOf, type ToldWord } from '../provider/hearing/told-words.ts';

/** No turn has more. */
const MOST_WORDS = 1_000;

export class HeardWords {
  #final: ToldWord[] = [];
  #interim: readonly ToldWord[] = [];
  /** All sound before it is settled: no other result comes for it. */
  settledMs: number = Number.NEGATIVE_INFINITY;

  /** Words that may change. */
  get hasInterim(): boolean {
    return this.#interim.length > 0;
  }

  take(words: readonly ToldWord[], isFinal: boolean, endMs: number): void {
    // What was sent again may be heard again.
    const news = words.filter((word) => middleOf(word) > this.settledMs);
    if (!isFinal) {
      this.#interim = news;
      return;
    }
    this.#final.push(...news);
    if (this.#final.length > MOST_WORDS) this.#final.splice(0, this.#final.length - MOST_WORDS);
    this.#interim = [];
    this.settledMs = Math.max(this.settledMs, endMs);
  }

  /** What was not settled will be heard once more. */
  dropInterim(): void {
    this.#interim = [];
  }

  since(fromMs: number): ToldWord[] {
    return [...this.#final, ...this.#interim].filter((word) => middleOf(word) >= fromMs);
  }

  /** Words that stay, of this stretch. */
  settled(fromMs: number, toMs: number): ToldWord[] {
    return this.#final.filter((word) => middleOf(word) >= fromMs && middleOf(word) < toMs);
  }

  /** Nobody asks for words before that. */
  forget(beforeMs: number): void {
    this.#final = this.#final.filter((word) => middleOf(word) >= beforeMs);
  }
}
