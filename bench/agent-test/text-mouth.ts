/**
 * What the agent says in a text call, as if it were played: at an even pace, one utterance after another, cut where it
 * is cut. Stepped by `text-call.ts`, which tells the agent what became of it.
 */
import type { SpeechSource } from '../../media/contract/speech-source.ts';

/** About 165 words a minute. */
const MS_A_CHARACTER = 60;
const MOST_WAITING = 16;

interface Saying {
  speech: SpeechSource;
  interruptible: boolean;
}

export interface Said {
  text: string;
  heardText: string;
  beganAtMs: number;
}

export class TextMouth {
  readonly #waiting: Saying[] = [];
  #now: (Saying & { beganAtMs: number; playedChars: number }) | null = null;
  /** Played to their end since the agent was told so. */
  saidBefore = 0;

  get isSilent(): boolean {
    return this.#now === null && this.#waiting.length === 0;
  }

  get mayBeInterrupted(): boolean {
    return this.#now?.interruptible ?? false;
  }

  /** Null: it is silent. */
  spokenForMs(nowMs: number): number | null {
    return this.#now === null ? null : nowMs - this.#now.beganAtMs;
  }

  get heardText(): string {
    return this.#now === null ? '' : heardOf(textOf(this.#now.speech), this.#now.playedChars);
  }

  say(saying: Saying): void {
    if (this.#waiting.length >= MOST_WAITING)
      throw new Error(`the agent has more than ${MOST_WAITING} sayings waiting`);
    this.#waiting.push(saying);
  }

  /** So much time has passed; what was played to its end meanwhile, if anything. */
  step(passedMs: number, nowMs: number): Said | null {
    if (this.#now === null) {
      const next = this.#waiting.shift();
      if (next === undefined) return null;
      this.#now = { ...next, beganAtMs: nowMs, playedChars: 0 };
    }
    const { speech, beganAtMs } = this.#now;
    const text = textOf(speech);
    this.#now.playedChars = Math.min(text.length, this.#now.playedChars + passedMs / MS_A_CHARACTER);
    if (!isWhole(speech) || this.#now.playedChars < text.length) return null;
    this.#now = null;
    this.saidBefore++;
    return { text, heardText: text.trim(), beganAtMs };
  }

  /** All of it is over, also what waits; what was being said, if anything. */
  silence(): Said | null {
    for (const { speech } of this.#waiting.splice(0)) abandon(speech);
    const now = this.#now;
    this.#now = null;
    if (now === null) return null;
    const text = textOf(now.speech);
    abandon(now.speech);
    return { text, heardText: heardOf(text, now.playedChars), beganAtMs: now.beganAtMs };
  }
}

function textOf(speech: SpeechSource): string {
  if ('text' in speech) return speech.text;
  if ('feed' in speech) return speech.feed.text;
  if ('audio' in speech) return speech.audio.words.map(({ text }) => text).join('');
  throw new Error('the agent plays a sound that never ends, and a text call has no sound');
}

function isWhole(speech: SpeechSource): boolean {
  if ('feed' in speech) return speech.feed.isFinished;
  return 'audio' in speech ? speech.audio.isFinished : true;
}

function abandon(speech: SpeechSource): void {
  if ('feed' in speech) speech.feed.abandon();
  if ('audio' in speech) speech.audio.abandon();
}

/** Whole words. */
function heardOf(text: string, playedChars: number): string {
  if (playedChars >= text.length) return text.trim();
  return text.slice(0, text.lastIndexOf(' ', Math.floor(playedChars)) + 1).trim();
}
