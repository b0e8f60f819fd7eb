/**
 * Does what the recogniser heard fit a phrase of the step, and what did the phrase's classes catch? Pure. The script
 * machine chooses the reply by it; turn taking asks it whether a partial already is a whole answer. Phrases hold words
 * and the classes `<digits>` (one or more digit words) and `<name>` (one to three words that are no digits); a phrase
 * without a class wins over one with.
 */
import type { ScriptedReply } from '../../contract/agent-definition.ts';

const DIGIT_WORDS: Readonly<Record<string, string>> = {
  zero: '0',
  oh: '0',
  o: '0',
  one: '1',
  two: '2',
  three: '3',
  four: '4',
  five: '5',
  six: '6',
  seven: '7',
  eight: '8',
  nine: '9',
};
const MOST_NAME_WORDS = 3;

export interface Caught {
  /** What `<digits>` caught, as digits: `four two` gives `42`. Null without that class. */
  digits: string | null;
  /** What `<name>` caught, its words with a capital each. Null without that class. */
  name: string | null;
}

export interface ReplyMatch extends Caught {
  reply: ScriptedReply;
}

/** Lower-case words (and classes) of a text: no punctuation but the apostrophe inside a word. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const word of text.toLowerCase().split(/[^a-z0-9'<>]+/)) {
    if (word !== '') words.push(word);
  }
  return words;
}

/** `42` and `four` both are digits; null for any other word. */
function digitsOf(word: string): string | null {
  if (/^[0-9]+$/.test(word)) return word;
  return Object.hasOwn(DIGIT_WORDS, word) ? DIGIT_WORDS[word]! : null;
}

function capitalised(words: readonly string[]): string {
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ');
}

function hasClass(pattern: readonly string[]): boolean {
  return pattern.includes('<digits>') || pattern.includes('<name>');
}

/** Fits `words[at…]` wholly to `pattern[from…]`, classes as long as they can be. */
function fitFrom(pattern: readonly string[], from: number, words: readonly string[], at: number): Caught | null {
  const part = pattern[from];
  if (part === undefined) return at === words.length ? { digits: null, name: null } : null;
  if (part === '<digits>') {
    let end = at;
    while (end < words.length && digitsOf(words[end]!) !== null) end++;
    for (; end > at; end--) {
      const rest = fitFrom(pattern, from + 1, words, end);
      if (rest === null) continue;
      const caught = words.slice(at, end).map(digitsOf).join('');
      return { digits: caught + (rest.digits ?? ''), name: rest.name };
    }
    return null;
  }
  if (part === '<name>') {
    let end = at;
    while (end < words.length && end < at + MOST_NAME_WORDS && digitsOf(words[end]!) === null) end++;
    for (; end > at; end--) {
      const rest = fitFrom(pattern, from + 1, words, end);
      if (rest !== null) return { digits: rest.digits, name: capitalised(words.slice(at, end)) };
    }
    return null;
  }
  return part === words[at] ? fitFrom(pattern, from + 1, words, at + 1) : null;
}

/** The phrases of one step, cut into words once. */
export class PhraseBook {
  /** The phrases as written: what the recogniser listens for. */
  readonly phrases: readonly string[];
  readonly #entries: { pattern: string[]; reply: ScriptedReply }[] = [];

  constructor(replies: readonly ScriptedReply[]) {
    const withClass: { pattern: string[]; reply: ScriptedReply }[] = [];
    const phrases: string[] = [];
    for (const reply of replies) {
      for (const phrase of reply.phrases) {
        phrases.push(phrase);
        const pattern = wordsOf(phrase);
        if (pattern.length === 0) continue;
        (hasClass(pattern) ? withClass : this.#entries).push({ pattern, reply });
      }
    }
    for (const entry of withClass) this.#entries.push(entry);
    this.phrases = phrases;
  }

  /** The reply whose phrase the whole text fits; null when none does. */
  match(text: string): ReplyMatch | null {
    const words = wordsOf(text);
    if (words.length === 0) return null;
    for (const { pattern, reply } of this.#entries) {
      const caught = fitFrom(pattern, 0, words, 0);
      if (caught !== null) return { reply, digits: caught.digits, name: caught.name };
    }
    return null;
  }
}
