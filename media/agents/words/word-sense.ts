/**
 * What the caller's words mean for the agent that may be speaking: an answer, assent, a wish to interrupt, or nothing
 * that can be understood. Pure. A phrase of the step outranks the lists, except that a "yes?" into the greeting answers
 * no question yet.
 */
import type { WordSense } from '../../contract/agent.ts';
import { type PhraseBook, wordsOf } from '../scripted/phrase-match.ts';
import type { WordLists } from './word-lists.ts';

/** What the agent listens for now. */
export interface Listening {
  book: PhraseBook;
  /** The question that `book` answers has been, or is being, said. */
  asked: boolean;
  /** The greeting is what is being said. */
  greeting: boolean;
}

export class WordSorter {
  readonly #acknowledge: ReadonlySet<string>;
  readonly #acknowledgeGreeting: ReadonlySet<string>;
  readonly #interrupt: ReadonlySet<string>;
  readonly #hold: ReadonlySet<string>;
  readonly #lists: WordLists;

  constructor(lists: WordLists) {
    this.#lists = lists;
    this.#acknowledge = keysOf(lists.acknowledge);
    this.#acknowledgeGreeting = keysOf(lists.acknowledgeGreeting);
    this.#interrupt = keysOf(lists.interrupt);
    this.#hold = keysOf(lists.hold);
  }

  /** The recogniser's grammar: the step's phrases, and the lists if the agent is speaking. */
  phrasesFor(listening: Listening, agentSpeaks: boolean): readonly string[] {
    if (!agentSpeaks) return listening.book.phrases;
    const { acknowledge, acknowledgeGreeting, interrupt, hold } = this.#lists;
    const all = [listening.book.phrases, acknowledge, listening.greeting ? acknowledgeGreeting : [], interrupt, hold];
    return [...new Set(all.flat())];
  }

  sense(text: string, rejected: boolean, listening: Listening): WordSense {
    if (rejected) return 'rejected';
    const key = wordsOf(text).join(' ');
    if (key === '') return 'nothing';
    if (listening.greeting && !listening.asked && this.#acknowledgeGreeting.has(key)) return 'acknowledge';
    if (listening.book.match(text) !== null) return 'answer';
    if (this.#acknowledge.has(key)) return 'acknowledge';
    if (listening.greeting && this.#acknowledgeGreeting.has(key)) return 'acknowledge';
    if (this.#interrupt.has(key)) return 'interrupt';
    if (this.#hold.has(key)) return 'hold';
    return 'other';
  }
}

function keysOf(phrases: readonly string[]): ReadonlySet<string> {
  return new Set(phrases.map((phrase) => wordsOf(phrase).join(' ')));
}
