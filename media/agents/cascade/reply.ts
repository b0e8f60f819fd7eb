/**
 * One answer of a model on its way to be said: its text is bounded, cut into clauses and made speakable, and handed to
 * the mouth as it comes. An answer that pauses for long is said so far, and goes on in a saying of its own.
 */
import { boundOf, type Stopped } from './answer-bound.ts';
import { ClauseCutter } from './clause.ts';
import type { AssistantEntry } from './history.ts';
import { type Mouth, Saying } from './saying.ts';

/** Without a new word for so long, what was said so far is an utterance of its own: then a filler may follow. */
const PAUSE_MS = 1_000;

export interface ReplyOptions {
  entry: AssistantEntry;
  mouth: Mouth;
  language: string;
  mostChars: number;
}

export class Reply {
  readonly entry: AssistantEntry;
  /** Of the `ask` whose answer it is, as soon as that is known. */
  ref: string | undefined;
  readonly #options: ReplyOptions;
  readonly #cutter = new ClauseCutter();
  #saying: Saying | null = null;
  /** All that the model wrote. */
  #text = '';
  #taken = 0;
  #changedAtMs = 0;
  #hasWords = false;
  #isOver = false;

  constructor(options: ReplyOptions) {
    this.entry = options.entry;
    this.#options = options;
  }

  get hasWords(): boolean {
    return this.#hasWords;
  }

  /** Said before it, at once. */
  lead(spoken: string, atMs: number): void {
    this.#changedAtMs = atMs;
    this.#open().lead(spoken);
  }

  /** Not null: no more of it is wanted, and why. */
  push(text: string, atMs: number): Stopped | null {
    if (this.#isOver) return null;
    this.#changedAtMs = atMs;
    this.#text += text;
    const bound = boundOf(this.#text, this.#options.mostChars);
    const until = bound === null ? this.#text.length : Math.max(this.#taken, bound.chars);
    this.#say(this.#cutter.push(this.#text.slice(this.#taken, until), atMs));
    this.#taken = until;
    if (bound !== null) this.finish();
    return bound;
  }

  tick(atMs: number): void {
    if (this.#isOver) return;
    this.#say(this.#cutter.tick(atMs));
    if (this.#saying?.hasWords === true && atMs - this.#changedAtMs >= PAUSE_MS) this.#close();
  }

  /** `isTorn`: the model was stopped in mid-sentence: what has no end is left out, if anything was said before. */
  finish(isTorn = false): void {
    if (this.#isOver) return;
    const rest = this.#cutter.flush();
    if (!isTorn || !this.#hasWords) this.#say(rest);
    this.#close();
    this.#isOver = true;
  }

  #say(written: string): void {
    if (written === '') return;
    if (this.#saying === null && written.trim() === '') return;
    this.entry.text += written;
    this.#open().push(written);
    this.#hasWords ||= /[\p{L}\p{N}]/u.test(written);
  }

  #open(): Saying {
    if (this.#saying !== null) return this.#saying;
    const { entry, mouth, language } = this.#options;
    this.#saying = new Saying(entry, language);
    this.#saying.ref = this.ref;
    mouth.sayings.push(this.#saying);
    return this.#saying;
  }

  #close(): void {
    this.#saying?.feed.finish();
    this.#saying = null;
  }
}
