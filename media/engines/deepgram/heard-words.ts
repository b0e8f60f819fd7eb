/**
 * What Deepgram has heard so far, in audio time: words that stay, and words that the next result replaces. A turn's
 * words are those that lie behind its beginning, whenever they come. Pure.
 */
import type { HeardWord } from '../../contract/ear.ts';

export interface DeepgramWord extends HeardWord {
  /** In lower case, without marks. */
  plain: string;
  confidence: number;
}

/** No turn has more. */
const MOST_WORDS = 1_000;

export class HeardWords {
  #final: DeepgramWord[] = [];
  #interim: readonly DeepgramWord[] = [];
  /** All sound before it is settled: no other result comes for it. */
  settledMs: number = Number.NEGATIVE_INFINITY;

  /** Words that may change. */
  get hasInterim(): boolean {
    return this.#interim.length > 0;
  }

  take(words: readonly DeepgramWord[], isFinal: boolean, endMs: number): void {
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

  since(fromMs: number): DeepgramWord[] {
    return [...this.#final, ...this.#interim].filter((word) => middleOf(word) >= fromMs);
  }

  /** Words that stay, of this stretch. */
  settled(fromMs: number, toMs: number): DeepgramWord[] {
    return this.#final.filter((word) => middleOf(word) >= fromMs && middleOf(word) < toMs);
  }

  /** Nobody asks for words before that. */
  forget(beforeMs: number): void {
    this.#final = this.#final.filter((word) => middleOf(word) >= beforeMs);
  }
}

function middleOf({ startMs, endMs }: HeardWord): number {
  return (startMs + endMs) / 2;
}

/** Of a result, `audioMs` making audio time of its seconds. What is no word is left out. */
export function wordsIn(said: unknown, audioMs: (streamMs: number) => number): DeepgramWord[] {
  if (!Array.isArray(said)) return [];
  const words: DeepgramWord[] = [];
  for (const one of said) {
    const { word, punctuated_word: written = word, start, end, confidence } = (one ?? {}) as Record<string, unknown>;
    if (typeof word !== 'string' || typeof start !== 'number' || typeof end !== 'number') continue;
    const plain = plainOf(word);
    if (plain === '' || !(end >= start)) continue;
    words.push({
      plain,
      text: typeof written === 'string' ? written : word,
      startMs: audioMs(start * 1_000),
      endMs: audioMs(end * 1_000),
      confidence: typeof confidence === 'number' ? confidence : 0,
    });
  }
  return words;
}

export function textOf(words: readonly DeepgramWord[]): string {
  return words.map(({ plain }) => plain).join(' ');
}

/** 0 to 1; undefined of nothing. */
export function confidenceOf(words: readonly DeepgramWord[]): number | undefined {
  if (words.length === 0) return undefined;
  return words.reduce((sum, { confidence }) => sum + confidence, 0) / words.length;
}

function plainOf(word: string): string {
  return word
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
}
