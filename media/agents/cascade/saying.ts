/**
 * What the agent has asked to be said and does not yet know to be heard: each saying with the map from what is spoken
 * to what the model wrote. The call tells of the end of all of them at once (`said`), or of a cut in one of them; here
 * it is found out which. Pure.
 */
import { BRIDGE, type BrokenOff } from '../../contract/agent.ts';
import { TextFeed } from '../../contract/speech-source.ts';
import type { AssistantEntry } from './history.ts';
import { type SpokenPart, speakable, writtenOf } from './speakable.ts';

export class Saying {
  /** Null: a filler, which the history does not know. */
  readonly entry: AssistantEntry | null;
  /** An idle prompt: it answers nothing. */
  readonly isPrompt: boolean;
  readonly feed = new TextFeed();
  readonly parts: SpokenPart[] = [];
  /** Of the `ask` whose answer it is. */
  ref: string | undefined;
  /** The call was asked to say it. */
  isAsked = false;
  readonly #language: string;

  constructor(entry: AssistantEntry | null, language: string, isPrompt = false) {
    this.entry = entry;
    this.isPrompt = isPrompt;
    this.#language = language;
  }

  /** Spoken, and nothing that the model is told of. */
  lead(spoken: string): void {
    this.parts.push({ written: '', spoken });
    this.feed.push(spoken);
  }

  /** Whole clauses. */
  push(written: string): void {
    const parts = speakable(written, this.#language);
    this.parts.push(...parts);
    this.feed.push(parts.map(({ spoken }) => spoken).join(''));
  }

  /** There is something in it that can be heard. */
  get hasWords(): boolean {
    return /[\p{L}\p{N}]/u.test(this.feed.text);
  }

  get spoken(): string {
    return this.feed.text;
  }

  /** The call has heard, or will have heard, so many characters of it. */
  heard(chars: number): void {
    if (this.entry === null) return;
    this.entry.heard = joined(this.entry.heard ?? '', writtenOf(this.parts, chars));
  }

  /** It was said to its end, or to where it broke off. */
  over(brokeOff: BrokenOff | undefined): void {
    this.heard(brokeOff === undefined ? this.spoken.length : heardCharsOf(this.spoken, brokeOff.heardText));
    if (brokeOff !== undefined && this.entry !== null) this.entry.isCut = true;
  }

  /** It will never be begun. */
  dropped(): void {
    this.feed.finish();
    this.heard(0);
    if (this.entry !== null && this.hasWords) this.entry.isCut = true;
  }
}

export class Mouth {
  readonly sayings: Saying[] = [];

  /** Something of it is being said, or will be. */
  get isBusy(): boolean {
    return this.sayings.some(({ isAsked }) => isAsked);
  }

  /** All that was asked for has been heard, but for what broke off. True: the model's last words did. */
  said(brokeOff: readonly BrokenOff[] = []): boolean {
    const asked = this.sayings.filter(({ isAsked }) => isAsked);
    for (const [index, saying] of asked.entries()) saying.over(brokeOff.find((one) => one.index === index));
    this.#keepUnasked();
    const last = asked.findLastIndex(({ entry }) => entry !== null);
    return brokeOff.some(({ index }) => index === last);
  }

  /**
   * One of them was cut; those before it were heard, those behind it never will be. `heardText` is a beginning of what
   * was spoken, or of the rest of it after a bridge; if it is neither, somebody else's words were cut, after all of
   * ours. `saidBefore`: it is none of the first so many.
   */
  cut(heardText: string, saidBefore = 0, brokeOff: readonly BrokenOff[] = []): void {
    const asked = this.sayings.filter(({ isAsked }) => isAsked);
    const at = asked.findIndex(({ spoken }, index) => index >= saidBefore && isCutIn(spoken, heardText));
    asked.forEach((saying, index) => {
      if (at < 0 || index < at) saying.over(brokeOff.find((one) => one.index === index));
      else {
        saying.heard(index === at ? heardCharsOf(saying.spoken, heardText) : 0);
        if (saying.entry !== null) saying.entry.isCut = true;
      }
    });
    this.dropUnasked();
    for (const saying of this.sayings) saying.feed.finish();
    this.sayings.length = 0;
  }

  /** Nobody is to hear what has not been asked for: the model is not told that it said it. */
  dropUnasked(): void {
    for (const saying of this.sayings) if (!saying.isAsked) saying.dropped();
    const asked = this.sayings.filter(({ isAsked }) => isAsked);
    this.sayings.splice(0, this.sayings.length, ...asked);
  }

  #keepUnasked(): void {
    const rest = this.sayings.filter(({ isAsked }) => !isAsked);
    this.sayings.splice(0, this.sayings.length, ...rest);
  }
}

function isCutIn(spoken: string, heardText: string): boolean {
  if (spoken.startsWith(heardText.trimEnd())) return true;
  const rest = behindBridge(heardText);
  return rest !== null && spoken.includes(rest);
}

function heardCharsOf(spoken: string, heardText: string): number {
  const heard = heardText.trimEnd();
  if (spoken.startsWith(heard)) return heard.length;
  const rest = behindBridge(heardText) ?? '';
  return rest === '' ? 0 : spoken.indexOf(rest) + rest.length;
}

/** Null: it has no bridge. The line was dead, and what was cut was said anew from a word on. */
function behindBridge(heardText: string): string | null {
  const heard = heardText.trim();
  if (heard !== '' && BRIDGE.startsWith(heard)) return '';
  return heard.startsWith(BRIDGE) ? heard.slice(BRIDGE.length).trim() : null;
}

function joined(before: string, more: string): string {
  return before === '' || more === '' || /\s$/.test(before) || /^\s/.test(more) ? before + more : `${before} ${more}`;
}
