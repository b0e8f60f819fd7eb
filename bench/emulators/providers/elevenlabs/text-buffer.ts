/**
 * What a context of the emulated ElevenLabs has been told and has not yet spoken. Text gathers until there is as much
 * as the schedule says (`chunk_length_schedule`, in characters; its last entry counts for all that follow), then
 * becomes one generation; with `auto_mode` each sentence does at once. A flush takes all there is. Pure.
 */

/** Of the service where nothing else is asked for. */
export const DEFAULT_SCHEDULE: readonly number[] = [120, 160, 250, 290];
/** What an entry of a schedule may be. */
export const SCHEDULE_RANGE = [50, 500] as const;

/** `try_trigger_generation` needs so many characters. */
const TRIGGER_CHARACTERS = 50;

export class TextBuffer {
  readonly #schedule: readonly number[];
  readonly #isAuto: boolean;
  #text = '';
  #generations = 0;

  constructor(schedule: readonly number[], isAuto: boolean) {
    this.#schedule = schedule;
    this.#isAuto = isAuto;
  }

  /** Takes text in, and gives what is to be spoken now: whole words; null while it waits for more. */
  push(text: string, triggers = false): string | null {
    // The first message is a space, which nobody speaks.
    if (this.#generations === 0 && this.#text === '' && text.trim() === '') return null;
    this.#text += text;
    if (this.#isAuto) return this.#take(this.#text.length);
    if (triggers && this.#text.length >= TRIGGER_CHARACTERS) return this.#take(wholeWords(this.#text).length);
    const due = this.#schedule[Math.min(this.#generations, this.#schedule.length - 1)]!;
    return this.#text.length < due ? null : this.#take(wholeWords(this.#text).length);
  }

  /** All there is; null when that is nothing that can be said. */
  flush(): string | null {
    return this.#take(this.#text.length);
  }

  clear(): void {
    this.#text = '';
  }

  #take(length: number): string | null {
    const taken = this.#text.slice(0, length);
    // White space alone is kept for what follows.
    if (taken.trim() === '') return null;
    this.#text = this.#text.slice(length);
    this.#generations++;
    return taken;
  }
}

/** Up to the last white space: a word that may go on is not cut. */
function wholeWords(text: string): string {
  return /^[\s\S]*\s/.exec(text)?.[0] ?? '';
}
